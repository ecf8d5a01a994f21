package e2e

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// dot is an image of one pixel, in base64.
const dot = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

var withDot = with("binaries: {img/dot.gif: " + dot + "}")

// Browser reads a book of 100 pages with a browser. The book has folders, images,
// Japanese file names and a generated SUMMARY.md. The browser opens chapters from the
// sidebar and with the button for the next page, and searches.
func Browser(k *kit) {
	k.needsNode()
	const name, pages = "runbook", 100
	spec := []option{with("summary: Auto\nbook: {title: Runbook}"), withDot, k.files("testdata/runbook")}
	for i := range pages - 8 { // The folder has 8.
		text := fmt.Sprintf("# 障害 %03d\n\n![連絡先](../img/連絡.svg) ![](../img/dot.gif)\n", i+1)
		spec = append(spec, file(fmt.Sprintf("障害記録/%03d.md", i+1), text))
	}
	k.apply(book(name, spec...))
	k.settle(name)

	k.servedAt(name, "/", "Welcome")                       // The node may not know the pod yet.
	rsp, err := http.Get(k.address(name) + "/img/dot.gif") //nolint:noctx // A test has a timeout.
	k.must(err)
	body, err := io.ReadAll(rsp.Body)
	k.must(errors.Join(err, rsp.Body.Close()))
	k.equal("image", "image/gif "+dot, rsp.Header.Get("Content-Type")+" "+base64.StdEncoding.EncodeToString(body))

	b := k.browser()
	b.open(name, "/")
	const images = `(l => l.length > 0 && l.every(i => i.naturalWidth > 0))([...document.querySelectorAll("main img")])`
	b.until(`document.title === "Welcome - Runbook"`)
	b.until(`document.querySelector("main h1").innerText === "Welcome"`)
	b.until(images)
	b.until(`document.querySelector(".chapter").innerText.includes("夜間の障害")`)
	b.until(fmt.Sprintf(`document.querySelectorAll(".chapter a[href$='.html']").length === %d`, pages))
	b.until(`document.fonts.check("16px FontAwesome")`)
	b.save("book")

	b.click(".chapter a", "手順")
	b.until(`document.title === "手順 - Runbook"`)
	b.click(".nav-chapters.next", "")
	b.until(`document.title === "夜間の障害 - Runbook"`)
	b.until(images)
	b.click(".chapter a", "障害 042")
	b.until(`document.title === "障害 042 - Runbook"`)
	b.until(images)

	b.search("queue", "When it is slow")
	b.until(`document.title === "When it is slow - Runbook"`)
	b.until(`document.querySelector("main mark").innerText === "queue"`)
}

// files replaces the files of the book with those of a folder.
func (k *kit) files(dir string) option {
	k.Helper()
	all, root := map[string]any{}, os.DirFS(dir)
	k.must(fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		all[name] = string(text)

		return err
	}))

	return func(s map[string]any) { s["markdowns"] = all }
}

// A browser has one page, and runs until the test ends.
type browser struct {
	*kit

	commands  *os.File
	responses *bufio.Reader
	session   string
	calls     int
	// interrupted is whether Chromium canceled a request because a network interface
	// appeared or disappeared, as when a pod starts or ends.
	interrupted bool
}

// browser starts Debian's Chromium with chroot, so it uses no program, library or font
// of this machine. Its mounts are in a namespace of their own.
func (k *kit) browser() *browser {
	k.Helper()
	const script = `mount --rbind /dev "$0/dev"; mount -t proc proc "$0/proc"; mount -t tmpfs tmpfs "$0/tmp"; exec chroot "$0" /usr/lib/chromium/chromium "$@"`
	cmd := exec.CommandContext(k.Context(), "unshare", "--mount", "sh", "-ec", script, filepath.Join(k.Bin, "chromium-trixie"),
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--hide-scrollbars", "--user-data-dir=/tmp/chromium", "--remote-debugging-pipe")
	// The first mount on the PATH of the tests fails: see trap.
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp"}
	log, err := os.Create(filepath.Join(k.logs, "chromium.log"))
	k.must(err)
	cmd.Stderr = log
	// Chromium reads commands from descriptor 3 and writes responses to descriptor 4:
	// https://chromedevtools.github.io/devtools-protocol/
	in, commands, err := os.Pipe()
	k.must(err)
	responses, out, err := os.Pipe()
	k.must(err)
	cmd.ExtraFiles = []*os.File{in, out}
	k.must(cmd.Start())
	for _, f := range cmd.ExtraFiles {
		k.must(f.Close())
	}
	k.must(responses.SetReadDeadline(time.Now().Add(2 * k.patience)))
	k.Cleanup(func() {
		_ = commands.Close() // Chromium exits.
		_ = cmd.Wait()       // The context may have killed it.
		k.check(responses.Close())
		k.check(log.Close())
	})

	b := &browser{kit: k, commands: commands, responses: bufio.NewReader(responses)}
	page := b.do("Target.createTarget", map[string]any{"url": "about:blank"})
	attached := b.do("Target.attachToTarget", map[string]any{"targetId": page["targetId"], "flatten": true})
	b.session, _ = attached["sessionId"].(string)
	b.do("Log.enable", nil)
	window := map[string]any{"width": 1100, "height": 640, "deviceScaleFactor": 1, "mobile": false}
	b.do("Emulation.setDeviceMetricsOverride", window)

	return b
}

// do calls a method of the DevTools protocol, which must not fail.
func (b *browser) do(method string, params map[string]any) map[string]any {
	b.Helper()
	result, err := b.call(method, params)
	b.must(err)

	return result
}

// call calls a method of the DevTools protocol.
func (b *browser) call(method string, params map[string]any) (map[string]any, error) {
	b.calls++
	command := map[string]any{"id": b.calls, "method": method, "params": params}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	j, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	if _, err := b.commands.Write(append(j, 0)); err != nil {
		return nil, fmt.Errorf("cannot call %s: %w", method, err)
	}
	for {
		j, err := b.responses.ReadBytes(0)
		if err != nil {
			return nil, fmt.Errorf("cannot read the response of %s: %w", method, err)
		}
		var response struct {
			ID     int
			Method string
			Result map[string]any
			Error  struct{ Message string }
		}
		if err := json.Unmarshal(bytes.TrimSuffix(j, []byte{0}), &response); err != nil {
			return nil, fmt.Errorf("cannot read the response of %s: %w", method, err)
		}
		switch {
		case response.Method == "Log.entryAdded":
			b.interrupted = b.interrupted || bytes.Contains(j, []byte("ERR_NETWORK_CHANGED"))
		case response.ID != b.calls: // Another event.
		case response.Error.Message != "":
			return nil, fmt.Errorf("cannot call %s: %s", method, response.Error.Message)
		default:
			return response.Result, nil
		}
	}
}

// evaluate evaluates JavaScript in the page.
func (b *browser) evaluate(expression string) (any, error) {
	response, err := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true})
	if err != nil {
		return nil, err
	}
	result, _ := response["result"].(map[string]any)
	if result["subtype"] == "error" {
		return nil, fmt.Errorf("%v", result["description"])
	}

	return result["value"], nil
}

// until waits until an expression is true. If Chromium was interrupted, the page may lack
// a file, so until reloads the page.
func (b *browser) until(expression string) {
	b.Helper()
	begin := time.Now()
	b.eventually(expression, func(k *kit) {
		value, err := b.evaluate(expression)
		if err == nil && value == true {
			return
		}
		// In the first 5 seconds, the page may still be opening another one.
		if b.interrupted && time.Since(begin) > 5*time.Second {
			b.interrupted = false
			_, more := b.call("Page.reload", nil)
			k.check(more)
		}
		page, more := b.evaluate(`[location.href, document.title, document.body.innerText].join("\n")`)
		k.check(errors.Join(err, more, fmt.Errorf("the value is %v on the page:\n%v", value, page)))
	})
}

// click clicks the first element that a selector matches and that contains a text, as
// soon as there is one.
func (b *browser) click(selector, text string) {
	b.Helper()
	b.until(fmt.Sprintf(`(e => e ? (e.click(), true) : false)([...document.querySelectorAll(%q)].find(e => e.textContent.includes(%q)))`, selector, text))
}

// search searches for a word and opens a result.
func (b *browser) search(word, result string) {
	b.Helper()
	const search = `document.querySelector("[id$=search-%s]")`
	// The button opens the search only after the index is loaded.
	b.until(fmt.Sprintf(search+`.classList.contains("hidden") ? (`+search+`.click(), false) : true`, "wrapper", "toggle"))
	for _, letter := range strings.Split(word, "") {
		b.do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": letter, "text": letter})
		b.do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": letter})
	}
	b.click("[id$=searchresults] a", result)
}

// picture returns a screenshot of the page, as a PNG.
func (b *browser) picture() []byte {
	b.Helper()
	data, _ := b.do("Page.captureScreenshot", nil)["data"].(string)
	png, err := base64.StdEncoding.DecodeString(data)
	b.must(err)

	return png
}

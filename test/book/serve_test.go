package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/book"
)

// TestFamilies checks which IP families the composed container serves: by default only
// IPv4, and with "::" both families. With "::", mdBook does not start on a kernel that was
// booted without IPv6.
func TestFamilies(t *testing.T) {
	t.Parallel()
	const ipv4, ipv6 = "127.0.0.2", "::1"
	cases := map[string]struct {
		reason  string
		input   map[string]any
		prepare func(t *testing.T)
		want    []string
		log     string
	}{
		"IPv4": {
			reason: "0.0.0.0 serves only IPv4, so a pod that has only IPv6 never becomes ready.",
			want:   []string{ipv4},
		},
		"IPv4WithoutIPv6": {
			reason:  "0.0.0.0 needs no IPv6 in the kernel.",
			prepare: withoutIPv6,
			want:    []string{ipv4},
		},
		"Both": {
			reason: ":: serves both families.",
			input:  listen("::"),
			want:   []string{ipv4, ipv6},
		},
		"BothDisabled": {
			reason:  ":: serves IPv4 if a sysctl of the node disables IPv6.",
			input:   listen("::"),
			prepare: disableIPv6,
			want:    []string{ipv4},
		},
		"BothWithoutIPv6": {
			reason:  "mdBook exits with :: if the kernel has no IPv6, so it is not the default.",
			input:   listen("::"),
			prepare: withoutIPv6,
			log:     "Address family not supported by protocol",
		},
	}
	for version, m := range mdbooks(t) {
		for name, tc := range cases {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				if !ownNetwork(t) {
					return
				}
				if tc.prepare != nil {
					tc.prepare(t)
				}
				s := m.serve(t, compose(t, onePage(), tc.input), map[string]string{"SUMMARY.md": "- [A](a.md)\n", "a.md": "# A\n"})
				var got []string
				s.eventually(t, tc.log, func() bool {
					got = nil
					for _, ip := range []string{ipv4, ipv6} {
						if _, err := s.get(ip, "/"); err == nil {
							got = append(got, ip)
						}
					}

					return got != nil
				})
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\naddresses that serve: -want, +got:\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestLargeBook checks that a book as large as a ConfigMap fits into the composed
// memory limit and volume, even while mdBook rebuilds it.
func TestLargeBook(t *testing.T) {
	t.Parallel()
	for version, m := range mdbooks(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			if !ownNetwork(t) {
				return
			}
			pod := compose(t, onePage(), nil)
			files := largeBook()
			s := m.serve(t, pod, files)
			page := func(text string) {
				t.Helper()
				s.eventually(t, "", func() bool {
					body, err := s.get("127.0.0.1", "/chapter-500.html")
					return err == nil && strings.Contains(body, text)
				})
			}
			page("Chapter 500")
			if err := os.WriteFile(filepath.Join(s.dir, "src", "chapter-500.md"), []byte(files["chapter-500.md"]+"\nThe end.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			page("The end.")

			if used, limit := s.peakMemory(t), pod.Containers[0].Resources.Limits.Memory().Value(); used > limit {
				t.Errorf("memory: want at most %d, got %d", limit, used)
			}
			if used, limit := size(t, filepath.Join(s.dir, "book")), pod.Volumes[1].EmptyDir.SizeLimit.Value(); used > limit {
				t.Errorf("output: want at most %d, got %d", limit, used)
			}
		})
	}
}

func onePage() map[string]any {
	return map[string]any{"markdowns": map[string]any{"SUMMARY.md": "- [A](a.md)\n", "a.md": "# A\n"}}
}

// listen returns an Input with a listenAddress.
func listen(address string) map[string]any {
	return map[string]any{"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input", "listenAddress": address}
}

// ownNetwork returns whether the test runs in a network namespace of its own, as a pod
// does. If not, it runs the test again in one.
func ownNetwork(t *testing.T) bool {
	t.Helper()
	const isolated = "OWN_NETWORK"
	if os.Getenv(isolated) != "" {
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err != nil {
			t.Fatalf("cannot set up the network: %v", err)
		}

		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	cmd.Env = append(os.Environ(), isolated+"=true")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("the test in its own network failed: %v", err)
	}
	t.Logf("%s", out)

	return false
}

// disableIPv6 removes the IPv6 addresses of the network.
func disableIPv6(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// withoutIPv6 makes a system call fail for the processes that the test starts: the one
// that fails on a kernel that was booted with ipv6.disable=1.
func withoutIPv6(t *testing.T) {
	t.Helper()
	const jump, load, ret = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{
		{Code: load, K: 0}, // The system call.
		{Code: jump, K: unix.SYS_SOCKET, Jf: 3},
		{Code: load, K: 16}, // Its first argument.
		{Code: jump, K: unix.AF_INET6, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
	}
	// The filter applies to this thread and the processes that it starts.
	runtime.LockOSThread()
	program := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(program)), 0, 0)
	runtime.KeepAlive(program)
	if err != nil {
		t.Fatalf("cannot filter system calls: %v", err)
	}
}

// A server is a running container.
type server struct {
	container corev1.Container
	dir       string
	pid       int
	log       *output
	exited    chan struct{}
}

// serve runs the container of a pod with the files of a book until the test ends.
func (m mdbook) serve(t *testing.T, pod corev1.PodSpec, files map[string]string) server {
	t.Helper()
	c := pod.Containers[0]
	s := server{container: c, dir: m.write(t, book.Files{Markdowns: files}), log: &output{}, exited: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := m.command(ctx, s.dir, environment(c), append(c.Command, c.Args...)...)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	go func() {
		defer close(s.exited)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		cancel()
		<-s.exited
	})

	return s
}

// eventually waits until ok returns true. If log is not empty, it also returns when mdBook
// exits with that text in its log.
func (s server) eventually(t *testing.T, log string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
		select {
		case <-s.exited:
			if log == "" || !strings.Contains(s.log.String(), log) {
				t.Fatalf("mdBook exited: want %q, got:\n%s", log, s.log)
			}

			return
		default:
		}
	}
	t.Fatalf("not within a minute:\n%s", s.log)
}

// get requests a path at an IP address of the pod, on the port of the container.
func (s server) get(ip, path string) (string, error) {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	rsp, err := client.Get("http://" + net.JoinHostPort(ip, fmt.Sprint(s.container.Ports[0].ContainerPort)) + path)
	if err != nil {
		return "", err
	}
	defer rsp.Body.Close() //nolint:errcheck // Only read.
	if rsp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", path, rsp.Status)
	}
	body, err := io.ReadAll(rsp.Body)

	return string(body), err
}

// peakMemory returns the peak of the resident memory of mdBook, in bytes.
func (s server) peakMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("cannot find the peak of memory in:\n%s", status)
	}
	kib, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB of memory", kib>>10)

	return kib << 10
}

// size returns the total size of the files in a folder, in bytes.
func size(t *testing.T, dir string) (sum int64) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}

		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB of output", sum>>20)

	return sum
}

// largeBook returns a book of 500 chapters and nearly 1 MiB, always the same.
//
// Most of mdBook's memory is its search index, which grows with the number of
// different words and with the number of chapters that have each word. So the words are
// as frequent as in English prose: two of five are stop words, which are not in the
// index. Of the others, a few are frequent and many occur once, about 7,500 words in
// all.
func largeBook() map[string]string {
	const chapters, size, vocabulary = 500, 2030, 9000
	stop := strings.Fields("the of and to in is that it for on are as with be by this at from or not but have which you")
	r := rand.New(rand.NewPCG(1, 2))
	frequency := rand.NewZipf(r, 1.1, 5, vocabulary)
	summary := "# Summary\n\n"
	book := map[string]string{}
	for i := range chapters {
		name := fmt.Sprintf("chapter-%03d.md", i+1)
		summary += fmt.Sprintf("- [Chapter %d](%s)\n", i+1, name)
		text := &strings.Builder{}
		fmt.Fprintf(text, "# Chapter %d\n\n", i+1)
		for n := 1; text.Len() < size; n++ {
			if r.IntN(5) < 2 {
				text.WriteString(stop[r.IntN(len(stop))])
			} else {
				text.WriteString(word(frequency.Uint64()))
			}
			if n%12 == 0 {
				text.WriteString(".\n")
				continue
			}
			text.WriteString(" ")
		}
		book[name] = text.String()
	}
	book["SUMMARY.md"] = summary

	return book
}

// word returns a word of two to four syllables for a number.
func word(n uint64) string {
	consonants, vowels := "bcdfghjklmnprstvw", "aeiou"
	w := &strings.Builder{}
	for n = n*7919%614_125 + 85; n > 0; n /= 85 {
		w.WriteByte(consonants[n%17])
		w.WriteByte(vowels[n/17%5])
	}

	return w.String()
}

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
			reason: ":: serves IPv4 if a sysctl of the node disables IPv6.",
			input:  listen("::"),
			prepare: func(t *testing.T) {
				must(t, os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o600))
			},
			want: []string{ipv4},
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
				serve := func() (ips []string) {
					for _, ip := range []string{ipv4, ipv6} {
						if status, _, _ := get(t, s.url(ip), nil); status == http.StatusOK {
							ips = append(ips, ip)
						}
					}

					return ips
				}
				s.eventually(t, tc.reason, func() bool {
					return serve() != nil || tc.log != "" && strings.Contains(s.output(), tc.log)
				})
				if tc.log != "" {
					<-s.exited
				}
				if diff := cmp.Diff(tc.want, serve()); diff != "" {
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
			const chapter = "chapter-500.md"
			serves := func(text string) bool {
				_, _, body := get(t, s.url("127.0.0.1")+book.Page(chapter), nil)
				return strings.Contains(body, text)
			}
			s.eventually(t, "the book is served", func() bool { return serves("Chapter 500") })
			s.eventually(t, "a change is served", func() bool {
				// mdBook does not see a change from before it began to watch the files.
				must(t, os.WriteFile(filepath.Join(s.dir, "src", chapter), []byte(files[chapter]+"\nThe end.\n"), 0o600))
				return serves("The end.")
			})

			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
			must(t, err)
			_, peak, _ := strings.Cut(string(status), "VmHWM:")
			kib, output := int64(0), int64(0)
			_, err = fmt.Sscan(peak, &kib)
			must(t, err)
			for _, text := range readAll(t, filepath.Join(s.dir, "book")) {
				output += int64(len(text))
			}
			t.Logf("%d MiB of memory, %d MiB of output", kib>>10, output>>20)
			if limit := pod.Containers[0].Resources.Limits.Memory().Value(); kib<<10 > limit {
				t.Errorf("memory: want at most %d, got %d", limit, kib<<10)
			}
			if limit := pod.Volumes[1].EmptyDir.SizeLimit.Value(); output > limit {
				t.Errorf("output: want at most %d, got %d", limit, output)
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
		must(t, err)
		must(t, netlink.LinkSetUp(lo))

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

// A process is a running command. Its output is in a file.
type process struct {
	*exec.Cmd
	log    string
	exited chan struct{}
}

// start runs a command until the test ends.
func start(t *testing.T, cmd *exec.Cmd) process {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	must(t, err)
	defer log.Close() //nolint:errcheck // The process has a file of its own.
	p := process{cmd, log.Name(), make(chan struct{})}
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	go func() {
		defer close(p.exited)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() { <-p.exited }) // The context of the test has ended.

	return p
}

func (p process) output() string {
	text, _ := os.ReadFile(p.log)
	return string(text)
}

// eventually waits until ok returns true.
func (p process) eventually(t *testing.T, reason string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		running := true
		select {
		case <-p.exited:
			running = false
		default:
		}
		if ok() {
			return
		}
		if !running {
			t.Fatalf("%s: the process exited:\n%s", reason, p.output())
		}
	}
	t.Fatalf("%s: not within a minute:\n%s", reason, p.output())
}

// A server is a running container.
type server struct {
	process
	dir  string
	port int32
}

// serve runs the container of a pod with the files of a book until the test ends.
func (m mdbook) serve(t *testing.T, pod corev1.PodSpec, files map[string]string) server {
	t.Helper()
	c, dir := pod.Containers[0], m.write(t, book.Files{Markdowns: files})
	cmd := m.command(t.Context(), dir, environment(c), append(c.Command, c.Args...)...)

	return server{start(t, cmd), dir, c.Ports[0].ContainerPort}
}

// url returns the URL of the book at an IP address of the pod.
func (s server) url(ip string) string {
	return "http://" + net.JoinHostPort(ip, fmt.Sprint(s.port)) + "/"
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

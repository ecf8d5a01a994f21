// Package viewer_test runs the viewer that the function composes: the pod of the
// Deployment in example/rendered, as it stands, with a real mdBook.
package viewer_test

import (
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/test/viewer/composed"
	"github.com/crossplane-contrib/function-markdownview/test/viewer/pod"
)

// rendered returns what was composed for an example.
func rendered(t *testing.T, name string) composed.Resources {
	t.Helper()
	r, err := composed.Read(filepath.Join("../../example/rendered", name))
	if err != nil {
		t.Fatal(err)
	}

	return r
}

func env(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: run this with \"make test-viewer\"", name)
	}

	return v
}

// start starts the pod of a Deployment, which ends with the test.
func start(t *testing.T, r composed.Resources, services ...corev1.Service) *pod.Pod {
	t.Helper()

	return startIn(t, pod.Cluster{Services: services}, r)
}

// startIn starts the pod of a Deployment in a cluster that has some things of its
// own.
func startIn(t *testing.T, c pod.Cluster, r composed.Resources) *pod.Pod {
	t.Helper()
	c.Image = env(t, "VIEWER_IMAGE")
	c.State = filepath.Join(env(t, "VIEWER_RUN"), "runc")
	c.ConfigMaps = map[string]*corev1.ConfigMap{r.ConfigMap.Name: &r.ConfigMap}
	dir := filepath.Join(env(t, "VIEWER_RUN"), strings.ReplaceAll(t.Name(), "/", "-"))
	p, err := pod.Start(c, dir, *r.Deployment.Spec.Template.Spec.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("mdBook says:\n%s", p.Log())
		}
	})

	return p
}

// serve starts the pod of a Deployment and waits as long for it as its startup
// probe does.
func serve(t *testing.T, r composed.Resources, services ...corev1.Service) *pod.Pod {
	t.Helper()
	p := start(t, r, services...)
	took, err := p.Await(container(r).StartupProbe)
	if err != nil {
		t.Fatalf("the startup probe fails: %v", err)
	}
	t.Logf("started in %v", took.Round(10*time.Millisecond))

	return p
}

func container(r composed.Resources) *corev1.Container {
	return &r.Deployment.Spec.Template.Spec.Containers[0]
}

// get returns the status code and body of a page.
func get(t *testing.T, p *pod.Pod, path string) (int, string) {
	t.Helper()
	base, err := p.URL("http")
	if err != nil {
		t.Fatal(err)
	}
	client := p.Client()
	defer client.CloseIdleConnections()
	resp, err := client.Get(base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}

	return resp.StatusCode, string(body)
}

// eventually waits until a page has a code and holds a text. mdBook looks for
// changes every second.
func eventually(t *testing.T, p *pod.Pod, path string, code int, text string) {
	t.Helper()
	var got int
	var body string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		got, body = get(t, p, path)
		if got == code && strings.Contains(body, text) {
			return
		}
	}
	t.Fatalf("%s: want %d and %q, got %d and:\n%s", path, code, text, got, body)
}

func TestServes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		file   string
		// What each page must match.
		pages map[string]string
	}{
		"Sample": {
			reason: "The sample of the tutorial is served, Japanese text and all.",
			file:   "first.yaml",
			pages: map[string]string{
				"/":           "一ページ目のコンテンツです。",
				"/page1.html": "一ページ目のコンテンツです。",
			},
		},
		"Tutorial": {
			reason: "So it is for an XR of the tutorial's own group.",
			file:   "tutorial.yaml",
			pages:  map[string]string{"/page1.html": "一ページ目のコンテンツです。"},
		},
		"Platform": {
			reason: "What a platform team adds to the pod reaches mdBook.",
			file:   "platform.yaml",
			pages: map[string]string{
				"/":          `href="src/print(-[0-9a-f]+)?\.css"`,
				"/print.css": "nav { display: none }",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rendered(t, tc.file)
			p := serve(t, r)

			c := container(r)
			for name, probe := range map[string]*corev1.Probe{"readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
				if err := p.Probe(probe); err != nil {
					t.Errorf("%s\nthe %s probe fails: %v", tc.reason, name, err)
				}
			}
			for path, text := range tc.pages {
				code, body := get(t, p, path)
				if code != http.StatusOK || !regexp.MustCompile(text).MatchString(body) {
					t.Errorf("%s\n%s: want 200 and %q, got %d and:\n%s", tc.reason, path, text, code, body)
				}
			}
		})
	}
}

// The probes can tell a viewer that is ready from one that is not.
func TestProbesOfAnEmptyBook(t *testing.T) {
	t.Parallel()
	r := rendered(t, "first.yaml")
	r.ConfigMap.Data = map[string]string{"SUMMARY.md": "# Summary\n"}
	p := serve(t, r)
	if err := p.Probe(container(r).ReadinessProbe); err == nil {
		t.Error("a book without a page is ready")
	}
	if err := p.Probe(container(r).LivenessProbe); err != nil {
		t.Errorf("a book without a page is restarted for ever: %v", err)
	}
}

// The kernel's word on what the process may do.
func TestConfined(t *testing.T) {
	t.Parallel()
	p := serve(t, rendered(t, "first.yaml"))

	status, err := p.Proc("status")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp":
			got[name] = strings.Join(strings.Fields(value), " ")
		}
	}
	want := map[string]string{
		"Uid":        "65532 65532 65532 65532",
		"Gid":        "65532 65532 65532 65532",
		"Groups":     "",
		"CapInh":     "0000000000000000",
		"CapPrm":     "0000000000000000",
		"CapEff":     "0000000000000000",
		"CapBnd":     "0000000000000000",
		"CapAmb":     "0000000000000000",
		"NoNewPrivs": "1",
		"Seccomp":    "2", // A filter.
	}
	// Some kernels add the group of the process to its groups.
	if got["Groups"] == "65532" {
		got["Groups"] = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("/proc/PID/status: -want, +got:\n%s", diff)
	}

	mountinfo, err := p.Proc("mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]string{}
	for line := range strings.Lines(mountinfo) {
		f := strings.Fields(line)
		if f[4] == "/" || strings.HasPrefix(f[4], "/book") {
			modes[f[4]], _, _ = strings.Cut(f[5], ",")
		}
	}
	if diff := cmp.Diff(map[string]string{"/": "ro", "/book/src": "ro", "/book/book": "rw"}, modes); diff != "" {
		t.Errorf("mounts: -want, +got:\n%s", diff)
	}
}

func TestMissingChapter(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		env    []corev1.EnvVar
		want   string
		not    string
	}{
		"AsComposed": {
			reason: "A person must learn what is missing, and not that a volume is read-only.",
			env:    container(rendered(t, "first.yaml")).Env,
			want:   "page1.md",
			not:    "Read-only file system",
		},
		"WithoutVariable": {
			reason: "By default mdBook writes the chapter. If it no longer did, the variable would be of no use.",
			want:   "Read-only file system",
			not:    "not found",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rendered(t, "first.yaml")
			delete(r.ConfigMap.Data, "page1.md")
			container(r).Env = tc.env
			p := start(t, r)
			select {
			case <-p.Exited():
			case <-time.After(30 * time.Second):
				t.Fatalf("%s\nmdBook has not exited", tc.reason)
			}
			if got := p.ExitCode(); got != 101 {
				t.Errorf("%s\nexit code: want 101, got %d", tc.reason, got)
			}
			if log := p.Log(); !strings.Contains(log, tc.want) || strings.Contains(log, tc.not) {
				t.Errorf("%s\nwant %q and not %q, got:\n%s", tc.reason, tc.want, tc.not, log)
			}
			t.Log(p.Log())
		})
	}
}

func TestContentChanges(t *testing.T) {
	t.Parallel()
	r := rendered(t, "first.yaml")
	p := serve(t, r)

	update := func(data map[string]string) {
		t.Helper()
		c := r.ConfigMap.DeepCopy()
		c.Data = data
		if err := p.Update(c); err != nil {
			t.Fatal(err)
		}
	}

	update(map[string]string{"SUMMARY.md": "- [Page1](page1.md)\n- [Page2](page2.md)\n", "page1.md": "Changed.\n", "page2.md": "New.\n"})
	eventually(t, p, "/page1.html", http.StatusOK, "Changed.")
	eventually(t, p, "/page2.html", http.StatusOK, "New.")

	update(map[string]string{"SUMMARY.md": "- [Page1](page1.md)\n", "page1.md": "Alone.\n"})
	eventually(t, p, "/page1.html", http.StatusOK, "Alone.")
	eventually(t, p, "/page2.html", http.StatusNotFound, "")

	// Old viewers serve on while a rollout to a broken book is stuck.
	update(map[string]string{"SUMMARY.md": "- [Page1](gone.md)\n", "page1.md": "Unseen.\n"})
	for end := time.Now().Add(10 * time.Second); !strings.Contains(p.Log(), "gone.md"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("mdBook does not complain of the missing chapter")
		}
	}
	eventually(t, p, "/page1.html", http.StatusOK, "Alone.")

	update(map[string]string{"SUMMARY.md": "- [Page1](page1.md)\n", "page1.md": "Mended.\n"})
	eventually(t, p, "/page1.html", http.StatusOK, "Mended.")
}

// mdBook 0.5.0 takes the variables of a Service called "mdbook" for settings that
// it does not know, and exits.
func TestServiceCalledMDBook(t *testing.T) {
	t.Parallel()
	mdbook := corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "mdbook"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.0.10", Ports: []corev1.ServicePort{{Port: 80}}},
	}
	links := func(t *testing.T, p *pod.Pod) []string {
		t.Helper()
		environ, err := p.Proc("environ")
		if err != nil {
			t.Fatal(err)
		}

		return slices.DeleteFunc(strings.Split(environ, "\x00"), func(v string) bool {
			return !regexp.MustCompile(`^MDBOOK_(SERVICE_|PORT)`).MatchString(v)
		})
	}

	t.Run("AsComposed", func(t *testing.T) {
		t.Parallel()
		p := serve(t, rendered(t, "first.yaml"), mdbook)
		if got := links(t, p); len(got) > 0 {
			t.Errorf("mdBook is given %v", got)
		}
	})

	t.Run("WithServiceLinks", func(t *testing.T) {
		t.Parallel()
		r := rendered(t, "first.yaml")
		r.Deployment.Spec.Template.Spec.EnableServiceLinks = nil
		p := start(t, r, mdbook)
		if version := mdbookVersion(t); version == "v0.5.0" {
			<-p.Exited()
			if log := p.Log(); p.ExitCode() != 101 || !strings.Contains(log, "service-host") {
				t.Errorf("want exit code 101 and a complaint of service-host, got %d and:\n%s", p.ExitCode(), log)
			}

			return
		}
		// Others ignore the variables, so only their presence shows.
		want := []string{"MDBOOK_PORT=tcp://10.96.0.10:80", "MDBOOK_SERVICE_HOST=10.96.0.10", "MDBOOK_SERVICE_PORT=80"}
		if _, err := p.Await(container(r).StartupProbe); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, links(t, p)); diff != "" {
			t.Errorf("environment: -want, +got:\n%s", diff)
		}
	})
}

func mdbookVersion(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("chroot", env(t, "VIEWER_IMAGE"), "/usr/bin/mdbook", "--version").Output()
	if err != nil {
		t.Fatal(err)
	}

	return strings.TrimPrefix(strings.TrimSpace(string(out)), "mdbook ")
}

// A book as large as a ConfigMap can be must fit the default limits.
func TestLargeBook(t *testing.T) {
	t.Parallel()
	r := rendered(t, "first.yaml")
	r.ConfigMap.Data = largeBook()
	size := 0
	for _, text := range r.ConfigMap.Data {
		size += len(text)
	}
	if size < 1_000_000 || size > 1<<20 {
		t.Fatalf("the book has %d bytes", size)
	}
	limit := container(r).Resources.Limits.Memory().Value()
	if want := int64(256 << 20); limit != want {
		t.Errorf("memory limit: want %d, got %d", want, limit)
	}

	p := serve(t, r)
	eventually(t, p, "/chapter-500.html", http.StatusOK, "Chapter 500")
	// A rebuild must fit as well.
	r.ConfigMap.Data["chapter-500.md"] += "\nThe end.\n"
	if err := p.Update(&r.ConfigMap); err != nil {
		t.Fatal(err)
	}
	eventually(t, p, "/chapter-500.html", http.StatusOK, "The end.")

	peak, err := p.PeakMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes of text take %d MiB of memory at most, the limit is %d MiB", size, peak>>20, limit>>20)
	if peak > limit {
		t.Errorf("memory: want at most %d, got %d", limit, peak)
	}
	for _, v := range r.Deployment.Spec.Template.Spec.Volumes {
		if v.EmptyDir == nil {
			continue
		}
		used, limit := diskUsage(t, p.Volume(v.Name)), v.EmptyDir.SizeLimit.Value()
		t.Logf("volume %s holds %d MiB, the limit is %d MiB", v.Name, used>>20, limit>>20)
		if used > limit {
			t.Errorf("volume %s: want at most %d, got %d", v.Name, limit, used)
		}
	}
}

func diskUsage(t *testing.T, dir string) int64 {
	t.Helper()
	var sum int64
	if err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum += info.Size()

		return nil
	}); err != nil {
		t.Fatal(err)
	}

	return sum
}

// The endpoint of a pod that ends is used until every node has learned of it, so
// the pod must serve on for a while, and then not keep a rollout waiting.
func TestTermination(t *testing.T) {
	t.Parallel()
	r := rendered(t, "first.yaml")
	p := serve(t, r)
	grace := time.Duration(*r.Deployment.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
	if grace < 2*time.Second || grace > 10*time.Second {
		t.Errorf("grace period: want 2 s to 10 s, got %v", grace)
	}

	begin := time.Now()
	stopped := make(chan error, 1)
	go func() { stopped <- p.Stop() }()
	last := time.Duration(0)
	failures := map[time.Duration]error{}
	for {
		select {
		case err := <-stopped:
			if err != nil {
				t.Fatal(err)
			}
			took := time.Since(begin)
			t.Logf("served until %v, stopped after %v with exit code %d", last.Round(time.Millisecond), took.Round(time.Millisecond), p.ExitCode())
			if last < grace-time.Second {
				t.Errorf("want answers for %v, got the last after %v", grace, last)
			}
			for at, err := range failures {
				if at < last {
					t.Errorf("no answer after %v: %v", at, err)
				}
			}
			if took > grace+2*time.Second {
				t.Errorf("want an end after %v, got it after %v", grace, took)
			}

			return
		default:
		}
		at := time.Since(begin)
		if err := p.Probe(container(r).ReadinessProbe); err != nil {
			failures[at] = err
		} else {
			last = at
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// The files that the ConfigMap holds are those that mdBook reads, links and all.
func TestVolumeIsLikeAKubelets(t *testing.T) {
	t.Parallel()
	r := rendered(t, "first.yaml")
	p := start(t, r)
	dir := p.Volume("markdowns")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		if e.Type() != os.ModeSymlink || strings.HasPrefix(e.Name(), "..") {
			continue
		}
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = target
	}
	want := map[string]string{}
	for name := range maps.Keys(r.ConfigMap.Data) {
		want[name] = "..data/" + name
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("links: -want, +got:\n%s", diff)
	}
}

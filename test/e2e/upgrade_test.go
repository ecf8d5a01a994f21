package e2e

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// Upgrade checks that going back to the function of an earlier commit, and forward again,
// restarts no pod of a healthy MarkdownView, unless CHANGELOG.md says so, and that both
// versions compose every kind of MarkdownView. With real pods, MarkdownViews change all
// the time, reconciles fail only in the seconds in which Crossplane has no endpoint of
// the new version, and no request of a reader fails.
func Upgrade(k *kit) {
	kinds := k.kinds()
	words := sorted(kinds)
	n := 100
	if k.realPods {
		n = 2 * len(kinds)
	}
	kindOf := func(name string) string {
		number, err := strconv.Atoi(name[len(name)-4:])
		k.must(err)

		return words[number%len(words)]
	}
	names := k.applyMany(n, func(name string) *unstructured.Unstructured {
		return book(name, append([]option{withRevision("revision-1")}, kinds[kindOf(name)]...)...)
	})
	k.settleAll(5*time.Minute, n)
	k.calm()
	pods := k.podUIDs()
	k.equal("pods", n, len(pods))
	readers := map[string]*reader{}
	if k.onNode() {
		for _, of := range []string{"defaults", "server"} {
			readers[of] = k.readBook(names[slices.Index(words, of)])
		}
	}

	for _, to := range []struct {
		version string
		p       controlplane.Package
	}{{"v0.0.1", k.PreviousPackage()}, {"v0.1.1", k.FunctionPackage()}} {
		k.upgrade(to.p, to.version, names)
		k.composeAll(names)
		k.calm()
		k.settleAll(2*time.Minute, n)
		after := k.podUIDs()
		for _, name := range names {
			if of := kindOf(name); !k.mayRestart(of) {
				k.equal("pods of "+name+" ("+of+") with "+to.version, pods[name], after[name])
			}
		}
		pods = after
	}
	for of, r := range readers {
		got := r.stop()
		k.Logf("%s: %s", of, got)
		k.equal("failed requests", 0, got.failed())
	}
}

// kinds returns the specs of MarkdownViews that are composed in different ways, by the
// words with which CHANGELOG.md names them.
func (k *kit) kinds() map[string][]option {
	k.write("guide", map[string]string{"a.md": "# Guide\n"})
	production := k.production()
	all := map[string][]option{
		"defaults":      nil,
		"markdownsFrom": {from(fromConfigMap("guide"))},
		"summary binaries book": {
			func(s map[string]any) { delete(s["markdowns"].(map[string]any), "SUMMARY.md") },
			with("{summary: Auto, binaries: {img/dot.gif: " + dot + "}, book: {title: Guide, language: ja}}"),
		},
		"immutableConfigMaps":  {k.given("immutable", "immutableConfigMaps: true")},
		"server":               {production},
		"server markdownsFrom": {production, from(fromConfigMap("guide"))},
		"templates": {k.given("templates", `
labels: {team: docs}
resources: {requests: {cpu: 5m}}
templates: {deployment: {spec: {template: {metadata: {annotations: {example.org/owner: docs}}}}}}`)},
	}
	if k.loopback != nil {
		const repository = "registry.example.com/upgrade/book"
		k.pushPage(repository+":v1", "Page")
		allowed := k.given("image", "allowedBookImages: ["+repository+"]")
		all["allowedBookImages"] = []option{allowed, fromImage(repository + ":v1")}
	}

	return all
}

// mayRestart returns whether an entry of CHANGELOG.md that the earlier commit does not
// have says that the pods of a kind of MarkdownView restart.
func (k *kit) mayRestart(words string) bool {
	before := k.read(filepath.Join(k.Packages, "previous", "CHANGELOG.md"))
	for entry := range strings.SplitSeq(k.read("../../CHANGELOG.md"), "\n- ") {
		if !restarts.MatchString(entry) || strings.Contains(before, strings.TrimSpace(entry)) {
			continue
		}
		for _, word := range strings.Fields(words) {
			if strings.Contains(entry, "`"+word+"`") || strings.Contains(entry, "every book") {
				return true
			}
		}
	}

	return false
}

// restarts matches an entry of CHANGELOG.md that says that pods restart.
var restarts = regexp.MustCompile(`restart|roll out once`)

// composeAll changes an annotation of each MarkdownView, and waits until the function was
// called for all: Crossplane calls a new revision of a function only when it reconciles.
func (k *kit) composeAll(names []string) {
	calls := k.calls()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.org/upgrade":"%d"}}}`, time.Now().Unix())
	for _, name := range names {
		k.must(k.Patch(k.Context(), inNamespace(book(name), k.namespace), client.RawPatch(types.MergePatchType, patch)))
	}
	k.eventually("the new version composes every MarkdownView", func(k *kit) {
		if c := k.calls(); c < calls+len(names) {
			k.Errorf("the function was called %d times", c-calls)
		}
	})
}

// upgrade changes the version of the function. With real pods, MarkdownViews change at the
// same time.
func (k *kit) upgrade(to controlplane.Package, version string, names []string) {
	begin := time.Now()
	known := k.failedReconciles() // Such as one before Crossplane's cache had a new Composition.
	stop := func() {}
	if k.realPods {
		stop = k.load(names)
	}
	unsynced := k.unsynced()
	k.must(k.Upgrade(k.Context(), to, version))
	k.within(3*time.Minute, "all processes of the function are new", func(k *kit) {
		if all := k.metric(started); len(all) == 0 || slices.Min(all) < float64(begin.Unix()) {
			k.Errorf("processes were started at %.0f, the upgrade at %d", all, begin.Unix())
		}
	})

	replaced := time.Now()
	const connect = 10 * time.Second // So long may Crossplane take to connect to the new processes.
	if k.realPods {
		k.pause(2 * connect)
	}
	stop()

	failed := slices.DeleteFunc(k.failedReconciles(), func(f string) bool { return slices.Contains(known, f) })
	k.equal("failed reconciles", "", strings.Join(failed, "\n"))
	summary, last := unsynced()
	k.Logf("%s: %s", version, summary)
	if late := last.Sub(replaced); late > connect {
		k.Errorf("a MarkdownView was no longer synced %s after all processes were new", late)
	}
}

// unsynced watches the condition Synced of the MarkdownViews in the namespace until its
// result is called, which says how long MarkdownViews were not synced, and when the last
// one began. docs/upgrade.md has the numbers. Crossplane's events may come much later.
func (k *kit) unsynced() func() (summary string, last time.Time) {
	var last time.Time
	since, longest := map[string]time.Time{}, map[string]time.Duration{}
	stop := k.watch(kind, func(_ watch.EventType, u *unstructured.Unstructured) {
		v, err := decode(u)
		if err != nil {
			return
		}
		begin, failing := since[v.Name]
		switch synced := v.shows("Synced=True") == nil; {
		case synced && failing:
			longest[v.Name] = max(longest[v.Name], time.Since(begin))
			delete(since, v.Name)
		case !synced && !failing:
			last = time.Now()
			since[v.Name] = last
		}
	})

	return func() (string, time.Time) {
		stop()
		for name, begin := range since {
			longest[name] = max(longest[name], time.Since(begin))
		}
		if len(longest) == 0 {
			return "all MarkdownViews were synced", last
		}

		return fmt.Sprintf("%d MarkdownViews were not synced for a time: %s", len(longest), median(slices.Collect(maps.Values(longest)))), last
	}
}

// load changes an annotation of one MarkdownView after another until stop is called, so
// the function is called all the time. Each changes so rarely that the circuit breaker
// of Crossplane does not open.
func (k *kit) load(names []string) (stop func()) {
	ctx, cancel := context.WithCancel(k.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				k.Logf("%d MarkdownViews were changed meanwhile", i)
				return
			case <-time.After(100 * time.Millisecond):
			}
			u := inNamespace(book(names[i%len(names)]), k.namespace)
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.org/load":"%d"}}}`, i)
			if err := k.Patch(ctx, u, client.RawPatch(types.MergePatchType, patch)); ctx.Err() == nil {
				k.check(err)
			}
		}
	})

	return func() { cancel(); running.Wait() }
}

// podUIDs returns the UIDs of the pods of each MarkdownView in the namespace.
func (k *kit) podUIDs() map[string]string {
	uids := map[string]string{}
	for _, p := range list(k, &corev1.PodList{}).Items {
		uids[p.Labels["app.kubernetes.io/instance"]] += p.Name + " " + string(p.UID) + "\n"
	}

	return uids
}

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// kind is the kind of the XR.
var kind = schema.GroupVersionKind{Group: "markdownview.fn.crossplane.io", Version: "v1alpha1", Kind: "MarkdownView"}

// A kit holds what a test needs: the cluster, and a namespace of its own.
type kit struct {
	testing.TB
	*cluster

	namespace string
}

// kit creates a namespace, which is deleted after the test. If the test has failed, the
// objects in the namespace are logged first.
func (c *cluster) kit(t *testing.T) *kit {
	t.Helper()
	name := t.Name()[strings.LastIndex(t.Name(), "/")+1:]
	k := &kit{t, c, fmt.Sprintf("e2e-%s-%05d", strings.ToLower(name), rand.IntN(1e5))}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   k.namespace,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	k.must(c.Create(t.Context(), ns))
	t.Cleanup(func() {
		if t.Failed() {
			k.dump()
		}
		if err := c.Delete(context.Background(), ns); err != nil {
			t.Log(err)
		}
	})
	// Pods cannot be created without the default service account.
	k.eventually("service account default", func(k *kit) { get(k, &corev1.ServiceAccount{}, "default") })

	return k
}

// onNode returns whether pods run on a real node of this machine.
func (k *kit) onNode() bool { return k.loopback != nil && k.RealNode() }

// needsNode skips a test that connects to pods, unless they run on a real node of this machine.
func (k *kit) needsNode() {
	k.Helper()
	if !k.onNode() {
		k.Skip("the pods of this cluster cannot be reached: run the test with NODE=real")
	}
}

// olderThan returns whether the tests run with a version of Crossplane before that one.
func olderThan(version string) bool {
	running := os.Getenv("CROSSPLANE_VERSION")

	return running != "" && running < version
}

func (k *kit) must(err error) {
	k.Helper()
	must(k, err)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check reports an error, and continues the test.
func (k *kit) check(err error) {
	k.Helper()
	if err != nil {
		k.Error(err)
	}
}

// equal reports an error unless both values are equal.
func (k *kit) equal(what string, want, got any) {
	k.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		k.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

// contains reports an error unless a text has a part.
func (k *kit) contains(text, part string) {
	k.Helper()
	if !strings.Contains(text, part) {
		k.Errorf("%q does not contain %q", text, part)
	}
}

// An attempt is the T of a function that is repeated until it reports no error.
type attempt struct {
	testing.TB
	errs []error
}

func (a *attempt) Error(args ...any) { a.errs = append(a.errs, errors.New(fmt.Sprint(args...))) }

func (a *attempt) Errorf(format string, args ...any) { a.Error(fmt.Sprintf(format, args...)) }

func (a *attempt) Fatal(args ...any) {
	a.Error(args...)
	runtime.Goexit()
}

func (a *attempt) FailNow() { a.Fatal("failed") }

func (a *attempt) Skip(args ...any) {
	a.Fatal(append([]any{"cannot skip in an attempt: "}, args...)...)
}

func (a *attempt) Fatalf(format string, args ...any) { a.Fatal(fmt.Sprintf(format, args...)) }

// eventually waits until f reports no error. If that takes too long, the test fails with the
// last errors.
func (k *kit) eventually(what string, f func(*kit)) {
	k.Helper()
	k.within(k.patience, what, f)
}

func (k *kit) within(d time.Duration, what string, f func(*kit)) {
	k.Helper()
	if err := controlplane.Eventually(k.Context(), d, func(context.Context) error {
		a := &attempt{TB: k.TB}
		var running sync.WaitGroup
		running.Go(func() { f(&kit{a, k.cluster, k.namespace}) }) // A fatal error ends its goroutine.
		running.Wait()

		return errors.Join(a.errs...)
	}); err != nil {
		k.Fatalf("%s: %s", what, err)
	}
}

func (k *kit) tryGet(o client.Object, name string) error {
	return k.Get(k.Context(), client.ObjectKey{Namespace: k.namespace, Name: name}, o)
}

// get reads an object of the namespace.
func get[T client.Object](k *kit, into T, name string) T {
	k.Helper()
	k.must(k.tryGet(into, name))

	return into
}

// list reads the objects of the namespace.
func list[T client.ObjectList](k *kit, into T, options ...client.ListOption) T {
	k.Helper()
	k.must(k.List(k.Context(), into, append(options, client.InNamespace(k.namespace))...))

	return into
}

// gone reports an error unless an object does not exist.
func (k *kit) gone(o client.Object, name string) {
	k.Helper()
	if err := k.tryGet(o, name); client.IgnoreNotFound(err) != nil || err == nil {
		k.Errorf("%T %q: want not found, got error %v", o, name, err)
	}
}

// delete deletes a MarkdownView.
func (k *kit) delete(name string, options ...client.DeleteOption) {
	k.Helper()
	k.must(k.Delete(k.Context(), inNamespace(book(name), k.namespace), options...))
}

// apply applies objects with server-side apply, in the namespace of the test unless an object
// has another or is cluster-scoped. These are deleted after the test.
func (k *kit) apply(objects ...*unstructured.Unstructured) {
	k.Helper()
	for _, u := range objects {
		k.must(k.tryApply(u))
		// Without a namespace, the client deletes only an object that is cluster-scoped.
		k.Cleanup(func() { _ = k.Delete(context.Background(), u) })
	}
}

func (k *kit) tryApply(u *unstructured.Unstructured) error {
	u = u.DeepCopy()
	namespaced, err := k.IsObjectNamespaced(u)
	if err != nil {
		return err
	}
	if namespaced && u.GetNamespace() == "" {
		u.SetNamespace(k.namespace)
	}

	return k.Apply(k.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("e2e"), client.ForceOwnership)
}

// write applies a ConfigMap with files.
func (k *kit) write(name string, files map[string]string) {
	k.Helper()
	u := k.parse("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}")[0]
	k.must(unstructured.SetNestedStringMap(u.Object, files, "data"))
	k.apply(u)
}

// installCRDs installs the CRDs in files of a Go module that the module in a folder requires.
// They are not deleted, because an existing cluster may have had them before.
func (k *kit) installCRDs(folder, module, pattern string) {
	k.Helper()
	dir, err := controlplane.ModuleDir(k.Context(), folder, module)
	k.must(err)
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	k.must(err)
	if len(files) == 0 {
		k.Fatalf("%s has no files %s", module, pattern)
	}
	for _, f := range files {
		for _, u := range k.parse(k.read(f)) {
			k.must(k.tryApply(u))
			k.kubectl("wait", "crd", u.GetName(), "--for=condition=Established", "--timeout=1m")
		}
	}
}

// kubectl runs kubectl in the namespace of the test and returns its output.
func (k *kit) kubectl(args ...string) string {
	k.Helper()
	out, err := k.run("kubectl", append([]string{"--namespace=" + k.namespace}, args...)...)
	k.must(err)

	return out
}

// A markdownView has the fields of an XR that tests read.
type markdownView struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`

	Status struct {
		Status             string             `json:"status"`
		Replicas           int32              `json:"replicas"`
		ReadyReplicas      int32              `json:"readyReplicas"`
		Selector           string             `json:"selector"`
		ObservedGeneration int64              `json:"observedGeneration"`
		URL                string             `json:"url"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func (v *markdownView) condition(name string) metav1.Condition {
	for _, c := range v.Status.Conditions {
		if c.Type == name {
			return c
		}
	}

	return metav1.Condition{}
}

// settled is what a MarkdownView shows if its current spec is healthy.
var settled = []string{"current", "Healthy", "Synced=True", "Ready=True", "Available=True", "Degraded=False"}

// shows returns an error unless the status has all of these: "current", if it is that of the
// current spec; STATUS, also with the ready pods, as in "Available 1/2"; "2 ready"; the URL;
// conditions with or without reason and message, as in "Degraded=True Paused"; and a part of a
// message, as in "Degraded: kubectl".
func (v *markdownView) shows(want ...string) error {
	s := v.Status
	ready := fmt.Sprint(s.ReadyReplicas)
	got := []string{s.Status, fmt.Sprintf("%s %s/%d", s.Status, ready, s.Replicas), ready + " ready", s.URL}
	if s.ObservedGeneration == v.Generation {
		got = append(got, "current")
	}
	for _, c := range s.Conditions {
		state := fmt.Sprintf("%s=%s", c.Type, c.Status)
		got = append(got, state, state+" "+c.Reason, state+" "+c.Reason+": "+c.Message)
	}
	for _, w := range want {
		name, part, ofMessage := strings.Cut(w, ": ")
		if !slices.Contains(got, w) && (!ofMessage || !strings.Contains(v.condition(name).Message, part)) {
			return fmt.Errorf("the status does not show %q: %q", w, got)
		}
	}

	return nil
}

// An option sets fields of a spec or of an Input.
type option = func(map[string]any)

// book returns a MarkdownView with a book of one page.
func book(name string, spec ...option) *unstructured.Unstructured { return bookOf(kind, name, spec...) }

func bookOf(gvk schema.GroupVersionKind, name string, spec ...option) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetName(name)
	s := map[string]any{"markdowns": map[string]any{
		"SUMMARY.md": "# Summary\n\n- [Page](page.md)\n",
		"page.md":    "# Page\n",
	}}
	for _, f := range spec {
		f(s)
	}
	u.Object["spec"] = s

	return u
}

// with sets fields, which are YAML.
func with(fields string) option {
	return func(s map[string]any) {
		if err := yaml.Unmarshal([]byte(fields), &s); err != nil {
			panic(err)
		}
	}
}

// unchanged changes nothing.
var unchanged = with("{}")

func replicas(n int) option { return with(fmt.Sprintf("replicas: %d", n)) }

func image(ref string) option { return with("viewerImage: " + ref) }

// brokenImage is an image that cannot be pulled.
var brokenImage = image("docker.io/peaceiris/mdbook:" + controlplane.BrokenImage)

func file(name, text string) option {
	return func(s map[string]any) { s["markdowns"].(map[string]any)[name] = text }
}

// composedBy sets the Composition.
func composedBy(composition string) option {
	return with("crossplane: {compositionRef: {name: " + composition + "}}")
}

// decode returns the fields of an XR.
func decode(u *unstructured.Unstructured) (*markdownView, error) {
	v := &markdownView{}
	return v, apiruntime.DefaultUnstructuredConverter.FromUnstructured(u.Object, v)
}

// view reads a MarkdownView.
func (k *kit) view(name string) *markdownView {
	k.Helper()
	v, err := decode(get(k, book(""), name))
	k.must(err)

	return v
}

// until waits until a MarkdownView shows all of these at the same time, and returns it. Two
// calls in a row are not enough: when Crossplane writes the status, it also writes the conditions
// in its cache, which may be older.
func (k *kit) until(name string, want ...string) *markdownView {
	k.Helper()

	return k.untilOf(kind, name, k.patience, want...)
}

// untilOf waits at most d for an XR of another kind.
func (k *kit) untilOf(gvk schema.GroupVersionKind, name string, d time.Duration, want ...string) (v *markdownView) {
	k.Helper()
	k.within(d, gvk.Kind+" "+name, func(k *kit) {
		var err error
		v, err = decode(get(k, bookOf(gvk, ""), name))
		k.must(err)
		k.check(v.shows(want...))
	})

	return v
}

// settle waits until each MarkdownView is healthy with its current spec.
func (k *kit) settle(names ...string) {
	k.Helper()
	for _, n := range names {
		k.until(n, settled...)
	}
}

func listOf(gvk schema.GroupVersionKind) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))

	return l
}

func inNamespace(u *unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	u = u.DeepCopy()
	u.SetNamespace(namespace)

	return u
}

// children are the composed resources of a MarkdownView whose name is not shortened.
type children struct {
	configMap  *corev1.ConfigMap
	deployment *appsv1.Deployment
	service    *corev1.Service
}

func (k *kit) children(name string) children {
	k.Helper()

	return children{
		get(k, &corev1.ConfigMap{}, "markdowns-"+name),
		k.viewer(name),
		get(k, &corev1.Service{}, "viewer-"+name),
	}
}

// viewer returns the Deployment of a MarkdownView.
func (k *kit) viewer(name string) *appsv1.Deployment {
	k.Helper()

	return get(k, &appsv1.Deployment{}, "viewer-"+name)
}

// podsOf returns the pods of a MarkdownView.
func (k *kit) podsOf(name string) []corev1.Pod {
	k.Helper()

	return list(k, &corev1.PodList{}, client.MatchingLabels{"app.kubernetes.io/instance": name}).Items
}

// all returns the resources by kind.
func (c children) all() map[string]client.Object {
	return map[string]client.Object{"ConfigMap": c.configMap, "Deployment": c.deployment, "Service": c.service}
}

// specs returns the resource versions of the ConfigMap and the Service, and the
// generation of the Deployment, which change when the spec or data is written. The
// resource version of a Deployment also changes with its status.
func (c children) specs() map[string]string {
	return map[string]string{
		"ConfigMap":  c.configMap.ResourceVersion,
		"Deployment": fmt.Sprint(c.deployment.Generation),
		"Service":    c.service.ResourceVersion,
	}
}

// events returns the events in the namespace with these fields.
func (k *kit) events(fields client.MatchingFields) []corev1.Event {
	k.Helper()

	return list(k, &corev1.EventList{}, fields).Items
}

// read returns a file of the repository.
func (k *kit) read(path string) string {
	k.Helper()
	b, err := os.ReadFile(path)
	k.must(err)

	return string(b)
}

// manifests returns the objects of a file in the folder example.
func (k *kit) manifests(path string) []*unstructured.Unstructured {
	k.Helper()

	return k.parse(k.read("../../example/" + path))
}

// parse returns the objects of YAML documents.
func (k *kit) parse(text string) []*unstructured.Unstructured {
	k.Helper()
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "\n---") {
		u := &unstructured.Unstructured{}
		k.must(yaml.Unmarshal([]byte(doc), &u.Object))
		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}

	return out
}

// dump writes the objects in the namespace into the log of the test.
func (k *kit) dump() {
	for _, args := range []string{
		"get markdownviews,configmaps,deployments,replicasets,services,pods,hpa --output=wide",
		"get markdownviews --output=yaml",
		"get events --sort-by=.lastTimestamp",
	} {
		out, err := k.run("kubectl", append([]string{"--namespace=" + k.namespace}, strings.Fields(args)...)...)
		if err != nil {
			out = err.Error()
		}
		const maxLen = 20000
		k.Logf("kubectl %s:\n%s", args, out[:min(len(out), maxLen)])
	}
	k.Logf("logs of all components: %s", k.logs)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

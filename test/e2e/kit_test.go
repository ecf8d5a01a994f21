package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// The values of status.status.
const (
	notReady  = "NotReady"
	available = "Available"
	healthy   = "Healthy"
)

// kind is the kind of the XR.
var kind = schema.GroupVersionKind{Group: "markdownview.fn.crossplane.io", Version: "v1alpha1", Kind: "MarkdownView"}

// A kit holds what a test needs: the cluster, and a namespace of its own.
type kit struct {
	*testing.T
	*cluster

	namespace string
}

// kit creates a namespace, which is deleted after the test. If the test has failed, the
// objects in the namespace are logged first.
func (c *cluster) kit(t *testing.T) *kit {
	t.Helper()
	k := &kit{T: t, cluster: c, namespace: fmt.Sprintf("e2e-%s-%05d", strings.ToLower(lastPart(t.Name())), rand.IntN(1e5))}
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
	k.eventually("service account default", func() error {
		return k.get(&corev1.ServiceAccount{}, "default")
	})

	return k
}

// needsNode skips a test that connects to pods, unless the pods run on a real node of
// this machine.
func (k *kit) needsNode() {
	k.Helper()
	if k.loopback == nil || !k.RealNode() {
		k.Skip("the pods of this cluster cannot be reached: run the test with NODE=real")
	}
}

// olderThan returns whether the tests run with a version of Crossplane before that one.
func olderThan(version string) bool {
	running := os.Getenv("CROSSPLANE_VERSION")

	return running != "" && running < version
}

func lastPart(name string) string {
	return name[strings.LastIndex(name, "/")+1:]
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// eventually waits until f returns nil. If that takes too long, the test fails with the
// last error.
func (k *kit) eventually(what string, f func() error) {
	k.Helper()
	k.within(k.patience, what, f)
}

func (k *kit) within(d time.Duration, what string, f func() error) {
	k.Helper()
	if err := controlplane.Eventually(k.Context(), d, func(context.Context) error { return f() }); err != nil {
		k.Fatalf("%s: %s", what, err)
	}
}

func (k *kit) get(o client.Object, name string) error {
	return k.Get(k.Context(), client.ObjectKey{Namespace: k.namespace, Name: name}, o)
}

// apply applies an object with server-side apply, in the namespace of the test unless
// the object has another or is cluster-scoped.
func (k *kit) apply(u *unstructured.Unstructured) {
	k.Helper()
	k.must(k.tryApply(u))
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

	Spec struct {
		Markdowns   map[string]string `json:"markdowns"`
		Replicas    *int32            `json:"replicas"`
		ViewerImage string            `json:"viewerImage"`
	} `json:"spec"`

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

// is returns an error unless a condition has a status and a reason. An empty reason
// matches any.
func (v *markdownView) is(name string, status metav1.ConditionStatus, reason string) error {
	c := v.condition(name)
	if c.Status != status || (reason != "" && c.Reason != reason) {
		return fmt.Errorf("%s is %q/%q (%s), not %q/%q", name, c.Status, c.Reason, c.Message, status, reason)
	}

	return nil
}

// counts returns an error unless status.status and the numbers of pods and of ready pods
// have these values.
func (v *markdownView) counts(status string, replicas, ready int32) error {
	if s := v.Status; s.Status != status || s.Replicas != replicas || s.ReadyReplicas != ready {
		return fmt.Errorf("status is %q with %d pods, %d ready, not %q with %d, %d", s.Status, s.Replicas, s.ReadyReplicas, status, replicas, ready)
	}

	return nil
}

// settled returns an error unless the status reports that the current spec is healthy.
func (v *markdownView) settled() error {
	if v.Status.ObservedGeneration != v.Generation {
		return fmt.Errorf("status has observed generation %d, not %d", v.Status.ObservedGeneration, v.Generation)
	}
	if v.Status.Status != healthy {
		return fmt.Errorf("status is %q: %v", v.Status.Status, v.Status.Conditions)
	}
	for name, status := range map[string]metav1.ConditionStatus{
		"Synced": metav1.ConditionTrue, "Ready": metav1.ConditionTrue, "Available": metav1.ConditionTrue, "Degraded": metav1.ConditionFalse,
	} {
		if err := v.is(name, status, ""); err != nil {
			return err
		}
	}

	return nil
}

func fromUnstructured(u *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return fmt.Errorf("cannot decode %s %q: %w", u.GetKind(), u.GetName(), err)
	}

	return nil
}

func decode(u *unstructured.Unstructured) (*markdownView, error) {
	v := &markdownView{}
	return v, fromUnstructured(u, v)
}

// book returns a MarkdownView with a book of one page.
func book(name string, spec ...func(map[string]any)) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
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

func replicas(n int64) func(map[string]any) {
	return func(s map[string]any) { s["replicas"] = n }
}

func image(ref string) func(map[string]any) {
	return func(s map[string]any) { s["viewerImage"] = ref }
}

func file(name, text string) func(map[string]any) {
	return func(s map[string]any) { s["markdowns"].(map[string]any)[name] = text }
}

// composedBy sets the Composition.
func composedBy(composition string) func(map[string]any) {
	return func(s map[string]any) {
		s["crossplane"] = map[string]any{"compositionRef": map[string]any{"name": composition}}
	}
}

// view reads a MarkdownView.
func (k *kit) view(name string) (*markdownView, error) {
	return k.viewOf(kind, name)
}

func (k *kit) viewOf(gvk schema.GroupVersionKind, name string) (*markdownView, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	if err := k.get(u, name); err != nil {
		return nil, err
	}

	return decode(u)
}

// until waits until a check of a MarkdownView succeeds, and returns that MarkdownView.
// A check must test everything that is expected at the same time. Two checks in a row
// are not enough: when Crossplane writes the status, it also writes the conditions in its
// cache, which may be older.
func (k *kit) until(name, what string, check func(*markdownView) error) *markdownView {
	k.Helper()

	return k.untilOf(kind, name, k.patience, what, check)
}

// untilOf waits at most d for an XR of another kind.
func (k *kit) untilOf(gvk schema.GroupVersionKind, name string, d time.Duration, what string, check func(*markdownView) error) *markdownView {
	k.Helper()
	var v *markdownView
	k.within(d, fmt.Sprintf("%s %s: %s", gvk.Kind, name, what), func() error {
		var err error
		if v, err = k.viewOf(gvk, name); err != nil {
			return err
		}

		return check(v)
	})

	return v
}

// settle waits until each MarkdownView is healthy with its current spec.
func (k *kit) settle(names ...string) {
	k.Helper()
	for _, n := range names {
		k.until(n, "healthy", (*markdownView).settled)
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
	c, err := k.tryChildren(name)
	k.must(err)

	return c
}

func (k *kit) tryChildren(name string) (children, error) {
	c := children{&corev1.ConfigMap{}, &appsv1.Deployment{}, &corev1.Service{}}
	if err := k.get(c.configMap, "markdowns-"+name); err != nil {
		return c, err
	}
	if err := k.get(c.deployment, "viewer-"+name); err != nil {
		return c, err
	}

	return c, k.get(c.service, "viewer-"+name)
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

// events returns the events of a MarkdownView.
func (k *kit) events(name string) []corev1.Event {
	k.Helper()
	l := &corev1.EventList{}
	k.must(k.List(k.Context(), l, client.InNamespace(k.namespace), client.MatchingFields{"involvedObject.name": name}))

	return l.Items
}

// gone returns an error unless an object does not exist.
func (k *kit) gone(o client.Object, name string) error {
	err := k.get(o, name)
	if err == nil {
		return fmt.Errorf("%T %q still exists", o, name)
	}
	if !apierrors.IsNotFound(err) {
		return err
	}

	return nil
}

// check reports an error, and continues the test.
func (k *kit) check(err error) {
	k.Helper()
	if err != nil {
		k.Error(err)
	}
}

func (k *kit) read(path string) string {
	k.Helper()
	b, err := os.ReadFile(path)
	k.must(err)

	return string(b)
}

// unstructured returns an object to apply, without the fields that the API server sets.
func (k *kit) unstructured(o client.Object) *unstructured.Unstructured {
	k.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	k.must(err)
	unstructured.RemoveNestedField(m, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(m, "status")

	return &unstructured.Unstructured{Object: m}
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
	for _, args := range [][]string{
		{"get", "markdownviews,configmaps,deployments,replicasets,services,pods,hpa", "--output=wide"},
		{"get", "markdownviews", "--output=yaml"},
		{"get", "events", "--sort-by=.lastTimestamp"},
	} {
		out, err := k.run("kubectl", append([]string{"--namespace=" + k.namespace}, args...)...)
		if err != nil {
			out = err.Error()
		}
		const maxLen = 20000
		k.Logf("kubectl %s:\n%s", strings.Join(args, " "), out[:min(len(out), maxLen)])
	}
	k.Logf("logs of all components: %s", k.logs)
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

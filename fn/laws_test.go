package fn_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/distribution/reference"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/fn"
	"github.com/crossplane-contrib/function-markdownview/internal/gateway"
	"github.com/crossplane-contrib/function-markdownview/test/cluster"
)

var (
	// ours are the keys of the resources that the function composes by default.
	ours = []string{"configmap", "deployment", "service"}
	// optional are the keys of the resources that the Input can add.
	optional = []string{"httproute", "ingress", "poddisruptionbudget"}
	// fatal are the reasons of a fatal result, and others those of other errors.
	fatal = []string{
		"InvalidSpec", "ConfigMapNotFound", "OCIRepositoryNotReady", "InvalidInput", "PipelineConflict", "ResourceConflict",
	}
	others = []string{
		"ApplyFailed", "Missing", "Paused", "ReplicaFailure", "ProgressDeadlineExceeded", "RouteNotAccepted",
	}
	textKey = regexp.MustCompile("^configmap(-[0-9a-f]{16})?$")
	// function responds to calls of all tests, some of them at the same time.
	function = fn.New(logging.NewNopLogger(), 0)
)

// isText returns whether a resource key is that of one of our ConfigMaps.
func isText(key string) bool { return textKey.MatchString(key) }

// isOurs returns whether a resource key is one of ours.
func isOurs(key string) bool {
	return isText(key) || slices.Contains(ours, key) || slices.Contains(optional, key)
}

func run(t testing.TB, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp, err := function.RunFunction(context.Background(), req)
	if err != nil {
		t.Fatalf("RunFunction(...): %v", err)
	}

	return rsp
}

// reported returns the conditions and results of a response, as a reader sees them.
func reported(rsp *fnv1.RunFunctionResponse) []string {
	var all []string
	for _, c := range rsp.GetConditions() {
		all = append(all, c.GetType()+" "+cluster.Status(c)+" "+c.GetReason()+": "+c.GetMessage())
	}
	for _, r := range rsp.GetResults() {
		all = append(all, strings.TrimPrefix(r.GetSeverity().String(), "SEVERITY_")+" "+r.GetReason()+": "+r.GetMessage())
	}

	return all
}

// degraded returns the reason and the message of the condition Degraded.
func degraded(rsp *fnv1.RunFunctionResponse) string {
	return rsp.GetConditions()[1].GetReason() + ": " + rsp.GetConditions()[1].GetMessage()
}

// textOf returns the key of the ConfigMap that the desired pods read, or "image".
func textOf(rsp *fnv1.RunFunctionResponse) string {
	d := rsp.GetDesired().GetResources()["deployment"].GetResource().AsMap()
	key := textAt(d, "spec", "template", "metadata", "annotations", "markdownview.fn.crossplane.io/configmap")
	if key == "" {
		return "configmap"
	}

	return key
}

// composedIn returns the keys of our resources in a response.
func composedIn(rsp *fnv1.RunFunctionResponse) []string {
	keys := slices.Sorted(maps.Keys(rsp.GetDesired().GetResources()))

	return slices.DeleteFunc(keys, func(key string) bool { return !isOurs(key) })
}

// A call is a call of the function. Parts of it are decoded, so that laws can read them.
type call struct {
	testing.TB

	req *fnv1.RunFunctionRequest
	rsp *fnv1.RunFunctionResponse
	// xr, spec and input are those of the request, status is the desired one.
	xr, spec, input, status object
	observed, desired       map[string]object
	// text is the key of the ConfigMap that the desired pods read, or "image", and volume is
	// the volume with the book.
	text   string
	volume corev1.VolumeSource
	// statusFields are the status fields that the XRD declares.
	statusFields []string
}

// checkLaws calls the function and fails the test if the response breaks a law that
// holds for every single response. doc.go numbers the laws.
func checkLaws(t testing.TB, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	before := marshal(t, req)
	rsp := run(t, req)
	c := &call{
		TB: t, req: req, rsp: rsp,
		xr:       req.GetObserved().GetComposite().GetResource().AsMap(),
		input:    req.GetInput().AsMap(),
		observed: objectsIn(req.GetObserved()), desired: objectsIn(rsp.GetDesired()),
		text: textOf(rsp),
	}
	c.spec, _ = c.xr["spec"].(object)
	c.status, _ = at(rsp.GetDesired().GetComposite().GetResource().AsMap(), "status").(object)
	c.statusFields = statusFields(c)

	c.lawAccepted()
	c.lawDeterministic(before)
	if isFatal(rsp) {
		c.lawFatal()

		return rsp
	}
	c.lawRequirements()
	if c.waits() {
		// Crossplane drops the response.
		lawUnchanged(t, req, rsp)
		if len(rsp.GetResults()) > 0 {
			t.Errorf("law 3: results of a response that waits: %v", rsp.GetResults())
		}

		return rsp
	}
	c.lawNothingLost()
	c.lawTexts()
	c.lawOptional()
	c.lawKubernetes()
	c.lawByteExact()
	c.lawShared()
	c.lawAgree()
	c.lawSilent()
	c.lawCalledAgain()

	return rsp
}

func objectsIn(s *fnv1.State) map[string]object {
	all := map[string]object{}
	for key, r := range s.GetResources() {
		all[key] = r.GetResource().AsMap()
	}

	return all
}

// lawAccepted checks law 1: Crossplane accepts every response.
func (c *call) lawAccepted() {
	if got, want := c.rsp.GetMeta().GetTag(), c.req.GetMeta().GetTag(); got != want {
		c.Errorf("law 1: tag %q in the response to a request with tag %q", got, want)
	}
	if err := c.rsp.GetMeta().GetTtl().CheckValid(); err != nil || c.rsp.GetMeta().GetTtl().AsDuration() < 0 {
		c.Errorf("law 1: invalid TTL %v", c.rsp.GetMeta().GetTtl())
	}

	documented := map[string][]string{
		"Available True":     {"Available", "RollingOut", "ScaledToZero"},
		"Available False":    {"Creating", "Unavailable"},
		"Degraded True":      slices.Concat(fatal, others),
		"Degraded False":     {"AsExpected"},
		"BookComplete True":  {"Complete"},
		"BookComplete False": {"Incomplete"},
	}
	if isFatal(c.rsp) || c.waits() || c.bookImage() != "" {
		documented["BookComplete Unknown"] = []string{"NotChecked"}
	}
	var types []string
	for _, cond := range c.rsp.GetConditions() {
		types = append(types, cond.GetType())
		if !slices.Contains(documented[cond.GetType()+" "+cluster.Status(cond)], cond.GetReason()) {
			c.Errorf("law 1: undocumented condition %v", cond)
		}
		c.lawMessage(cond.GetMessage())
	}
	if diff := cmp.Diff([]string{"Available", "Degraded", "BookComplete"}, types); diff != "" {
		c.Errorf("law 1: condition types: -want, +got:\n%s", diff)
	}
	for _, r := range c.rsp.GetResults() {
		if r.GetReason() == "" || r.GetTarget() != fnv1.Target_TARGET_COMPOSITE_AND_CLAIM {
			c.Errorf("law 1: result without reason or target: %v", r)
		}
		c.lawMessage(r.GetMessage())
	}
}

// lawMessage checks a part of law 1: a message can be sent, stored and read.
func (c *call) lawMessage(message string) {
	// Twenty errors of a thousand characters each, with their paths and separators.
	const most = 24 << 10
	switch {
	case message == "":
		c.Error("law 1: empty message")
	case len(message) > most:
		c.Errorf("law 1: message of %d bytes: %s…", len(message), message[:200])
	case !utf8.ValidString(message):
		c.Errorf("law 1: message is not valid UTF-8: %q", message)
	case strings.ContainsFunc(message, unicode.IsControl):
		c.Errorf("law 1: message has control characters: %q", message)
	}
}

// lawDeterministic checks law 2: the same request gives the same bytes, whatever the
// order of its maps, and is not modified.
func (c *call) lawDeterministic(before []byte) {
	if !bytes.Equal(before, marshal(c, c.req)) {
		c.Error("law 2: the request was modified")
	}
	again := &fnv1.RunFunctionRequest{}
	if err := proto.Unmarshal(before, again); err != nil {
		c.Fatalf("cannot unmarshal the request: %v", err)
	}
	if second := run(c, again); !bytes.Equal(marshal(c, c.rsp), marshal(c, second)) {
		c.Errorf("law 2: two responses to one request: -first, +second:\n%s", cmp.Diff(c.rsp, second, protocmp.Transform()))
	}
}

// lawFatal checks law 3 for a request with errors: there is one fatal result with a
// reason, and the desired state is unchanged.
func (c *call) lawFatal() {
	if len(c.rsp.GetResults()) != 1 {
		c.Errorf("law 3: %d results in addition to a fatal one", len(c.rsp.GetResults())-1)
	}
	result, cond := c.rsp.GetResults()[0], c.rsp.GetConditions()[1]
	if !slices.Contains(fatal, cond.GetReason()) || cond.GetReason() != result.GetReason() {
		c.Errorf("law 3: fatal result %v with condition %v", result, cond)
	}
	lawUnchanged(c, c.req, c.rsp)
}

// lawUnchanged checks law 3 for a response that composes nothing.
func lawUnchanged(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()
	if diff := cmp.Diff(req.GetDesired(), rsp.GetDesired(), protocmp.Transform()); diff != "" {
		t.Errorf("law 3: desired state: -before, +after:\n%s", diff)
	}
	if !proto.Equal(req.GetContext(), rsp.GetContext()) {
		t.Error("law 3: the context changed")
	}
}

// waits returns whether a request lacks a resource that the spec names, or has
// something else in its place. Crossplane sends the resource with the next call.
func (c *call) waits() bool {
	return slices.ContainsFunc(cluster.Sources(c.spec), func(s cluster.Source) bool {
		resources, sent := c.req.GetRequiredResources()[s.Key()]
		empty := func(r *fnv1.Resource) bool { return proto.Size(r) == 0 }
		items := slices.DeleteFunc(slices.Clone(resources.GetItems()), empty)

		return !sent || len(items) > 0 && !slices.ContainsFunc(items, func(r *fnv1.Resource) bool {
			o := r.GetResource().AsMap()

			return identityOf(o) == [3]string{s.APIVersion, s.Kind, s.Name} &&
				textAt(o, "metadata", "namespace") == cluster.NamespaceOf(c.xr, c.input)
		})
	})
}

// bookImage returns the image that holds the book, or an empty string. While Flux has not
// fetched the image of an OCIRepository, it is the one that the pods have.
func (c *call) bookImage() string {
	sources := listAt(c.spec, "markdownsFrom")
	if len(sources) == 0 {
		return ""
	}
	name := textAt(sources[0], "ociRepository", "name")
	if name == "" {
		return textAt(sources[0], "image", "reference")
	}
	for _, r := range c.req.GetRequiredResources()["ocirepository/"+name].GetItems() {
		o := r.GetResource().AsMap()
		revision := textAt(o, "status", "artifact", "revision")
		if revision != "" && at(o, "metadata", "generation") == at(o, "status", "observedGeneration") {
			return strings.TrimPrefix(textAt(o, "spec", "url"), "oci://") + "@sha256:" + revision[len(revision)-64:]
		}
	}

	return imageOf(c.observed["deployment"])
}

// imageOf returns the image that the pods of a Deployment mount as the book.
func imageOf(deployment object) string {
	return textAt(cluster.VolumeIn(deployment), "image", "reference")
}

func identityOf(o object) [3]string {
	return [3]string{textAt(o, "apiVersion"), textAt(o, "kind"), textAt(o, "metadata", "name")}
}

// lawNothingLost checks law 3 for a request without errors.
func (c *call) lawNothingLost() {
	for key, r := range c.req.GetDesired().GetResources() {
		after := c.rsp.GetDesired().GetResources()[key]
		if after == nil || !isOurs(key) && !proto.Equal(r, after) ||
			identityOf(r.GetResource().AsMap()) != identityOf(c.desired[key]) {
			c.Errorf("law 3: resource %q of another function changed", key)
		}
	}
	required := []string{c.text, "deployment", "service"}
	if c.bookImage() != "" {
		required = required[1:]
	}
	for _, key := range required {
		if c.desired[key] == nil {
			c.Errorf("law 3: resource %q is missing", key)
		}
	}
	if !proto.Equal(c.req.GetContext(), c.rsp.GetContext()) {
		c.Error("law 3: the context changed")
	}

	before, after := c.req.GetDesired().GetComposite(), c.rsp.GetDesired().GetComposite()
	if before.GetReady() != after.GetReady() ||
		!maps.EqualFunc(before.GetConnectionDetails(), after.GetConnectionDetails(), bytes.Equal) {
		c.Error("law 3: readiness or connection details of the XR changed")
	}
	for name, value := range before.GetResource().GetFields() {
		if name != "status" && !proto.Equal(value, after.GetResource().GetFields()[name]) {
			c.Errorf("law 3: field %q of the desired XR changed", name)
		}
	}
	theirs, _ := at(before.GetResource().AsMap(), "status").(object)
	for name, value := range theirs {
		if !slices.Contains(c.statusFields, name) && !reflect.DeepEqual(value, c.status[name]) {
			c.Errorf("law 3: status field %q of another function changed", name)
		}
	}
	for name := range c.status {
		if _, ok := theirs[name]; !ok && !slices.Contains(c.statusFields, name) {
			c.Errorf("law 3: status field %q, which the XRD does not declare", name)
		}
	}
}

// lawOptional checks law 3 for the resources that the Input adds.
func (c *call) lawOptional() {
	replicas, ok := at(c.desired["deployment"], "spec", "replicas").(float64)
	if live, _ := at(c.observed["deployment"], "spec").(object); !ok && len(live) > 0 {
		if replicas, ok = live["replicas"].(float64); !ok {
			replicas = 1
		}
	}
	into := map[string]metav1.Object{
		"httproute": &gateway.HTTPRoute{}, "ingress": &networkingv1.Ingress{},
		"poddisruptionbudget": &policyv1.PodDisruptionBudget{},
	}
	for key, want := range map[string]bool{
		"httproute":           c.input["route"] != nil,
		"ingress":             c.input["ingress"] != nil,
		"poddisruptionbudget": c.input["podDisruptionBudget"] != nil && replicas >= 2,
	} {
		if c.req.GetDesired().GetResources()[key] == nil && want != (c.desired[key] != nil) {
			c.Errorf("law 3: resource %s: want %t, got %v", key, want, c.desired[key])
		}
		if want {
			c.lawDecodes(key, into[key])
			c.lawMetadata(key, into[key])
		}
	}
	public := !strings.Contains(textAt(c.status, "url"), ".svc")
	if slices.Contains(c.statusFields, "url") && public != (c.input["route"] != nil || c.input["ingress"] != nil) {
		c.Errorf("law 8: status.url is %q", c.status["url"])
	}
}

// lawTexts checks law 3 for the ConfigMaps: the Input sets whether they are immutable,
// the pods read the ConfigMap with the text of the spec, and at most one other ConfigMap
// is kept with its observed data. Without a Deployment, all of them are kept.
func (c *call) lawTexts() {
	if (c.bookImage() != "") != (c.text == "image") {
		c.Errorf("law 3: the pods read %s with the image %q", c.text, c.bookImage())
	}
	if immutable := c.input["immutableConfigMaps"] == true || c.input["server"] != nil; c.text != "image" && immutable != (c.text != "configmap") {
		c.Errorf("law 3: the pods read %s with immutable ConfigMaps: %t", c.text, immutable)
	}
	serving := textAt(c.observed["deployment"], "metadata", "annotations", "markdownview.fn.crossplane.io/serving")
	kept, most := 0, len(strings.Split(serving, ","))
	if c.observed["deployment"] == nil {
		most = len(c.observed)
		for key := range c.observed {
			if isText(key) && c.desired[key] == nil {
				c.Errorf("law 3: ConfigMap %s is deleted, and there is no Deployment", key)
			}
		}
	}
	for key, cm := range c.desired {
		if !isText(key) || c.req.GetDesired().GetResources()[key] != nil {
			continue
		}
		if immutable := cm["immutable"] == true; immutable != (key != "configmap") {
			c.Errorf("law 3: ConfigMap %s is immutable: %t", key, immutable)
		}
		if key == c.text {
			continue
		}
		kept++
		for name, value := range child(cm, "data") {
			if at(c.observed[key], "data", name) != value {
				c.Errorf("law 3: file %q of ConfigMap %s, which pods serve, changes", name, key)
			}
		}
	}
	if kept > most {
		c.Errorf("law 3: %d ConfigMaps in addition to the desired one, want %d at most", kept, most)
	}
}

// lawKubernetes checks law 4: Kubernetes accepts the composed resources, and they have
// only the fields that the function owns.
func (c *call) lawKubernetes() {
	cm, d, s := &corev1.ConfigMap{}, &appsv1.Deployment{}, &corev1.Service{}
	for key, into := range map[string]metav1.Object{c.text: cm, "deployment": d, "service": s} {
		if key == "image" {
			continue
		}
		size := c.lawDecodes(key, into)
		c.lawMetadata(key, into)
		// Decoding YAML takes a second for a large book.
		if size < 64<<10 && !reflect.DeepEqual(cluster.Sent(c, c.desired[key])["data"], c.desired[key]["data"]) {
			c.Errorf("law 7: the API server reads other data in %s", key)
		}
		if c.desired[key]["status"] != nil {
			c.Errorf("law 4: %s has a status", key)
		}
		if templates, _ := c.input["templates"].(object); len(templates) == 0 {
			c.lawNothingEmpty(key, c.desired[key])
		}
	}
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Name == "markdowns" {
			c.volume = v.VolumeSource
		}
	}
	c.lawConfigMap(cm)
	c.lawDeployment(d, s)
}

// lawDecodes checks a part of law 4: a composed resource has only fields of its
// Kubernetes type. It returns the size of the resource as JSON.
func (c *call) lawDecodes(key string, into any) int {
	b, err := json.Marshal(c.desired[key])
	if err != nil {
		c.Fatalf("law 4: cannot encode %s: %v", key, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		c.Errorf("law 4: %s: %v", key, err)
	}

	return len(b)
}

// lawMetadata checks a part of law 4: names, labels and annotations are valid.
func (c *call) lawMetadata(key string, o metav1.Object) {
	name := validation.IsDNS1123Subdomain
	if key == "service" {
		name = validation.IsDNS1035Label
	}
	if details := name(o.GetName()); len(details) > 0 {
		c.Errorf("law 4: name %q of %s: %v", o.GetName(), key, details)
	}
	for _, f := range slices.Concat(
		metav1validation.ValidateLabels(o.GetLabels(), field.NewPath("labels")),
		apivalidation.ValidateAnnotations(o.GetAnnotations(), field.NewPath("annotations")),
	) {
		c.Errorf("law 4: %s: %v", key, f)
	}
}

// lawNothingEmpty checks a part of law 4: there are no nulls, empty objects or empty
// lists.
func (c *call) lawNothingEmpty(path string, v any) {
	empty := v == nil
	switch v := v.(type) {
	case object:
		empty = len(v) == 0
		for name, value := range v {
			c.lawNothingEmpty(path+"."+name, value)
		}
	case []any:
		empty = len(v) == 0
		for _, value := range v {
			c.lawNothingEmpty(path+"[]", value)
		}
	}
	if empty {
		c.Errorf("law 4: %s is null or empty", path)
	}
}

func (c *call) lawConfigMap(cm *corev1.ConfigMap) {
	size := 0
	add := func(name string, n int) {
		size += n
		if details := validation.IsConfigMapKey(name); len(details) > 0 {
			c.Errorf("law 4: key %q: %v", name, details)
		}
	}
	for name, text := range cm.Data {
		add(name, len(text))
		if _, ok := cm.BinaryData[name]; ok {
			c.Errorf("law 4: key %q is in data and in binaryData", name)
		}
	}
	for name, b := range cm.BinaryData {
		add(name, len(b))
	}
	if size > corev1.MaxSecretSize {
		c.Errorf("law 4: a ConfigMap with %d bytes of data", size)
	}
}

func (c *call) lawDeployment(d *appsv1.Deployment, s *corev1.Service) {
	pod := d.Spec.Template
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil || selector.Empty() || !selector.Matches(labels.Set(pod.Labels)) {
		c.Errorf("law 4: selector %v of pods with labels %v: %v", selector, pod.Labels, err)
	}
	if !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) || len(s.Spec.Selector) == 0 {
		c.Errorf("law 4: the Service selects %v, not pods with labels %v", s.Spec.Selector, pod.Labels)
	}
	for _, f := range slices.Concat(
		metav1validation.ValidateLabels(pod.Labels, field.NewPath("labels")),
		apivalidation.ValidateAnnotations(pod.Annotations, field.NewPath("annotations")),
		metav1validation.ValidateLabelSelector(
			d.Spec.Selector, metav1validation.LabelSelectorValidationOptions{}, field.NewPath("selector")),
	) {
		c.Errorf("law 4: pod template: %v", f)
	}
	if s := d.Spec.Strategy; s.Type == appsv1.RecreateDeploymentStrategyType && s.RollingUpdate != nil {
		c.Error("law 4: a strategy of type Recreate has rollingUpdate")
	}
	secrets := map[string]bool{}
	for _, ref := range pod.Spec.ImagePullSecrets {
		if secrets[ref.Name] {
			c.Errorf("law 4: imagePullSecret %q twice: server-side apply rejects that", ref.Name)
		}
		secrets[ref.Name] = true
	}
	c.lawContainers(pod.Spec)
	if len(s.Spec.Ports) == 0 {
		c.Error("law 4: the Service has no port")
	}
}

// lawContainers checks a part of law 4: mdBook or a web server serves the book, and all
// containers have what Kubernetes requires.
func (c *call) lawContainers(pod corev1.PodSpec) {
	var names []string
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, o := range slices.Concat(pod.InitContainers, pod.Containers) {
		names = append(names, o.Name)
		if _, err := reference.ParseNormalizedNamed(o.Image); err != nil && (o.Name == "mdbook" || o.Name == "server") {
			c.Errorf("law 4: image %q: %v", o.Image, err)
		}
		for name, request := range o.Resources.Requests {
			limit, ok := o.Resources.Limits[name]
			if request.Sign() < 0 || ok && request.Cmp(limit) > 0 {
				c.Errorf("law 4: request of %s is %s, its limit %s", name, request.String(), limit.String())
			}
		}
		paths := map[string]bool{}
		for _, m := range o.VolumeMounts {
			if !volumes[m.Name] || paths[m.MountPath] || strings.Contains(m.MountPath, ":") || m.MountPath == "" {
				c.Errorf("law 4: container %s cannot mount %s at %q", o.Name, m.Name, m.MountPath)
			}
			paths[m.MountPath] = true
		}
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		c.Errorf("law 4: containers with duplicate names: %v", names)
	}
	served := "mdbook"
	if slices.ContainsFunc(pod.InitContainers, func(o corev1.Container) bool { return o.Name == "mdbook" }) {
		served = "server"
	}
	if !slices.ContainsFunc(pod.Containers, func(o corev1.Container) bool {
		return o.Name == served && slices.ContainsFunc(o.Ports, func(p corev1.ContainerPort) bool { return p.Name == "http" })
	}) {
		c.Errorf("law 4: no container %s has the port that is served", served)
	}
}

// lawByteExact checks law 7: every file arrives unchanged. A file that is null counts
// as absent: the API server rejects it.
func (c *call) lawByteExact() {
	markdowns, _ := c.spec["markdowns"].(object)
	for name, text := range markdowns {
		if got, ok := c.file(name); text != nil && (!ok || got != text) {
			c.Errorf("law 7: file %q is not the same", name)
		}
	}
	binaries, _ := c.spec["binaries"].(object)
	for name, text := range binaries {
		want, err := base64.StdEncoding.DecodeString(textAt(binaries, name))
		if got, ok := c.file(name); text != nil && (!ok || err != nil || got != string(want)) {
			c.Errorf("law 7: binary %q is not the same", name)
		}
	}
}

// lawShared checks law 7 for the files of other ConfigMaps and for an image: the pods
// mount them, or read copies. TestMarkdownsFrom checks which.
func (c *call) lawShared() {
	if image := c.bookImage(); image != "" {
		named, err := reference.ParseNormalizedNamed(image)
		if err != nil || c.volume.Image == nil || c.volume.Image.Reference != named.String() {
			c.Errorf("law 7: volume %v of image %s", c.volume, image)
		}
	}
	mounted := map[string]string{}
	if c.volume.Projected != nil {
		for _, source := range c.volume.Projected.Sources[1:] {
			for _, item := range source.ConfigMap.Items {
				mounted[item.Path] = source.ConfigMap.Name + "/" + item.Key
			}
		}
	}
	copied, files := c.volume.ConfigMap != nil, 0
	for _, from := range listAt(c.spec, "markdownsFrom") {
		name := textAt(from, "configMap", "name")
		for _, r := range c.req.GetRequiredResources()["configmap/"+name].GetItems() {
			for key, text := range cluster.TextsIn(r.GetResource().AsMap()) {
				files++
				path := strings.TrimPrefix(textAt(from, "path")+"/"+key, "/")
				if got, ok := c.file(path); copied && (!ok || got != text) {
					c.Errorf("law 7: the copy of file %s of ConfigMap %s is not the same", path, name)
				}
				if !copied && mounted[path] != name+"/"+key {
					c.Errorf("law 7: file %s of ConfigMap %s is mounted from %q", path, name, mounted[path])
				}
			}
		}
	}
	if !copied && files != len(mounted) {
		c.Errorf("law 7: %d files of other ConfigMaps are mounted, want %d: %v", len(mounted), files, mounted)
	}
}

// file returns what a pod reads in a file of the book, and whether the file exists. A
// volume with items has only the files of these items.
func (c *call) file(name string) (string, bool) {
	var items []corev1.KeyToPath
	switch {
	case c.volume.ConfigMap != nil:
		items = c.volume.ConfigMap.Items
	case c.volume.Projected != nil:
		items = c.volume.Projected.Sources[0].ConfigMap.Items
	}
	if len(items) > 0 {
		i := slices.IndexFunc(items, func(item corev1.KeyToPath) bool { return item.Path == name })
		if i < 0 {
			return "", false
		}
		name = items[i].Key
	}
	if text, ok := at(c.desired[c.text], "data", name).(string); ok {
		return text, true
	}
	text, ok := at(c.desired[c.text], "binaryData", name).(string)
	b, err := base64.StdEncoding.DecodeString(text)

	return string(b), ok && err == nil
}

// lawAgree checks law 8: readiness, status and conditions agree.
func (c *call) lawAgree() {
	ready := true
	for _, key := range composedIn(c.rsp) {
		if c.req.GetDesired().GetResources()[key] != nil && key != c.text {
			continue // Another function desires the resource, and our resources do not use its key.
		}
		r := c.rsp.GetDesired().GetResources()[key].GetReady()
		if r == fnv1.Ready_READY_UNSPECIFIED {
			c.Errorf("law 8: readiness of %s is unspecified", key)
		}
		ready = ready && r == fnv1.Ready_READY_TRUE
	}
	for _, name := range c.statusFields {
		if c.status[name] == nil {
			c.Errorf("law 8: status.%s is missing", name)
		}
	}
	if cond := c.rsp.GetConditions()[0]; ready && cond.GetStatus() != fnv1.Status_STATUS_CONDITION_TRUE {
		c.Errorf("law 8: ready with condition %v", cond)
	}
	if c.changesAvailable() {
		// The fields that describe the pods keep their last values.
		for _, name := range []string{"status", "replicas", "readyReplicas", "observedGeneration"} {
			last, now := at(c.xr, "status", name), c.status[name]
			if last != nil && now != nil && !reflect.DeepEqual(last, now) {
				c.Errorf("law 8: status.%s changes from %v to %v together with Available", name, last, now)
			}
		}

		return
	}
	if ready && slices.Contains(c.statusFields, "status") && c.status["status"] != "Healthy" {
		c.Errorf("law 8: ready with STATUS %s", c.status["status"])
	}
	generation := cluster.Number(at(c.xr, "metadata", "generation"))
	if slices.Contains(c.statusFields, "observedGeneration") && c.status["observedGeneration"] != generation {
		c.Errorf("law 8: observedGeneration %v of generation %v", c.status["observedGeneration"], generation)
	}
}

// changesAvailable returns whether a response changes the reason of Available.
func (c *call) changesAvailable() bool {
	last := c.observedCondition("Available", "reason")

	return slices.Contains([]string{"Available", "RollingOut", "ScaledToZero", "Creating", "Unavailable"}, last) &&
		last != c.rsp.GetConditions()[0].GetReason()
}

// lawSilent checks a part of law 5: there is a result only for a condition that turned
// true, or for BookComplete that turned false.
func (c *call) lawSilent() {
	var want, got []string
	for _, cond := range c.rsp.GetConditions() {
		before, served := c.observedCondition(cond.GetType(), "status"), textAt(c.xr, "status", "status")
		// A failure of another function made the condition Unknown while pods kept
		// serving.
		again := cond.GetType() == "Available" && before == "Unknown" &&
			(served == "Healthy" || served == "Available" || c.observedCondition("Available", "reason") == "Unavailable")
		event := "True"
		if cond.GetType() == "BookComplete" {
			event = "False"
		}
		if cluster.Status(cond) == event && before != event && !again {
			want = append(want, cond.GetReason())
		}
	}
	for _, r := range c.rsp.GetResults() {
		got = append(got, r.GetReason())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.Errorf("law 5: results: -want, +got:\n%s", diff)
	}
}

// lawCalledAgain checks a part of law 5: while Crossplane drops events, it calls again
// within seconds.
func (c *call) lawCalledAgain() {
	if c.observedCondition("Responsive", "status") != "False" {
		return
	}
	most := 10 * time.Second
	if c.changesAvailable() || c.rsp.GetConditions()[1].GetStatus() == fnv1.Status_STATUS_CONDITION_TRUE ||
		slices.ContainsFunc(composedIn(c.rsp), func(key string) bool {
			return c.rsp.GetDesired().GetResources()[key].GetReady() == fnv1.Ready_READY_FALSE
		}) {
		most = 5 * time.Second
	}
	if ttl := c.rsp.GetMeta().GetTtl().AsDuration(); ttl <= 0 || ttl > most {
		c.Errorf("law 5: a TTL of %s while the circuit breaker is open, want at most %s", ttl, most)
	}
}

// observedCondition returns a field of a condition of the XR.
func (c *call) observedCondition(kind, name string) string {
	for _, cond := range listAt(c.xr, "status", "conditions") {
		if textAt(cond, "type") == kind {
			return textAt(cond, name)
		}
	}

	return ""
}

func (c *call) isOurGroup() bool {
	return strings.HasPrefix(textAt(c.xr, "apiVersion"), "markdownview.fn.crossplane.io/")
}

// lawRequirements checks a part of law 8: every response requires the resources that the
// spec names, in the namespace of the pods. It also requires the schema of an XR of another
// group, unless the Input lists the status fields.
func (c *call) lawRequirements() {
	want := &fnv1.Requirements{}
	_, listed := c.input["statusFields"].([]any)
	capable := slices.Contains(c.req.GetMeta().GetCapabilities(), fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS)
	if capable && !listed && !c.isOurGroup() {
		want.Schemas = map[string]*fnv1.SchemaSelector{
			"xr": {ApiVersion: textAt(c.xr, "apiVersion"), Kind: textAt(c.xr, "kind")},
		}
	}
	for _, s := range cluster.Sources(c.spec) {
		if want.Resources == nil {
			want.Resources = map[string]*fnv1.ResourceSelector{}
		}
		namespace := cluster.NamespaceOf(c.xr, c.input)
		want.Resources[s.Key()] = &fnv1.ResourceSelector{
			ApiVersion: s.APIVersion, Kind: s.Kind, Namespace: &namespace,
			Match: &fnv1.ResourceSelector_MatchName{MatchName: s.Name},
		}
	}
	if proto.Equal(want, &fnv1.Requirements{}) {
		want = nil
	}
	if diff := cmp.Diff(want, c.rsp.GetRequirements(), protocmp.Transform()); diff != "" {
		c.Errorf("law 8: requirements: -want, +got:\n%s", diff)
	}
}

// statusFields returns the status fields that the function writes for a request.
func statusFields(c *call) []string {
	all := []string{"status", "replicas", "readyReplicas", "selector", "observedGeneration", "url"}
	if listed, ok := c.input["statusFields"].([]any); ok {
		return slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(listed, any(name)) })
	}
	schema := c.req.GetRequiredSchemas()["xr"].GetOpenapiV3().AsMap()
	if len(schema) == 0 || c.isOurGroup() {
		return all
	}

	return slices.DeleteFunc(all, func(name string) bool {
		kind := "string"
		if slices.Contains([]string{"replicas", "readyReplicas", "observedGeneration"}, name) {
			kind = "integer"
		}

		return textAt(schema, "properties", "status", "properties", name, "type") != kind
	})
}

// marshal returns the same bytes for equal messages. It fails for a message
// that cannot be sent, such as one with text that is not valid UTF-8.
func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatalf("law 1: cannot marshal: %v", err)
	}

	return b
}

package fn_test

import (
	"bytes"
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

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/distribution/reference"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/internal/gateway"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
)

// ours are the keys of the resources that the function composes by default.
var ours = []string{"configmap", "deployment", "service"}

// isText returns whether a resource key is that of one of our ConfigMaps.
func isText(key string) bool {
	return key == "configmap" || regexp.MustCompile("^configmap-[0-9a-f]{16}$").MatchString(key)
}

// optional are the keys of the resources that the Input can add.
var optional = []string{"httproute", "ingress", "poddisruptionbudget"}

// isOurs returns whether a resource key is one of ours.
func isOurs(key string) bool {
	return isText(key) || slices.Contains(ours, key) || slices.Contains(optional, key)
}

// textOf returns the key of the ConfigMap that the desired pods read, or "image".
func textOf(rsp *fnv1.RunFunctionResponse) string {
	d := rsp.GetDesired().GetResources()["deployment"].GetResource().AsMap()
	template := child(child(d, "spec"), "template")
	if key, ok := child(metadata(template), "annotations")["markdownview.fn.crossplane.io/configmap"].(string); ok {
		return key
	}

	return "configmap"
}

// composedIn returns the keys of our resources in a response.
func composedIn(rsp *fnv1.RunFunctionResponse) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(rsp.GetDesired().GetResources())), func(key string) bool { return !isOurs(key) })
}

// checkLaws calls the function and fails the test if the response breaks a law that
// holds for every single response. doc.go numbers the laws.
func checkLaws(t testing.TB, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()

	before := marshal(t, req)
	rsp := run(t, req)

	lawAccepted(t, req, rsp)
	lawDeterministic(t, req, rsp, before)
	if isFatal(rsp) {
		lawFatal(t, req, rsp)

		return rsp
	}
	lawRequirements(t, req, rsp)
	if waits(req) {
		lawWaits(t, req, rsp)

		return rsp
	}
	lawNothingLost(t, req, rsp)
	lawKubernetes(t, req, rsp)
	lawByteExact(t, req, rsp)
	lawShared(t, req, rsp)
	lawAgree(t, req, rsp)
	lawSilent(t, req, rsp)
	lawCalledAgain(t, req, rsp)

	return rsp
}

// lawAccepted checks law 1: Crossplane accepts every response.
func lawAccepted(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	if got, want := rsp.GetMeta().GetTag(), req.GetMeta().GetTag(); got != want {
		t.Errorf("law 1: tag %q in the response to a request with tag %q", got, want)
	}
	if err := rsp.GetMeta().GetTtl().CheckValid(); err != nil || rsp.GetMeta().GetTtl().AsDuration() < 0 {
		t.Errorf("law 1: invalid TTL %v", rsp.GetMeta().GetTtl())
	}

	reasons := map[string][]string{
		"Available/STATUS_CONDITION_TRUE":  {report.ReasonAvailable, report.ReasonRollingOut, report.ReasonScaledToZero},
		"Available/STATUS_CONDITION_FALSE": {report.ReasonCreating, report.ReasonUnavailable},
		"Degraded/STATUS_CONDITION_TRUE":   {report.ReasonInvalidSpec, report.ReasonConfigMapNotFound, report.ReasonOCIRepositoryNotReady, report.ReasonInvalidInput, report.ReasonPipelineConflict, report.ReasonResourceConflict, report.ReasonApplyFailed, report.ReasonMissing, report.ReasonPaused, report.ReasonReplicaFailure, report.ReasonProgressDeadlineExceeded, report.ReasonRouteNotAccepted},
		"Degraded/STATUS_CONDITION_FALSE":  {report.ReasonAsExpected},

		"BookComplete/STATUS_CONDITION_TRUE":  {report.ReasonComplete},
		"BookComplete/STATUS_CONDITION_FALSE": {report.ReasonIncomplete},
	}
	if isFatal(rsp) || waits(req) || bookImage(req) != "" {
		reasons["BookComplete/STATUS_CONDITION_UNKNOWN"] = []string{report.ReasonNotChecked}
	}
	var types []string
	for _, c := range rsp.GetConditions() {
		types = append(types, c.GetType())
		if !slices.Contains(reasons[c.GetType()+"/"+c.GetStatus().String()], c.GetReason()) {
			t.Errorf("law 1: undocumented condition %v", c)
		}
		lawMessage(t, c.GetMessage())
	}
	if diff := cmp.Diff([]string{"Available", "Degraded", "BookComplete"}, types); diff != "" {
		t.Errorf("law 1: condition types: -want, +got:\n%s", diff)
	}
	for _, r := range rsp.GetResults() {
		if r.GetReason() == "" || r.GetTarget() != fnv1.Target_TARGET_COMPOSITE_AND_CLAIM {
			t.Errorf("law 1: result without reason or target: %v", r)
		}
		lawMessage(t, r.GetMessage())
	}
}

// lawMessage checks a part of law 1: a message can be sent, stored and read.
func lawMessage(t testing.TB, message string) {
	t.Helper()

	// Twenty errors of a thousand characters each, with their paths and separators.
	const most = 24 << 10
	switch {
	case message == "":
		t.Error("law 1: empty message")
	case len(message) > most:
		t.Errorf("law 1: message of %d bytes: %s…", len(message), message[:200])
	case !utf8.ValidString(message):
		t.Errorf("law 1: message is not valid UTF-8: %q", message)
	case strings.ContainsFunc(message, unicode.IsControl):
		t.Errorf("law 1: message has control characters: %q", message)
	}
}

// lawDeterministic checks law 2: the same request gives the same bytes, whatever the
// order of its maps, and is not modified.
func lawDeterministic(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse, before []byte) {
	t.Helper()

	if !bytes.Equal(before, marshal(t, req)) {
		t.Error("law 2: the request was modified")
	}
	again := &fnv1.RunFunctionRequest{}
	if err := proto.Unmarshal(before, again); err != nil {
		t.Fatalf("cannot unmarshal the request: %v", err)
	}
	if first, second := marshal(t, rsp), marshal(t, run(t, again)); !bytes.Equal(first, second) {
		t.Errorf("law 2: two responses to one request: -first, +second:\n%s", cmp.Diff(rsp, run(t, again), protocmp.Transform()))
	}
}

// lawFatal checks law 3 for a request with errors: there is one fatal result with a
// reason, and the desired state is unchanged.
func lawFatal(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	if len(rsp.GetResults()) != 1 {
		t.Errorf("law 3: %d results in addition to a fatal one", len(rsp.GetResults())-1)
	}
	degraded := rsp.GetConditions()[1]
	if !slices.Contains([]string{report.ReasonInvalidSpec, report.ReasonConfigMapNotFound, report.ReasonOCIRepositoryNotReady, report.ReasonInvalidInput, report.ReasonPipelineConflict, report.ReasonResourceConflict}, degraded.GetReason()) || degraded.GetReason() != rsp.GetResults()[0].GetReason() {
		t.Errorf("law 3: fatal result %v with condition %v", rsp.GetResults()[0], degraded)
	}
	if !proto.Equal(req.GetDesired(), rsp.GetDesired()) {
		t.Errorf("law 3: desired state of a fatal response: -before, +after:\n%s", cmp.Diff(req.GetDesired(), rsp.GetDesired(), protocmp.Transform()))
	}
	if !proto.Equal(req.GetContext(), rsp.GetContext()) {
		t.Error("law 3: the context changed")
	}
}

// waits returns whether a request lacks a resource that the spec names, or has
// something else in its place. Crossplane sends the resource with the next call.
func waits(req *fnv1.RunFunctionRequest) bool {
	return slices.ContainsFunc(namedSources(req), func(s namedSource) bool {
		resources, sent := req.GetRequiredResources()[s.key()]
		items := slices.DeleteFunc(slices.Clone(resources.GetItems()), func(r *fnv1.Resource) bool { return proto.Size(r) == 0 })
		namespace := namespaceOf(req.GetObserved().GetComposite().GetResource().AsMap(), req.GetInput().AsMap())

		return !sent || len(items) > 0 && !slices.ContainsFunc(items, func(r *fnv1.Resource) bool {
			return identityOf(r) == [3]string{s.apiVersion, s.kind, s.name} &&
				r.GetResource().GetFields()["metadata"].GetStructValue().GetFields()["namespace"].GetStringValue() == namespace
		})
	})
}

// bookImage returns the image that holds the book, or an empty string. While Flux has not
// fetched the image of an OCIRepository, it is the one that the pods have.
func bookImage(req *fnv1.RunFunctionRequest) string {
	sources := specOf(req).GetFields()["markdownsFrom"].GetListValue().GetValues()
	if len(sources) == 0 {
		return ""
	}
	from := sources[0].GetStructValue().GetFields()
	name := from["ociRepository"].GetStructValue().GetFields()["name"].GetStringValue()
	if name == "" {
		return from["image"].GetStructValue().GetFields()["reference"].GetStringValue()
	}
	for _, r := range req.GetRequiredResources()["ocirepository/"+name].GetItems() {
		o := r.GetResource().AsMap()
		revision, _ := child(child(o, "status"), "artifact")["revision"].(string)
		url, _ := child(o, "spec")["url"].(string)
		if revision != "" && metadata(o)["generation"] == child(o, "status")["observedGeneration"] {
			return strings.TrimPrefix(url, "oci://") + "@sha256:" + revision[len(revision)-64:]
		}
	}

	return imageOf(req.GetObserved().GetResources()["deployment"])
}

// imageOf returns the image that the pods of a Deployment mount as the book.
func imageOf(deployment *fnv1.Resource) string {
	pod := child(child(child(deployment.GetResource().AsMap(), "spec"), "template"), "spec")
	volumes, _ := pod["volumes"].([]any)
	for _, v := range volumes {
		if reference, ok := child(v.(object), "image")["reference"].(string); ok && v.(object)["name"] == "markdowns" {
			return reference
		}
	}

	return ""
}

// lawWaits checks law 3 for a response that Crossplane drops: it changes nothing.
func lawWaits(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	if !proto.Equal(req.GetDesired(), rsp.GetDesired()) || !proto.Equal(req.GetContext(), rsp.GetContext()) || len(rsp.GetResults()) > 0 {
		t.Errorf("law 3: want a response with only conditions and requirements, got %v", rsp)
	}
}

// lawNothingLost checks law 3 for a request without errors.
func lawNothingLost(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	for key, before := range req.GetDesired().GetResources() {
		after, ok := rsp.GetDesired().GetResources()[key]
		if !ok || !isOurs(key) && !proto.Equal(before, after) || identityOf(before) != identityOf(after) {
			t.Errorf("law 3: resource %q of another function changed", key)
		}
	}
	required := []string{textOf(rsp), "deployment", "service"}
	if bookImage(req) != "" {
		required = required[1:]
	}
	for _, key := range required {
		if rsp.GetDesired().GetResources()[key] == nil {
			t.Errorf("law 3: resource %q is missing", key)
		}
	}
	lawTexts(t, req, rsp)
	lawOptional(t, req, rsp)
	if !proto.Equal(req.GetContext(), rsp.GetContext()) {
		t.Error("law 3: the context changed")
	}

	before, after := req.GetDesired().GetComposite(), rsp.GetDesired().GetComposite()
	if before.GetReady() != after.GetReady() || !maps.EqualFunc(before.GetConnectionDetails(), after.GetConnectionDetails(), bytes.Equal) {
		t.Error("law 3: readiness or connection details of the XR changed")
	}
	for name, value := range before.GetResource().GetFields() {
		if name != "status" && !proto.Equal(value, after.GetResource().GetFields()[name]) {
			t.Errorf("law 3: field %q of the desired XR changed", name)
		}
	}
	status := after.GetResource().GetFields()["status"].GetStructValue().GetFields()
	for name, value := range before.GetResource().GetFields()["status"].GetStructValue().GetFields() {
		if !slices.Contains(statusFields(req), name) && !proto.Equal(value, status[name]) {
			t.Errorf("law 3: status field %q of another function changed", name)
		}
	}
}

// lawOptional checks law 3 for the resources that the Input adds.
func lawOptional(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	d := rsp.GetDesired().GetResources()["deployment"].GetResource().AsMap()
	replicas, ok := child(d, "spec")["replicas"].(float64)
	if !ok {
		observed := req.GetObserved().GetResources()["deployment"].GetResource().AsMap()
		if replicas, ok = child(observed, "spec")["replicas"].(float64); !ok && len(observed["spec"].(object)) > 0 {
			replicas = 1
		}
	}
	input := req.GetInput().AsMap()
	for key, want := range map[string]bool{
		"httproute":           input["route"] != nil,
		"ingress":             input["ingress"] != nil,
		"poddisruptionbudget": input["podDisruptionBudget"] != nil && replicas >= 2,
	} {
		r := rsp.GetDesired().GetResources()[key]
		if req.GetDesired().GetResources()[key] == nil && want != (r != nil) {
			t.Errorf("law 3: resource %s: want %t, got %v", key, want, r)
		}
		into := map[string]metav1.Object{"httproute": &gateway.HTTPRoute{}, "ingress": &networkingv1.Ingress{}, "poddisruptionbudget": &policyv1.PodDisruptionBudget{}}[key]
		if want {
			lawDecodes(t, key, r.GetResource(), into)
			for _, f := range metav1validation.ValidateLabels(into.GetLabels(), field.NewPath("labels")) {
				t.Errorf("law 4: %s: %v", key, f)
			}
		}
		if name := identityOf(r)[2]; want && len(validation.IsDNS1123Subdomain(name)) > 0 {
			t.Errorf("law 4: name %q of %s", name, key)
		}
	}
	url := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()["url"].GetStringValue()
	if public := !strings.Contains(url, ".svc"); slices.Contains(statusFields(req), "url") && public != (input["route"] != nil || input["ingress"] != nil) {
		t.Errorf("law 8: status.url is %q", url)
	}
}

// lawTexts checks law 3 for the ConfigMaps: the Input sets whether they are immutable,
// the pods read the ConfigMap with the text of the spec, and at most one other ConfigMap
// is kept with its observed data. Without a Deployment, all of them are kept.
func lawTexts(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	text := textOf(rsp)
	if (bookImage(req) != "") != (text == "image") {
		t.Errorf("law 3: the pods read %s with the image %q", text, bookImage(req))
	}
	if immutable := isImmutable(req.GetInput().AsMap()); text != "image" && immutable != (text != "configmap") {
		t.Errorf("law 3: the pods read %s with immutable ConfigMaps: %t", text, immutable)
	}
	others, most := 0, 1
	if live, ok := req.GetObserved().GetResources()["deployment"]; ok {
		serving, _ := child(metadata(live.GetResource().AsMap()), "annotations")["markdownview.fn.crossplane.io/serving"].(string)
		most = max(most, len(strings.Split(serving, ",")))
	} else {
		most = len(req.GetObserved().GetResources())
		for key := range req.GetObserved().GetResources() {
			if isText(key) && rsp.GetDesired().GetResources()[key] == nil {
				t.Errorf("law 3: ConfigMap %s is deleted, and there is no Deployment", key)
			}
		}
	}
	for key, r := range rsp.GetDesired().GetResources() {
		if !isText(key) || req.GetDesired().GetResources()[key] != nil {
			continue
		}
		cm := r.GetResource().AsMap()
		if immutable := cm["immutable"] == true; immutable != (key != "configmap") {
			t.Errorf("law 3: ConfigMap %s is immutable: %t", key, immutable)
		}
		if key == text {
			continue
		}
		others++
		before := req.GetObserved().GetResources()[key].GetResource().AsMap()
		for name, value := range child(cm, "data") {
			if child(before, "data")[name] != value {
				t.Errorf("law 3: file %q of ConfigMap %s, which pods serve, changes", name, key)
			}
		}
	}
	if others > most {
		t.Errorf("law 3: %d ConfigMaps in addition to the desired one, want %d at most", others, most)
	}
}

// isImmutable returns whether an Input gives each text a ConfigMap of its own.
func isImmutable(input object) bool {
	return input["immutableConfigMaps"] == true || input["server"] != nil
}

func identityOf(r *fnv1.Resource) [3]string {
	f := r.GetResource().GetFields()

	return [3]string{f["apiVersion"].GetStringValue(), f["kind"].GetStringValue(), f["metadata"].GetStructValue().GetFields()["name"].GetStringValue()}
}

// lawKubernetes checks law 4: Kubernetes accepts the composed resources, and they have
// only the fields that the function owns.
func lawKubernetes(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	cm, d, s := &corev1.ConfigMap{}, &appsv1.Deployment{}, &corev1.Service{}
	for key, into := range map[string]metav1.Object{textOf(rsp): cm, "deployment": d, "service": s} {
		if key == "image" {
			continue
		}
		desired := rsp.GetDesired().GetResources()[key].GetResource()
		b := lawDecodes(t, key, desired, into)
		// Decoding YAML takes a second for a large book.
		if len(b) < 64<<10 && !reflect.DeepEqual(sent(t, desired.AsMap())["data"], desired.AsMap()["data"]) {
			t.Errorf("law 7: the API server reads other data in %s", key)
		}
		if _, ok := desired.GetFields()["status"]; ok {
			t.Errorf("law 4: %s has a status", key)
		}
		if len(req.GetInput().GetFields()["templates"].GetStructValue().GetFields()) == 0 {
			for name, value := range desired.GetFields() {
				lawNothingEmpty(t, key+"."+name, value)
			}
		}

		errs := metav1validation.ValidateLabels(into.GetLabels(), field.NewPath("labels"))
		errs = append(errs, apivalidation.ValidateAnnotations(into.GetAnnotations(), field.NewPath("annotations"))...)
		name := validation.IsDNS1123Subdomain
		if key == "service" {
			name = validation.IsDNS1035Label
		}
		if details := name(into.GetName()); len(details) > 0 {
			t.Errorf("law 4: name %q of %s: %v", into.GetName(), key, details)
		}
		for _, f := range errs {
			t.Errorf("law 4: %s: %v", key, f)
		}
	}
	lawConfigMap(t, cm)
	lawDeployment(t, d, s)
}

// lawDecodes checks a part of law 4: a composed resource has only fields of its
// Kubernetes type. It returns the resource as JSON.
func lawDecodes(t testing.TB, key string, desired *structpb.Struct, into any) []byte {
	t.Helper()

	b, err := json.Marshal(desired.AsMap())
	if err != nil {
		t.Fatalf("law 4: cannot encode %s: %v", key, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Errorf("law 4: %s: %v", key, err)
	}

	return b
}

// lawNothingEmpty checks a part of law 4: there are no nulls, empty objects or empty
// lists.
func lawNothingEmpty(t testing.TB, path string, v *structpb.Value) {
	t.Helper()

	switch v := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		if len(v.StructValue.GetFields()) == 0 {
			t.Errorf("law 4: %s is empty", path)
		}
		for name, value := range v.StructValue.GetFields() {
			lawNothingEmpty(t, path+"."+name, value)
		}
	case *structpb.Value_ListValue:
		if len(v.ListValue.GetValues()) == 0 {
			t.Errorf("law 4: %s is empty", path)
		}
		for _, value := range v.ListValue.GetValues() {
			lawNothingEmpty(t, path+"[]", value)
		}
	case *structpb.Value_NullValue, nil:
		t.Errorf("law 4: %s is null", path)
	}
}

func lawConfigMap(t testing.TB, cm *corev1.ConfigMap) {
	t.Helper()

	size := 0
	for name, text := range cm.Data {
		size += len(text)
		if details := validation.IsConfigMapKey(name); len(details) > 0 {
			t.Errorf("law 4: key %q: %v", name, details)
		}
		if _, ok := cm.BinaryData[name]; ok {
			t.Errorf("law 4: key %q is in data and in binaryData", name)
		}
	}
	for name, b := range cm.BinaryData {
		size += len(b)
		if details := validation.IsConfigMapKey(name); len(details) > 0 {
			t.Errorf("law 4: key %q: %v", name, details)
		}
	}
	if size > corev1.MaxSecretSize {
		t.Errorf("law 4: a ConfigMap with %d bytes of data", size)
	}
}

func lawDeployment(t testing.TB, d *appsv1.Deployment, s *corev1.Service) {
	t.Helper()

	pod := d.Spec.Template
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil || selector.Empty() || !selector.Matches(labels.Set(pod.Labels)) {
		t.Errorf("law 4: selector %v of pods with labels %v: %v", selector, pod.Labels, err)
	}
	if !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) || len(s.Spec.Selector) == 0 {
		t.Errorf("law 4: the Service selects %v, not pods with labels %v", s.Spec.Selector, pod.Labels)
	}
	for _, f := range slices.Concat(
		metav1validation.ValidateLabels(pod.Labels, field.NewPath("labels")),
		apivalidation.ValidateAnnotations(pod.Annotations, field.NewPath("annotations")),
		metav1validation.ValidateLabelSelector(d.Spec.Selector, metav1validation.LabelSelectorValidationOptions{}, field.NewPath("selector")),
	) {
		t.Errorf("law 4: pod template: %v", f)
	}
	if s := d.Spec.Strategy; s.Type == appsv1.RecreateDeploymentStrategyType && s.RollingUpdate != nil {
		t.Error("law 4: a strategy of type Recreate has rollingUpdate")
	}
	secrets := map[string]bool{}
	for _, ref := range pod.Spec.ImagePullSecrets {
		if secrets[ref.Name] {
			t.Errorf("law 4: imagePullSecret %q twice: server-side apply rejects that", ref.Name)
		}
		secrets[ref.Name] = true
	}

	lawContainers(t, pod.Spec)
	if len(s.Spec.Ports) == 0 {
		t.Error("law 4: the Service has no port")
	}
}

// lawContainers checks a part of law 4: mdBook or a web server serves the book, and all
// containers have what Kubernetes requires.
func lawContainers(t testing.TB, pod corev1.PodSpec) {
	t.Helper()

	var names []string
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		names = append(names, c.Name)
		if _, err := reference.ParseNormalizedNamed(c.Image); err != nil && (c.Name == "mdbook" || c.Name == "server") {
			t.Errorf("law 4: image %q: %v", c.Image, err)
		}
		for name, request := range c.Resources.Requests {
			limit, ok := c.Resources.Limits[name]
			if request.Sign() < 0 || ok && request.Cmp(limit) > 0 {
				t.Errorf("law 4: request of %s is %s, its limit %s", name, request.String(), limit.String())
			}
		}
		paths := map[string]bool{}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] || paths[m.MountPath] || strings.Contains(m.MountPath, ":") || m.MountPath == "" {
				t.Errorf("law 4: container %s cannot mount %s at %q", c.Name, m.Name, m.MountPath)
			}
			paths[m.MountPath] = true
		}
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("law 4: containers with duplicate names: %v", names)
	}
	served := "mdbook"
	if slices.ContainsFunc(pod.InitContainers, func(c corev1.Container) bool { return c.Name == "mdbook" }) {
		served = "server"
	}
	if !slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool {
		return c.Name == served && slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == "http" })
	}) {
		t.Errorf("law 4: no container %s has the port that is served", served)
	}
}

// lawByteExact checks law 7: every file arrives unchanged. A file that is null counts
// as absent: the API server rejects it.
func lawByteExact(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	for name, text := range specOf(req).GetFields()["markdowns"].GetStructValue().GetFields() {
		if _, null := text.GetKind().(*structpb.Value_NullValue); null || text.GetKind() == nil {
			continue
		}
		if got, ok := fileOf(t, rsp, name); !ok || got != text.GetStringValue() {
			t.Errorf("law 7: file %q is not the same", name)
		}
	}
	for name, text := range specOf(req).GetFields()["binaries"].GetStructValue().GetFields() {
		want, err := base64.StdEncoding.DecodeString(text.GetStringValue())
		if _, null := text.GetKind().(*structpb.Value_NullValue); null || text.GetKind() == nil {
			continue
		}
		if got, ok := fileOf(t, rsp, name); !ok || err != nil || got != string(want) {
			t.Errorf("law 7: binary %q is not the same", name)
		}
	}
}

// lawShared checks law 7 for the files of other ConfigMaps and for an image: the pods
// mount them. With a web server, pods read copies of the files, if they fit in our
// ConfigMap.
func lawShared(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	v := volumeOf(t, rsp)
	if image := bookImage(req); image != "" {
		if named, err := reference.ParseNormalizedNamed(image); v.Image == nil || err != nil || v.Image.Reference != named.String() {
			t.Errorf("law 7: volume %v of image %s", v, image)
		}
	}
	mounted := map[string]string{}
	if v.Projected != nil {
		for _, source := range v.Projected.Sources[1:] {
			for _, item := range source.ConfigMap.Items {
				mounted[item.Path] = source.ConfigMap.Name + "/" + item.Key
			}
		}
	}
	copied, collides := v.ConfigMap != nil, false
	own := textsIn(rsp.GetDesired().GetResources()[textOf(rsp)])
	files, size := 0, sizeOf(rsp.GetDesired().GetResources()[textOf(rsp)])
	for _, from := range specOf(req).GetFields()["markdownsFrom"].GetListValue().GetValues() {
		name := from.GetStructValue().GetFields()["configMap"].GetStructValue().GetFields()["name"].GetStringValue()
		for _, r := range req.GetRequiredResources()["configmap/"+name].GetItems() {
			size += sizeOf(r)
			for key, text := range textsIn(r) {
				files++
				path := strings.TrimPrefix(from.GetStructValue().GetFields()["path"].GetStringValue()+"/"+key, "/")
				_, taken := own[path]
				collides = collides || taken
				if got, ok := fileOf(t, rsp, path); copied && (!ok || got != text) {
					t.Errorf("law 7: the copy of file %s of ConfigMap %s is not the same", path, name)
				}
				if !copied && mounted[path] != name+"/"+key {
					t.Errorf("law 7: file %s of ConfigMap %s is mounted from %q", path, name, mounted[path])
				}
			}
		}
	}
	if !copied && files != len(mounted) {
		t.Errorf("law 7: %d files of other ConfigMaps are mounted, want %d: %v", len(mounted), files, mounted)
	}
	static := req.GetInput().GetFields()["server"].GetStructValue() != nil
	if files > 0 && copied && !static || static && v.Projected != nil && size <= 1<<20 && !collides {
		t.Errorf("law 7: files of other ConfigMaps are copied: %t, with a web server: %t, size: %d", copied, static, size)
	}
}

// textsIn returns the files of a ConfigMap by key.
func textsIn(r *fnv1.Resource) map[string]string {
	texts := map[string]string{}
	for key, value := range r.GetResource().GetFields()["data"].GetStructValue().GetFields() {
		if text, ok := value.GetKind().(*structpb.Value_StringValue); ok { // A ConfigMap in the API server has only strings.
			texts[key] = text.StringValue
		}
	}
	for key, value := range r.GetResource().GetFields()["binaryData"].GetStructValue().GetFields() {
		if b, err := base64.StdEncoding.DecodeString(value.GetStringValue()); err == nil {
			texts[key] = string(b)
		}
	}

	return texts
}

// sizeOf returns the size of the files of a ConfigMap in bytes.
func sizeOf(r *fnv1.Resource) int {
	size := 0
	for _, text := range textsIn(r) {
		size += len(text)
	}

	return size
}

// volumeOf returns the volume with the book.
func volumeOf(t testing.TB, rsp *fnv1.RunFunctionResponse) corev1.VolumeSource {
	t.Helper()

	d := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rsp.GetDesired().GetResources()["deployment"].GetResource().AsMap(), d); err != nil {
		t.Fatalf("law 4: cannot decode the Deployment: %v", err)
	}
	i := slices.IndexFunc(d.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "markdowns" })
	if i < 0 {
		return corev1.VolumeSource{}
	}

	return d.Spec.Template.Spec.Volumes[i].VolumeSource
}

// fileOf returns what a pod reads in a file of the book, and whether the file exists. A
// volume with items has only the files of these items.
func fileOf(t testing.TB, rsp *fnv1.RunFunctionResponse, name string) (string, bool) {
	var items []corev1.KeyToPath
	switch v := volumeOf(t, rsp); {
	case v.ConfigMap != nil:
		items = v.ConfigMap.Items
	case v.Projected != nil:
		items = v.Projected.Sources[0].ConfigMap.Items
	}
	if len(items) > 0 {
		i := slices.IndexFunc(items, func(item corev1.KeyToPath) bool { return item.Path == name })
		if i < 0 {
			return "", false
		}
		name = items[i].Key
	}
	cm := rsp.GetDesired().GetResources()[textOf(rsp)].GetResource().GetFields()
	if text, ok := cm["data"].GetStructValue().GetFields()[name].GetKind().(*structpb.Value_StringValue); ok {
		return text.StringValue, true
	}
	b, err := base64.StdEncoding.DecodeString(cm["binaryData"].GetStructValue().GetFields()[name].GetStringValue())

	return string(b), err == nil && cm["binaryData"].GetStructValue().GetFields()[name] != nil
}

// sent returns an object as the API server reads it: Crossplane sends JSON, and the API
// server decodes it as YAML.
func sent(t testing.TB, o object) object {
	t.Helper()

	b, err := json.Marshal(o)
	if err != nil {
		t.Fatalf("law 4: cannot encode %v: %v", o["kind"], err)
	}
	out := object{}
	if err := yaml.Unmarshal(b, &out); err != nil {
		t.Errorf("law 4: the API server cannot read %v: %v", o["kind"], err)
	}

	return out
}

// lawAgree checks law 8: readiness, status and conditions agree.
func lawAgree(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	ready := true
	for _, key := range composedIn(rsp) {
		if req.GetDesired().GetResources()[key] != nil && key != textOf(rsp) {
			continue // Another function desires the resource, and our resources do not use its key.
		}
		r := rsp.GetDesired().GetResources()[key].GetReady()
		if r == fnv1.Ready_READY_UNSPECIFIED {
			t.Errorf("law 8: readiness of %s is unspecified", key)
		}
		ready = ready && r == fnv1.Ready_READY_TRUE
	}

	status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()
	for _, name := range statusFields(req) {
		if status[name] == nil {
			t.Errorf("law 8: status.%s is missing", name)
		}
	}
	available := rsp.GetConditions()[0]
	if ready && available.GetStatus() != fnv1.Status_STATUS_CONDITION_TRUE {
		t.Errorf("law 8: ready with condition %v", available)
	}
	if changesAvailable(req, rsp) {
		lawWithheld(t, req, status)

		return
	}
	if ready && slices.Contains(statusFields(req), "status") && status["status"].GetStringValue() != "Healthy" {
		t.Errorf("law 8: ready with STATUS %s", status["status"])
	}
	if generation := observedXR(req)["metadata"].GetStructValue().GetFields()["generation"].GetNumberValue(); slices.Contains(statusFields(req), "observedGeneration") &&
		status["observedGeneration"].GetNumberValue() != generation {
		t.Errorf("law 8: observedGeneration %v of generation %v", status["observedGeneration"], generation)
	}
}

// changesAvailable returns whether a response changes the reason of Available.
func changesAvailable(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) bool {
	last := observedCondition(req, "Available", "reason")

	return slices.Contains([]string{"Available", "RollingOut", "ScaledToZero", "Creating", "Unavailable"}, last) && last != rsp.GetConditions()[0].GetReason()
}

// lawWithheld checks a part of law 8: while Available changes, the fields that describe
// the pods keep their last values.
func lawWithheld(t testing.TB, req *fnv1.RunFunctionRequest, status map[string]*structpb.Value) {
	t.Helper()

	last := observedXR(req)["status"].GetStructValue().GetFields()
	for _, name := range []string{"status", "replicas", "readyReplicas", "observedGeneration"} {
		if last[name] != nil && status[name] != nil && !proto.Equal(last[name], status[name]) {
			t.Errorf("law 8: status.%s changes from %v to %v together with Available", name, last[name], status[name])
		}
	}
}

// lawSilent checks a part of law 5: there is a result only for a condition that turned
// true, or for BookComplete that turned false.
func lawSilent(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	var want []string
	state := observedXR(req)["status"].GetStructValue().GetFields()["status"].GetStringValue()
	for _, c := range rsp.GetConditions() {
		before := observedCondition(req, c.GetType(), "status")
		// A failure of another function made the condition Unknown while pods kept
		// serving.
		again := c.GetType() == "Available" && before == "Unknown" && (state == "Healthy" || state == "Available" || observedCondition(req, "Available", "reason") == "Unavailable")
		reported, status := fnv1.Status_STATUS_CONDITION_TRUE, "True"
		if c.GetType() == "BookComplete" {
			reported, status = fnv1.Status_STATUS_CONDITION_FALSE, "False"
		}
		if c.GetStatus() == reported && before != status && !again {
			want = append(want, c.GetReason())
		}
	}
	var got []string
	for _, r := range rsp.GetResults() {
		got = append(got, r.GetReason())
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("law 5: results: -want, +got:\n%s", cmp.Diff(want, got))
	}
}

// lawCalledAgain checks a part of law 5: while Crossplane drops events, it calls again
// within seconds.
func lawCalledAgain(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	if observedCondition(req, "Responsive", "status") != "False" {
		return
	}
	most := 10 * time.Second
	if changesAvailable(req, rsp) || slices.ContainsFunc(composedIn(rsp), func(key string) bool {
		return rsp.GetDesired().GetResources()[key].GetReady() == fnv1.Ready_READY_FALSE
	}) {
		most = 5 * time.Second
	}
	if ttl := rsp.GetMeta().GetTtl().AsDuration(); ttl <= 0 || ttl > most {
		t.Errorf("law 5: a TTL of %s while the circuit breaker is open, want at most %s", ttl, most)
	}
}

func observedXR(req *fnv1.RunFunctionRequest) map[string]*structpb.Value {
	return req.GetObserved().GetComposite().GetResource().GetFields()
}

func specOf(req *fnv1.RunFunctionRequest) *structpb.Struct {
	return observedXR(req)["spec"].GetStructValue()
}

func observedCondition(req *fnv1.RunFunctionRequest, kind, name string) string {
	conditions := observedXR(req)["status"].GetStructValue().GetFields()["conditions"].GetListValue().GetValues()
	for _, c := range conditions {
		if c.GetStructValue().GetFields()["type"].GetStringValue() == kind {
			return c.GetStructValue().GetFields()[name].GetStringValue()
		}
	}

	return ""
}

func isOurGroup(req *fnv1.RunFunctionRequest) bool {
	return strings.HasPrefix(observedXR(req)["apiVersion"].GetStringValue(), "markdownview.fn.crossplane.io/")
}

// lawRequirements checks a part of law 8: every response requires the resources that the
// spec names, in the namespace of the pods. It also requires the schema of an XR of another
// group, unless the Input lists the status fields.
func lawRequirements(t testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()

	want := &fnv1.Requirements{}
	_, listed := req.GetInput().GetFields()["statusFields"].GetKind().(*structpb.Value_ListValue)
	if slices.Contains(req.GetMeta().GetCapabilities(), fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS) && !listed && !isOurGroup(req) {
		want.Schemas = map[string]*fnv1.SchemaSelector{
			"xr": {ApiVersion: observedXR(req)["apiVersion"].GetStringValue(), Kind: observedXR(req)["kind"].GetStringValue()},
		}
	}
	for _, s := range namedSources(req) {
		if want.Resources == nil {
			want.Resources = map[string]*fnv1.ResourceSelector{}
		}
		namespace := namespaceOf(req.GetObserved().GetComposite().GetResource().AsMap(), req.GetInput().AsMap())
		want.Resources[s.key()] = &fnv1.ResourceSelector{
			ApiVersion: s.apiVersion, Kind: s.kind, Namespace: &namespace, Match: &fnv1.ResourceSelector_MatchName{MatchName: s.name},
		}
	}
	if proto.Equal(want, &fnv1.Requirements{}) {
		want = nil
	}
	if diff := cmp.Diff(want, rsp.GetRequirements(), protocmp.Transform()); diff != "" {
		t.Errorf("law 8: requirements: -want, +got:\n%s", diff)
	}
}

// statusFields returns the status fields that the function writes for a request.
func statusFields(req *fnv1.RunFunctionRequest) []string {
	all := []string{"status", "replicas", "readyReplicas", "selector", "observedGeneration", "url"}
	declared, ok := req.GetInput().GetFields()["statusFields"].GetKind().(*structpb.Value_ListValue)
	if !ok {
		schema := req.GetRequiredSchemas()["xr"].GetOpenapiV3()
		properties := schema.GetFields()["properties"].GetStructValue().GetFields()["status"].GetStructValue().GetFields()["properties"].GetStructValue().GetFields()
		if schema == nil || isOurGroup(req) {
			return all
		}

		return slices.DeleteFunc(all, func(name string) bool {
			kind := "string"
			if slices.Contains([]string{"replicas", "readyReplicas", "observedGeneration"}, name) {
				kind = "integer"
			}

			return properties[name].GetStructValue().GetFields()["type"].GetStringValue() != kind
		})
	}
	fields := []string{}
	for _, f := range declared.ListValue.GetValues() {
		fields = append(fields, f.GetStringValue())
	}

	return fields
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

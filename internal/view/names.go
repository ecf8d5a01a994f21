package view

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// ConfigMapName returns the name of the ConfigMap that changes in place.
func (v View) ConfigMapName() string { return "markdowns-" + v.base() }

// ViewerName returns the name of the other composed resources.
func (v View) ViewerName() string { return "viewer-" + v.base() }

// base returns the name of the XR for the names of the composed resources. The name of
// an XR can be any DNS subdomain, but that of a Service must be a DNS label of at most
// 63 characters, so some names must be altered.
//
// An altered name begins with a dash, which the name of an XR cannot, so it is distinct
// from every unaltered one. Its hash distinguishes it from the other altered ones.
// Crossplane never renames a composed resource, so this mapping is permanent.
func (v View) base() string {
	// A DNS subdomain without a dot is a DNS label, except for its length.
	if len("viewer-"+v.Metadata.Name) <= validation.DNS1035LabelMaxLength && !strings.Contains(v.Metadata.Name, ".") {
		return v.Metadata.Name
	}

	return "-" + shorten(strings.ReplaceAll(v.Metadata.Name, ".", "-"), 44) + "-" + hashOf(v.Metadata.Name)
}

// Instance returns the name of the XR for a label value, which has at most 63
// characters. A shortened one has an underscore, which the name of an XR cannot have.
func (v View) Instance() string {
	if len(v.Metadata.Name) <= validation.LabelValueMaxLength {
		return v.Metadata.Name
	}

	return shorten(v.Metadata.Name, 52) + "_" + hashOf(v.Metadata.Name)
}

func shorten(name string, most int) string {
	return strings.TrimRight(name[:min(len(name), most)], "-.")
}

// hashOf returns ten hexadecimal digits of the hash of a name.
func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))

	return hex.EncodeToString(sum[:5])
}

// The labels of every composed resource.
const (
	labelName      = "app.kubernetes.io/name"
	LabelInstance  = "app.kubernetes.io/instance"
	labelCreatedBy = "app.kubernetes.io/created-by"
)

// Selector returns the labels that select the pods. The selector of a Deployment is
// immutable, so these labels are permanent.
func (v View) Selector() map[string]string {
	return map[string]string{
		labelName:      "mdbook",
		LabelInstance:  v.Instance(),
		labelCreatedBy: "function-markdownview",
	}
}

// The composition resource names of our composed resources, by which Crossplane
// identifies them. With another name, Crossplane would delete the live object and
// create it again, so these names are permanent.
const (
	KeyConfigMap  = "configmap"
	KeyDeployment = "deployment"
	KeyService    = "service"
)

// Union returns the entries of both maps. The value of b wins.
func Union[V any](a, b map[string]V) map[string]V {
	both := make(map[string]V, len(a)+len(b))
	maps.Copy(both, a)
	maps.Copy(both, b)

	return both
}

// A book has one ConfigMap, with the resource key "configmap", whose data changes with
// the text. With immutableConfigMaps or server, each text has a ConfigMap of its own that
// never changes: its key and its name end with a hash of the text, and a change of the
// text creates another ConfigMap.
//
// Crossplane deletes resources that are no longer desired before it applies the others,
// in any order. So two ConfigMaps are desired during a rollout: the new one, and the
// one that pods still serve, with its observed data. Crossplane deletes those of changes
// that did not roll out. Only a Deployment that somebody deletes during a rollout leaves
// more: see observed.serving.

// KeyImmutable is the prefix of the key of an immutable ConfigMap. It is permanent,
// like the other keys.
const KeyImmutable = KeyConfigMap + "-"

// Immutable returns whether each text has a ConfigMap of its own. A web server builds the
// book once, when its pod starts, so its text must be one that does not change: Crossplane
// applies a Deployment also if the ConfigMap is applied later, or cannot be applied.
func (v View) Immutable() bool {
	return v.Input.ImmutableConfigMaps || v.Input.Server != nil
}

// IsImmutableKey returns whether a resource key is that of an immutable ConfigMap.
func IsImmutableKey(key string) bool {
	digits, ok := strings.CutPrefix(key, KeyImmutable)

	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// ConfigMapOf returns the name of the ConfigMap with a resource key. base never has a
// dot, so a name with a dot is distinct from the names of the ConfigMaps of all other
// MarkdownViews.
func (v View) ConfigMapOf(key string) string {
	if digits, ok := strings.CutPrefix(key, KeyImmutable); ok {
		return v.ConfigMapName() + "." + digits
	}

	return v.ConfigMapName()
}

// Names, ports and addresses of the pods and of the Service.
const (
	// DefaultImage is the newest release of the image that the tutorial uses. Each
	// change of its build is pushed with the same tag, so a platform team that needs a
	// fixed image sets a digest in the Input.
	DefaultImage  = "docker.io/peaceiris/mdbook:v0.5.0"
	ListenIPv4    = "0.0.0.0"
	ListenBoth    = "::"
	PortName      = "http"
	ServicePort   = 80
	ContainerName = "mdbook"
)

// KeyBudget is permanent, like the other keys.
const KeyBudget = "poddisruptionbudget"

// The values of spec.summary.
const (
	// SummaryRequired means that SUMMARY.md must be among the files.
	SummaryRequired = "Required"
	// SummaryAuto means that the function generates SUMMARY.md if it is absent.
	SummaryAuto = "Auto"
)

// AnnotationRevision is set on the pod template. Its value is a hash of the content and
// of the desired pod template: a change of the content starts a rollout, and an
// observed Deployment shows which revision it runs.
const AnnotationRevision = "markdownview.fn.crossplane.io/revision"

// The web server of a pod.
const (
	// AnnotationNginx is set on the pod template. Its value is the configuration of nginx.
	AnnotationNginx = "markdownview.fn.crossplane.io/nginx.conf"

	ServerName = "server"
	ServerRoot = "/usr/share/nginx/html"
	TempDir    = "/tmp"
)

// The rules for a MarkdownView. The XRD has the same rules, most with the same messages, so
// that the API server rejects most errors. The function checks them again, because it
// also serves XRDs of other authors, and because CEL cannot express all of them.
const (
	SummaryName = "SUMMARY.md"
	MaxFiles    = 1000
)

const (
	// AnnotationConfigMap is set on the pod template. Its value is the resource key of
	// the immutable ConfigMap that the pods read, or TextImage.
	AnnotationConfigMap = "markdownview.fn.crossplane.io/configmap"
	// AnnotationServing is set on the Deployment. Its value is the resource key of the
	// ConfigMap of the last completed rollout, or TextImage. The pods of that rollout
	// serve until the next one is complete. The annotation cannot be on the pod
	// template, which the next rollout replaces. For a Deployment that was created again,
	// its value is the keys of all ConfigMaps that existed, separated by commas.
	AnnotationServing = "markdownview.fn.crossplane.io/serving"
)

// AnnotationIncomplete is set on the Deployment of a book with problems. Its value is a
// hash of the message of BookComplete.
//
// The function checks a book once: while the Deployment has the desired revision, the
// condition keeps its last value. Crossplane does not write conditions and resources
// together, so the condition alone could be that of another book. The annotation is
// written together with the revision.
const AnnotationIncomplete = "markdownview.fn.crossplane.io/incomplete"

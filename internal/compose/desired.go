package compose

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/internal/files"
	"github.com/crossplane-contrib/function-markdownview/internal/objects"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// A part identifies a composed resource of a MarkdownView.
type part struct {
	Key, apiVersion, Kind, Name string
}

// Desired holds the composed resources, each with only the fields that we own. The
// apply configurations of client-go have the same purpose, but they link all of
// client-go, which would be half of the binary. Like them, wire.Writer omits empty fields.
type Desired struct {
	// ConfigMap is not among the resources if an image holds the book.
	ConfigMap  *files.ConfigMap
	Deployment *appsv1.Deployment
	Service    *corev1.Service

	// Resources lists the composed resources.
	Resources []ComposedResource

	// items has the files that pods mount from our ConfigMap. Empty means all.
	items []corev1.KeyToPath
	// shared holds the files of other ConfigMaps that pods mount from there.
	shared []view.SharedFiles
	// generated is whether the function generates SUMMARY.md.
	generated bool

	// static is whether a web server serves the pages that mdBook has built.
	static bool

	// Text is the resource key of the ConfigMap with the text of the spec. serving has
	// the keys of the ConfigMaps that pods serve until the rollout completes, usually
	// one. Both are textImage if an image holds the book.
	Text    string
	Serving []string

	// Revision is a hash of the content and the pod template. applied is the revision
	// of the encoded Deployment: an earlier one until pods can start with the content.
	Revision, Applied string
	encoded           *encodedDeployment

	// Complete is the condition BookComplete.
	Complete report.Condition
}

// A ComposedResource is a desired composed resource.
type ComposedResource struct {
	part

	// Object is encoded into the response.
	Object any
	// Optional is whether the resource can be absent although nobody deleted it: the
	// Input may just have added it.
	Optional bool
}

// An encodedDeployment is a Deployment with an encoded pod spec. The pod spec is hashed
// and written, and is the largest part of the composed resources without the text.
type encodedDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		appsv1.DeploymentSpec `json:",inline"`

		Template podTemplate `json:"template"`
	} `json:"spec"`
}

type podTemplate struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     objects.Value     `json:"spec"`
}

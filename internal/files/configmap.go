package files

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

// A ConfigMap is a ConfigMap whose binary files stay in base64, as in the
// request and the response: decoding and encoding a megabyte would take most of the
// time of a call.
type ConfigMap struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Immutable  *bool             `json:"immutable,omitempty"`
	Data       map[string]string `json:"data"`
	BinaryData map[string]string `json:"binaryData"`
}

// NewConfigMap returns the ConfigMap of a view without the files of the book. A template
// is merged over it before the files are added, because the merge encodes everything as
// JSON.
func NewConfigMap(v view.View) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: Metadata(v, v.ConfigMapName(), nil),
	}
	if v.Immutable() {
		cm.Immutable = ptr.To(true)
	}

	return cm
}

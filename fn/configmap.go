package fn

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// configMap returns the ConfigMap of a view, to which addFiles adds the book: a
// template is merged before that, so that the text never takes the way through
// JSON of a merge.
func configMap(v view) *corev1.ConfigMap {
	var immutable *bool
	if v.input.ImmutableConfigMaps {
		immutable = ptr.To(true)
	}

	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: v.metadata(v.configMapName(), nil),
		Immutable:  immutable,
	}
}

// addFiles adds the files of a book to what a template has put into a ConfigMap.
// A text that is not plain goes to binaryData, which is base64. In a volume both
// are files.
func addFiles(cm *corev1.ConfigMap, files map[string]string) {
	binary := map[string][]byte{}
	cm.Data = union(cm.Data, files)
	for name, text := range cm.Data {
		if !plain(text) {
			binary[name] = []byte(text)
			delete(cm.Data, name)
		}
	}
	cm.BinaryData = union(cm.BinaryData, binary)
}

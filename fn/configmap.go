package fn

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// configMap returns the ConfigMap of a view without its data, the files of the
// book, which addFiles adds.
func configMap(v view) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: v.metadata(v.configMapName(), nil),
	}
}

// addFiles adds the files of a book to what a template has put into a ConfigMap.
//
// Crossplane sends objects as JSON, and the API server reads what is to be
// applied as YAML, which JSON is but for some characters: YAML refuses most of
// U+007F to U+009F, U+FFFE and U+FFFF, and makes a blank of U+0085. A text with
// one of them goes to binaryData, which is base64. In a volume both are files.
func addFiles(cm *corev1.ConfigMap, files map[string]string) {
	odd := map[string][]byte{}
	cm.Data = union(cm.Data, files)
	for name, text := range cm.Data {
		if !plain(text) {
			odd[name] = []byte(text)
			delete(cm.Data, name)
		}
	}
	cm.BinaryData = union(cm.BinaryData, odd)
}

// plain returns whether a text is the same in JSON and in YAML. It looks for
// single bytes, which is fast: a book has up to a million.
func plain(text string) bool {
	if strings.IndexByte(text, 0x7f) >= 0 || strings.Contains(text, "\ufffe") || strings.Contains(text, "\uffff") {
		return false
	}
	// In UTF-8 the characters from U+0080 to U+00BF begin with this byte.
	for _, rest, ok := strings.Cut(text, "\xc2"); ok; _, rest, ok = strings.Cut(rest, "\xc2") {
		if rest != "" && rest[0] < 0xa0 {
			return false
		}
	}

	return true
}

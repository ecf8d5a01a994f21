package fn

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// configMap returns the ConfigMap of a view without its data, the files of the
// book, which compose adds.
func configMap(v view) *corev1ac.ConfigMapApplyConfiguration {
	return &corev1ac.ConfigMapApplyConfiguration{
		TypeMetaApplyConfiguration:   *metav1ac.TypeMeta().WithAPIVersion("v1").WithKind("ConfigMap"),
		ObjectMetaApplyConfiguration: v.metadata(v.configMapName()),
	}
}

package compose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestTheme checks that mdBook finds the files of a theme, also in an init container. They are
// in the pod template, so that a change of them rolls out.
func TestTheme(t *testing.T) {
	for name, server := range map[string]*v1beta1.Server{"Serve": nil, "Server": {}} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Server = server
			v.Input.Theme = map[string]string{"head.hbs": "<b>$(X)</b>", "css/print.css": ""}
			d := composed(t, v, request.Observed{})
			pod := d.Deployment.Spec.Template
			mdbook := append(pod.Spec.InitContainers, pod.Spec.Containers...)[0]
			mount := mdbook.VolumeMounts[len(mdbook.VolumeMounts)-1]
			if diff := cmp.Diff(corev1.VolumeMount{Name: "theme", MountPath: "/book/theme", ReadOnly: true}, mount); diff != "" {
				t.Errorf("mount: -want, +got:\n%s", diff)
			}
			got := map[string]string{}
			for _, item := range pod.Spec.Volumes[len(pod.Spec.Volumes)-1].DownwardAPI.Items {
				annotation := strings.TrimSuffix(strings.TrimPrefix(item.FieldRef.FieldPath, "metadata.annotations['"), "']")
				got[item.Path] = pod.Annotations[annotation]
			}
			if diff := cmp.Diff(v.Input.Theme, got); diff != "" {
				t.Errorf("files: -want, +got:\n%s", diff)
			}
		})
	}
}

package compose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// TestTheme checks where pods mount a theme, and that a change of it rolls out.
func TestTheme(t *testing.T) {
	for name, server := range map[string]*v1beta1.Server{"Serve": nil, "Server": {}} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Server = server
			v.Input.Theme = map[string]string{"head.hbs": "<b>$(X)</b>", "css/print.css": ""}
			d, problems := Compose(v, request.Observed{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			pod := d.Deployment.Spec.Template
			mdbook := pod.Spec.Containers[0]
			if server != nil {
				mdbook = pod.Spec.InitContainers[0]
			}
			mount := mdbook.VolumeMounts[len(mdbook.VolumeMounts)-1]
			if diff := cmp.Diff(corev1.VolumeMount{Name: "theme", MountPath: "/book/theme", ReadOnly: true}, mount); diff != "" {
				t.Errorf("mount: -want, +got:\n%s", diff)
			}
			got := map[string]string{}
			for _, volume := range pod.Spec.Volumes {
				if volume.Name == mount.Name {
					for _, item := range volume.DownwardAPI.Items {
						annotation := strings.TrimSuffix(strings.TrimPrefix(item.FieldRef.FieldPath, "metadata.annotations['"), "']")
						got[item.Path] = pod.Annotations[annotation]
					}
				}
			}
			if diff := cmp.Diff(v.Input.Theme, got); diff != "" {
				t.Errorf("files: -want, +got:\n%s", diff)
			}

			resources := len(d.Resources)
			v.Input.Theme = map[string]string{"head.hbs": "<b>$(X)</b>", "css/print.css": "a"}
			changed, _ := Compose(v, request.Observed{})
			v.Input.Theme = nil
			without, _ := Compose(v, request.Observed{})
			if changed.Revision == d.Revision || without.Revision == d.Revision || len(without.Resources) != resources {
				t.Errorf("want three revisions, and as many resources as without a theme: %s, %s, %s, %d", d.Revision, changed.Revision, without.Revision, resources)
			}
		})
	}
}

func TestValidateTheme(t *testing.T) {
	cases := map[string]struct {
		reason string
		theme  map[string]string
		want   string
	}{
		"Unknown": {reason: "mdBook would ignore the file", theme: map[string]string{"css/custom.css": ""}, want: `input.theme: Unsupported value: "css/custom.css": supported values: "ayu-highlight.css", "book.js", `},
		"Binary":  {reason: "A file of bytes that are not text", theme: map[string]string{"favicon.png": ""}, want: `input.theme: Unsupported value: "favicon.png": `},
		"Control": {reason: "The API server would change the text", theme: map[string]string{"head.hbs": "\u0085"}, want: "input.theme[head.hbs]: Invalid value: remove the control character"},
		"Large":   {reason: "A pod has at most 256 KiB of annotations", theme: map[string]string{"book.js": strings.Repeat("x", 100<<10), "head.hbs": strings.Repeat("x", 28<<10+1)}, want: "input.theme: Forbidden: shorten the files, or serve them elsewhere and link to them in head.hbs: they have more than 128 KiB (131072 bytes)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Theme = tc.theme
			got := viewtest.Messages(validate.Request(request.Request{View: v}))
			if len(got) != 1 || !strings.Contains(got[0], tc.want) {
				t.Errorf("\n%s\nvalidate(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

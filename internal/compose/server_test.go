package compose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

// composedDeployment returns the Deployment of a view, and the errors of its Input.
func composedDeployment(v view.View) (*appsv1.Deployment, []string) {
	d, problems := Compose(v, request.Observed{})
	if len(problems) > 0 {
		return nil, viewtest.Messages(problems)
	}

	return d.Deployment, nil
}

func TestServer(t *testing.T) {
	v := viewtest.View()
	v.Spec.Resources.Limits = viewtest.List("memory", "1Gi")
	v.Input.Server = &v1beta1.Server{}
	d, errs := composedDeployment(v)
	if errs != nil {
		t.Fatal(errs)
	}
	pod := d.Spec.Template.Spec
	if len(pod.InitContainers) != 1 || len(pod.Containers) != 1 {
		t.Fatalf("want an init container and a container, got %v and %v", pod.InitContainers, pod.Containers)
	}
	builder, server := pod.InitContainers[0], pod.Containers[0]

	if diff := cmp.Diff([]string{"mdbook", "build", "--dest-dir", "/book/book"}, append(builder.Command, builder.Args...)); diff != "" {
		t.Errorf("mdBook builds the book: -want, +got:\n%s", diff)
	}
	if builder.LivenessProbe != nil || builder.ReadinessProbe != nil || builder.StartupProbe != nil || builder.Lifecycle != nil {
		t.Error("Kubernetes rejects probes of an init container")
	}
	if got := builder.Resources.Limits.Memory().String(); got != "1Gi" {
		t.Errorf("mdBook has the resources of the MarkdownView: got a limit of %s", got)
	}
	if got := server.Resources.Requests.Memory().String(); got != "16Mi" {
		t.Errorf("The web server has resources of its own: got a request of %s", got)
	}
	mounts := map[string]bool{}
	for _, m := range server.VolumeMounts {
		mounts[m.Name+" "+m.MountPath] = m.ReadOnly
	}
	if diff := cmp.Diff(map[string]bool{"output /usr/share/nginx/html": true, "tmp /tmp": false}, mounts); diff != "" {
		t.Errorf("The web server reads the book and writes temporary files: -want, +got:\n%s", diff)
	}
	if got := server.Lifecycle.PreStop.Sleep.Seconds; got >= *pod.TerminationGracePeriodSeconds {
		t.Errorf("The web server must have time to stop: it waits %d of %d seconds", got, *pod.TerminationGracePeriodSeconds)
	}
	for _, c := range []corev1.Container{builder, server} {
		if s := c.SecurityContext; s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Capabilities.Drop[0] != "ALL" {
			t.Errorf("Container %s is not restricted: %v", c.Name, s)
		}
	}
}

// TestServerArgs checks that the web server gets its command and arguments as they are
// written.
func TestServerArgs(t *testing.T) {
	for arg, want := range map[string]string{
		"plain": "plain", "$(cat /port)": "$$(cat /port)", "$$": "$$$$", "$": "$$", "${X}": "$${X}", "$$(X)": "$$$$(X)",
	} {
		v := viewtest.View()
		v.Input.Server = &v1beta1.Server{Command: []string{arg}, Args: []string{arg}}
		d, errs := composedDeployment(v)
		if errs != nil {
			t.Fatal(errs)
		}
		server := d.Spec.Template.Spec.Containers[0]
		if server.Command[0] != want || server.Args[0] != want {
			t.Errorf("%q: want %q, which Kubernetes expands to the original text, got %q and %q", arg, want, server.Command, server.Args)
		}
	}
}

// TestServerTemplates checks which parts of a pod with a web server a template must not
// remove.
func TestServerTemplates(t *testing.T) {
	cases := map[string]struct {
		reason   string
		template string
		want     string
	}{
		"Sidecar":    {reason: "With a web server, mdBook runs in an init container", template: `{containers: [{name: mdbook, env: [{name: A, value: b}]}]}`, want: "containers[mdbook]: Forbidden: with input.server, mdBook runs in an init container: move this to initContainers"},
		"NoServer":   {reason: "The pod needs the web server", template: `{containers: [{name: server, $patch: delete}, {name: x, image: other}]}`, want: "containers: Required value: a template cannot remove the container server or its image"},
		"NoPort":     {reason: "The Service needs the port", template: `{containers: [{name: server, ports: [{containerPort: 8080, $patch: delete}], startupProbe: null, readinessProbe: null, livenessProbe: null}]}`, want: "containers[server].ports: Required value: the Service needs the port named http: keep it"},
		"NoBuilder":  {reason: "The pod needs mdBook", template: `{initContainers: [{name: mdbook, $patch: delete}]}`, want: "initContainers: Required value: a template cannot remove the container mdbook or its image"},
		"NoTempDir":  {reason: "The web server mounts the volume for temporary files", template: `{volumes: [{name: tmp, $patch: delete}]}`, want: "containers[server].volumeMounts[1].name: Not found"},
		"NoDocument": {reason: "The web server mounts the volume with the built book", template: `{volumes: [{name: output, $patch: delete}]}`, want: "containers[server].volumeMounts[0].name: Not found"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Server = &v1beta1.Server{}
			v.Input.Templates.Deployment = viewtest.Template(t, "{spec: {template: {spec: "+tc.template+"}}}")
			_, errs := composedDeployment(v)
			if !strings.Contains(strings.Join(errs, "\n"), "input.templates.deployment.spec.template.spec."+tc.want) {
				t.Errorf("\n%s\ncompose(): want %q, got %q", tc.reason, tc.want, errs)
			}
		})
	}
}

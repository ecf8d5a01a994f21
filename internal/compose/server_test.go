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
	if diff := cmp.Diff(map[string]bool{"output /usr/share/nginx/html": true, "tmp /tmp": false, "nginx /etc/markdownview": true}, mounts); diff != "" {
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

// TestServerListens checks that nginx listens on IPv6 if the Service has an address of
// IPv6: it does not start with an IPv6 address on a node without IPv6. A rollout must not
// start while the Service does not exist.
func TestServerListens(t *testing.T) {
	cases := map[string]struct {
		reason              string
		service, deployment string
		want                bool
	}{
		"First":   {reason: "There is no Service yet"},
		"IPv4":    {reason: "The Service has only IPv4", service: `{spec: {ipFamilies: [IPv4]}}`},
		"IPv6":    {reason: "The Service has IPv6", service: `{spec: {ipFamilies: [IPv4, IPv6]}}`, want: true},
		"Deleted": {reason: "Somebody has deleted the Service", deployment: `{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/nginx.conf: "listen [::]:8080;"}}}}}`, want: true},
		"Mutable": {reason: "nginx did not listen on IPv6 before", deployment: `{spec: {template: {metadata: {annotations: {markdownview.fn.crossplane.io/nginx.conf: "listen 8080;"}}}}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v, o := viewtest.View(), request.Observed{}
			v.Input.Server = &v1beta1.Server{}
			if tc.service != "" {
				o.Service = viewtest.Decode[request.ObservedService](t, tc.service)
			}
			if tc.deployment != "" {
				o.Deployment = viewtest.Decode[request.ObservedDeployment](t, tc.deployment)
			}
			d, problems := Compose(v, o)
			if len(problems) > 0 {
				t.Fatal(viewtest.Messages(problems))
			}
			config := d.Deployment.Spec.Template.Annotations[view.AnnotationNginx]
			if got := strings.Contains(config, "listen [::]:8080;"); got != tc.want || !strings.Contains(config, "listen 8080;") {
				t.Errorf("\n%s\nlistens on IPv6: want %t, got:\n%s", tc.reason, tc.want, config)
			}
		})
	}
}

// TestServerOwn checks that a server with a configuration of its own gets none, and has the
// book below its path.
func TestServerOwn(t *testing.T) {
	v := viewtest.View()
	v.Input = *viewtest.Decode[v1beta1.Input](t, `{server: {image: registry.example.com/caddy, documentRoot: /srv}, ingress: {host: example.com, path: "/{namespace}/{name}/"}}`)
	d, errs := composedDeployment(v)
	if errs != nil {
		t.Fatal(errs)
	}
	template := d.Spec.Template
	server := template.Spec.Containers[0]
	if len(template.Annotations[view.AnnotationNginx])+len(server.Command) > 0 || len(server.VolumeMounts) != 2 || len(template.Spec.Volumes) != 3 {
		t.Errorf("want no configuration of nginx, got %v", template)
	}
	if got, want := server.VolumeMounts[0].MountPath, "/srv/default/sample"; got != want {
		t.Errorf("mount of the book: want %q, got %q", want, got)
	}
	if got, want := server.ReadinessProbe.HTTPGet.Path, "/default/sample/"; got != want {
		t.Errorf("probe: want %q, got %q", want, got)
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
		"NoConfig":   {reason: "nginx mounts the volume with its configuration", template: `{volumes: [{name: nginx, $patch: delete}]}`, want: "containers[server].volumeMounts[2].name: Not found"},
		"Sidecar":    {reason: "With a web server, mdBook runs in an init container", template: `{containers: [{name: mdbook, env: [{name: A, value: b}]}]}`, want: "containers[mdbook]: Forbidden: move this to initContainers: with input.server, mdBook runs in an init container"},
		"NoServer":   {reason: "The pod needs the web server", template: `{containers: [{name: server, $patch: delete}, {name: x, image: other}]}`, want: "containers: Required value: keep the container server and its image: a template cannot remove them"},
		"NoPort":     {reason: "The Service needs the port", template: `{containers: [{name: server, ports: [{containerPort: 8080, $patch: delete}], startupProbe: null, readinessProbe: null, livenessProbe: null}]}`, want: "containers[server].ports: Required value: keep the port named http: the Service needs it"},
		"NoBuilder":  {reason: "The pod needs mdBook", template: `{initContainers: [{name: mdbook, $patch: delete}]}`, want: "initContainers: Required value: keep the container mdbook and its image: a template cannot remove them"},
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

package validate

import (
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestValidateServer(t *testing.T) {
	for name, tc := range map[string]struct {
		reason       string
		server       v1beta1.Server
		listen, want string
	}{
		"Listen":   {reason: "With a web server, mdBook does not listen", listen: "::", want: "input.listenAddress: Forbidden: remove it, and set the address in the configuration of the web server"},
		"Image":    {reason: "An image must be a reference", server: v1beta1.Server{Image: "No Image"}, want: "input.server.image: Invalid value"},
		"Port":     {reason: "A port must be at most 65535", server: v1beta1.Server{Port: 65536}, want: "input.server.port: Invalid value: 65536: must be between 1 and 65535, inclusive"},
		"Relative": {reason: "A mount needs a full path", server: v1beta1.Server{DocumentRoot: "html"}, want: "input.server.documentRoot: Invalid value: \"html\": must be the full path of a directory"},
		"Root":     {reason: "The book would hide the file system of the image", server: v1beta1.Server{DocumentRoot: "/"}, want: "input.server.documentRoot: Invalid value"},
		"Parent":   {reason: "A path must not have \"..\"", server: v1beta1.Server{DocumentRoot: "/srv/../tmp"}, want: "input.server.documentRoot: Invalid value"},
		"Colon":    {reason: "Kubernetes rejects a colon", server: v1beta1.Server{DocumentRoot: "/a:b"}, want: "input.server.documentRoot: Invalid value"},
		"Longest":  {reason: "A path can have 1,024 characters", server: v1beta1.Server{DocumentRoot: "/" + strings.Repeat("a", 1023)}},
		"Long":     {reason: "One character more", server: v1beta1.Server{DocumentRoot: "/" + strings.Repeat("a", 1024)}, want: "input.server.documentRoot: Invalid value"},
		"Temp":     {reason: "Two volumes cannot have the same path", server: v1beta1.Server{DocumentRoot: "/tmp"}, want: "input.server.documentRoot: Invalid value: \"/tmp\": name another directory: the server writes temporary files here"},
		"Args":     {reason: "An argument of a process cannot have NUL", server: v1beta1.Server{Args: []string{"ok", "\x00"}}, want: "input.server.args[1]: Invalid value: remove the control character"},
		"Command":  {reason: "The API server would change a control character", server: v1beta1.Server{Command: []string{"\u0085"}}, want: "input.server.command[0]: Invalid value: remove the control character"},
		"Resources": {
			reason: "A request above its limit", server: v1beta1.Server{Resources: &v1beta1.Resources{Requests: viewtest.List("cpu", "2"), Limits: viewtest.List("cpu", "1")}},
			want: "input.server.resources.requests[cpu]: Invalid value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewtest.View()
			v.Input.Server, v.Input.ListenAddress = &tc.server, tc.listen
			got := strings.Join(viewtest.Messages(Request(request.Request{View: v})), "\n")
			if !strings.HasPrefix(got, tc.want) || strings.Contains(got, "\n") || (got == "") != (tc.want == "") {
				t.Errorf("\n%s\nvalidate(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

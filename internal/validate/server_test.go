package validate

import (
	"strings"
	"testing"
)

func TestValidateServer(t *testing.T) {
	root := func(path string) string { return `{server: {documentRoot: "` + path + `"}}` }
	const (
		control = ": Invalid value: remove the control character, which the API server would reject or change"
		invalid = "input.server.documentRoot: Invalid value: "
		full    = ": must be the full path of a directory, such as /usr/share/nginx/html"
	)
	checkFields(t, map[string]fieldCase{
		"Listen": {
			reason: "With a web server, mdBook does not listen", input: `{listenAddress: "::", server: {}}`,
			want: "input.listenAddress: Forbidden: remove it, and set the address in the configuration of the web server: " +
				"it has no effect with server",
		},
		"Image": {
			reason: "An image must be a reference", input: `{server: {image: No Image}}`,
			want: `input.server.image: Invalid value: "No Image": write an image reference …`,
		},
		"Port": {
			reason: "A port must be at most 65535", input: `{server: {port: 65536}}`,
			want: "input.server.port: Invalid value: 65536: must be between 1 and 65535, inclusive",
		},
		"Relative": {reason: "A mount needs a full path", input: root("html"), want: invalid + `"html"` + full},
		"Root":     {reason: "The book would hide the file system of the image", input: root("/"), want: invalid + `"/"` + full},
		"Parent":   {reason: `A path must not have ".."`, input: root("/srv/../tmp"), want: invalid + `"/srv/../tmp"` + full},
		"Colon":    {reason: "Kubernetes rejects a colon", input: root("/a:b"), want: invalid + `"/a:b"` + full},
		"Longest":  {reason: "A path can have 1,024 characters", input: root("/" + strings.Repeat("a", 1023))},
		"Long":     {reason: "One character more", input: root("/" + strings.Repeat("a", 1024)), want: invalid + `"/aaa…`},
		"Temp": {
			reason: "Two volumes cannot have the same path", input: root("/tmp"),
			want: invalid + `"/tmp": name another directory: the server writes temporary files here`,
		},
		"Args": {
			reason: "An argument of a process cannot have NUL", input: `{server: {args: [ok, "\0"]}}`,
			want: "input.server.args[1]" + control,
		},
		"Command": {
			reason: "The API server would change a control character", input: `{server: {command: ["\x85"]}}`,
			want: "input.server.command[0]" + control,
		},
		"Resources": {
			reason: "A request above its limit", input: `{server: {resources: {requests: {cpu: 2}, limits: {cpu: 1}}}}`,
			want: `input.server.resources.requests[cpu]: Invalid value: "2": must not be above the limit 1`,
		},
	})
}

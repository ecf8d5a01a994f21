// Package web has what a web server needs to serve a book: the configuration of nginx.
package web

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

const (
	// Image listens on port 8080 as any user, and writes only below /tmp.
	Image = "docker.io/nginxinc/nginx-unprivileged:1.28.0-alpine-slim"
	// Port is where the image listens without our configuration.
	Port = 8080
)

//go:embed nginx.conf
var source string

// Configures returns whether the function composes the configuration of a server: of
// nginx-unprivileged, in any version and from any registry, unless the Input sets what
// another configuration may need.
func Configures(s v1beta1.Server) bool {
	if s.DocumentRoot != "" && s.DocumentRoot != view.ServerRoot || len(s.Command)+len(s.Args) > 0 {
		return false
	}
	named, err := reference.ParseNormalizedNamed(s.Image)
	if err != nil {
		return s.Image == ""
	}
	repository := "/" + reference.Path(named)

	return strings.HasSuffix(repository, "/nginxinc/nginx-unprivileged") || strings.HasSuffix(repository, "/nginx/nginx-unprivileged")
}

// Nginx returns a configuration of nginx, which serves the folder view.ServerRoot. path
// begins and ends with a slash, and has no characters that are special for nginx.
func Nginx(port int32, path string, ipv6 bool) string {
	path = strings.TrimSuffix(path, "/")
	var config strings.Builder
	for line := range strings.Lines(source) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "#"),
			strings.Contains(text, "[::]") && !ipv6,
			strings.HasPrefix(text, "location ") && path == "":
			continue
		}
		config.WriteString(line)
	}

	return strings.NewReplacer("PORT", fmt.Sprint(port), "/PATH", path, "/QUOTED", regexp.QuoteMeta(path)).Replace(config.String())
}

package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/function-markdownview/book"
	"github.com/crossplane-contrib/function-markdownview/fn"
)

// TestSettings checks that mdBook reads the settings of a MarkdownView unchanged:
// mdBook parses variables as JSON, and Kubernetes expands $(NAME).
func TestSettings(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	type page struct {
		settings object
		name     string
		want     []string
	}
	var pages []page
	index := func(settings object, want ...string) { pages = append(pages, page{settings, "index.html", want}) }
	index(object{"repositoryUrl": "https://example.com/a/$(HOME)?b=1&c#d"}, `href="https://example.com/a/$(HOME)?b=1&c#d"`)
	index(object{"editUrlTemplate": "https://a.b/edit?file={path}&b=$(HOME)"}, `href="https://a.b/edit?file=src/a.md&b=$(HOME)"`)
	index(object{"language": "ja", "textDirection": "rtl"}, `lang="ja"`, `dir="rtl"`)
	index(object{"defaultTheme": "coal", "preferredDarkTheme": "ayu"}, `class="coal`, `"ayu"`)
	for _, odd := range []string{
		"My Book", "123", "-1.5e3", "true", "null", "{}", `{"a":1}`, "[1]", `"quoted"`, "$(HOME)", "$$(HOME) $ $$ ${HOME}", `back\slash \n`,
		"一冊の本 📖", "a <b> & c", " spaces ", "''", "#", "key = \"value\"", strings.Repeat("一", 256),
	} {
		index(object{"title": odd, "description": odd, "authors": []any{odd, odd}}, "Chapter - "+odd, `content="`+odd+`"`)
	}
	for _, r := range []struct{ from, to, want string }{
		{from: "/old.html", to: "/a.html#part", want: "./a.html#part"},
		{from: "/guide/$(HOME)/古い x.html", to: "/a.html", want: "../../a.html"},
		{from: "/guide/old.html", to: "../a.html?x#y", want: "../a.html?x#y"},
		{from: "/guide/old.html", to: "../../../guide/", want: "../guide/"},
		{from: "/guide/old.html", to: "/", want: "../"},
		{from: "/old.html", to: "https://example.com:8443/$(HOME)/一?x#y", want: "https://example.com:8443/$(HOME)/一?x#y"},
	} {
		settings := object{"redirects": object{r.from: r.to}}
		pages = append(pages, page{settings, r.from, []string{`content="0; URL=` + r.want + `"`}})
	}
	files := map[string]string{"SUMMARY.md": "- [Chapter](a.md)\n", "a.md": "# Chapter\n"}
	for version, m := range mdbooks(t) {
		for i, p := range pages {
			t.Run(fmt.Sprint(version, "/", i), func(t *testing.T) {
				t.Parallel()
				pod := compose(t, object{"markdowns": onePage()["markdowns"], "book": p.settings}, nil)
				output, err := m.build(t, book.Files{Markdowns: files}, environment(pod.Containers[0])...)
				must(t, err)
				b, err := os.ReadFile(filepath.Join(output, p.name))
				must(t, err)
				text := html.UnescapeString(string(b))
				for _, want := range p.want {
					if !strings.Contains(text, want) {
						t.Errorf("%v: want %s, got:\n%s", p.settings, want, text[:min(len(text), 9000)])
					}
				}
			})
		}
	}
}

// compose returns the pod that the function composes for a spec and an Input.
func compose(t *testing.T, spec, input map[string]any) corev1.PodSpec {
	t.Helper()

	return composed[appsv1.Deployment](t, respond(t, request(t, "sample", spec, input)), "deployment").Spec.Template.Spec
}

// request returns a request for a MarkdownView in the namespace default.
func request(t *testing.T, name string, spec, input map[string]any) *fnv1.RunFunctionRequest {
	t.Helper()
	req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: object(t, map[string]any{
		"apiVersion": "markdownview.fn.crossplane.io/v1alpha1", "kind": "MarkdownView",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec,
	})}}}
	if input != nil {
		req.Input = object(t, input)
	}

	return req
}

func object(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	must(t, err)

	return s
}

func respond(t *testing.T, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp, err := fn.New(logging.NewNopLogger(), 0).RunFunction(t.Context(), req)
	must(t, err)

	return rsp
}

// composed returns the composed resource with a key.
func composed[T any](t *testing.T, rsp *fnv1.RunFunctionResponse, key string) *T {
	t.Helper()
	into, resource := new(T), rsp.GetDesired().GetResources()[key].GetResource()
	if resource == nil {
		t.Fatalf("want a composed %s, got results %v", key, rsp.GetResults())
	}
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(resource.AsMap(), into))

	return into
}

// environment returns the environment variables of a container as the kubelet sets
// them.
func environment(c corev1.Container) []string {
	var env []string
	for _, v := range c.Env {
		// The kubelet expands $(NAME), and reads $$ as $.
		value := strings.ReplaceAll(strings.ReplaceAll(v.Value, "$$", "\x00"), "$(HOME)", "/replaced")
		env = append(env, v.Name+"="+strings.ReplaceAll(value, "\x00", "$"))
	}

	return env
}

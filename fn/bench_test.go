package fn_test

import (
	"fmt"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/crossplane-contrib/function-markdownview/internal/compose"
	"github.com/crossplane-contrib/function-markdownview/internal/judge"
	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/response"
	"github.com/crossplane-contrib/function-markdownview/internal/validate"
	"github.com/crossplane-contrib/function-markdownview/test/cluster"
)

// BenchmarkRespond measures a call for books of 2, 100 and 900 KiB that are served, and
// BenchmarkStep its steps. make bench BASE=main compares them with those of another commit.
func BenchmarkRespond(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		for b.Loop() {
			if _, err := function.Respond(message); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkStep(b *testing.B) {
	sizes(b, func(b *testing.B, message []byte) {
		b.Helper()
		req, err := request.Read(message)
		d, problems := compose.Compose(req.View, req.Observed)
		if err != nil || len(problems) > 0 {
			b.Fatal(err, problems)
		}
		v := judge.Judge(req.View, req.Observed, d, 0)
		for name, step := range map[string]func(){
			"read":     func() { _, _ = request.Read(message) },
			"validate": func() { validate.Request(req) },
			"compose":  func() { compose.Compose(req.View, req.Observed) },
			"judge":    func() { judge.Judge(req.View, req.Observed, d, 0) },
			"write":    func() { response.Write(req, d, v) },
		} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
			})
		}
	})
}

func sizes(b *testing.B, step func(b *testing.B, message []byte)) {
	b.Helper()
	for _, kib := range []int{2, 100, 900} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			b.ReportAllocs()
			step(b, marshal(b, servedBook(b, kib<<10)))
		})
	}
}

// servedBook returns a request for a book that is served. The book has ten files of size
// bytes in total.
func servedBook(t testing.TB, size int) *fnv1.RunFunctionRequest {
	t.Helper()
	files, summary := object{}, strings.Builder{}
	for i := range 9 {
		fmt.Fprintf(&summary, "- [Chapter](chapter-%d.md)\n", i)
		files[fmt.Sprintf("chapter-%d.md", i)] = strings.Repeat("*x* ", size/10/4)
	}
	fmt.Fprintf(&summary, "\n%s\n", strings.Repeat("x", size/10))
	files["SUMMARY.md"] = summary.String()

	return served(t, object{"markdowns": files, "replicas": 2.0})
}

// served returns a request for a MarkdownView whose pods serve the book.
func served(t testing.TB, spec object) *fnv1.RunFunctionRequest {
	t.Helper()
	c := cluster.New(t, viewOf(spec), nil, run)
	c.Settle()

	return c.Request()
}

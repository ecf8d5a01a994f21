package folder

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComplete(t *testing.T) {
	const given = "metadata: {name: handbook, namespace: team}\n"
	object := map[string]any{"metadata": map[string]any{"name": "handbook", "namespace": "team"}}
	cases := map[string]struct {
		reason    string
		view      View
		file, dir string
		want      View
		err       string
	}{
		"Folder":    {reason: "The folder has the name.", dir: "/x/My Docs!", want: View{Name: "my-docs"}},
		"Long":      {reason: "A name of a folder can be longer than that of a Service.", dir: strings.Repeat("a", 49) + "-" + "bbb", want: View{Name: strings.Repeat("a", 49)}},
		"NoLetters": {reason: "A name needs a letter.", dir: "第一章", want: View{Name: "book"}},
		"File":      {reason: "The file has the name and the namespace.", file: given, dir: "docs", want: View{Name: "handbook", Namespace: "team", Object: object}},
		"Flags":     {reason: "Flags take precedence.", view: View{Name: "pr-1", Namespace: "preview"}, file: given, dir: "docs", want: View{Name: "pr-1", Namespace: "preview", Object: object}},
		"BadName":   {reason: "Kubernetes would reject it.", view: View{Name: "My_Docs"}, err: `set --name to at most 63 lowercase letters, digits and hyphens: "My_Docs" is not a valid name`},
		"BadFile":   {reason: "The file is not YAML.", file: "a: b: c", err: "cannot read view.yaml: error converting YAML to JSON: yaml: mapping values are not allowed in this context"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			file := ""
			if tc.file != "" {
				file = "view.yaml"
				must(t, os.WriteFile(file, []byte(tc.file), 0o600))
			}
			got, err := tc.view.Complete(file, tc.dir)
			problem := ""
			if err != nil {
				got, problem = View{}, err.Error()
			}
			if diff := cmp.Diff([]any{tc.want, tc.err}, []any{got, problem}); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.reason, diff)
			}
		})
	}
}

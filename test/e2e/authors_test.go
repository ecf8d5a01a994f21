package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// sh runs a shell command of an author in a folder, with the programs of this repository. It
// returns its output.
func (k *kit) sh(dir, command string, env ...string) (string, error) {
	k.Helper()
	cmd := exec.CommandContext(k.Context(), "bash", "-e", "-o", "pipefail", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "KUBECONFIG="+k.kubeconfig, "NAMESPACE="+k.namespace, "PATH="+k.Bin+":"+os.Getenv("PATH"))...)
	out, err := cmd.CombinedOutput()

	return string(out), err
}

// Authors checks the ways from a folder to a book: packed and applied, with Kustomize, and as
// the preview of a pull request.
func Authors(k *kit) {
	root := filepath.Join("..", "..")
	out, err := k.sh(root, `markdownview pack docs | kubectl --namespace "$NAMESPACE" apply -f -`)
	if err != nil {
		k.Fatalf("%v: %s", err, out)
	}
	k.settle("docs")
	if k.loopback != nil && k.RealNode() {
		k.servedAt("docs", "/upgrade.html", "Upgrade")
	}

	if out, err = k.sh(root, `kubectl --namespace "$NAMESPACE" apply -k example/authors`); err != nil {
		k.Fatalf("%v: %s", err, out)
	}
	k.settle("handbook")
	k.previewed(root)
	k.settle("docs", "handbook")
	if k.loopback != nil && k.RealNode() {
		k.pushed(root)
	}
}

// pushed checks that a book that is packed as an image is served.
func (k *kit) pushed(root string) {
	k.Helper()
	const name, repository = "pushed", "registry.example.com/team/handbook"
	out, err := k.sh(root, "markdownview pack example/authors/handbook --plain-http --push "+k.Registry+"/team/handbook:v1")
	_, digest, found := strings.Cut(strings.TrimSpace(out), "@")
	if err != nil || !found {
		k.Fatalf("%v: %s", err, out)
	}
	composition := k.composition(name, kind, ours(map[string]any{"allowedBookImages": []any{repository}}))
	k.apply(book(name, composedBy(composition), fromImage(repository+"@"+digest)))
	k.settle(name)
	k.servedAt(name, "/guide/set-up.html", "Install the tools")
}

// previewed runs the workflow that previews a pull request.
func (k *kit) previewed(root string) {
	k.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	raw, err := os.ReadFile(filepath.Join(root, "example", "authors", "ci", "github-preview.yaml"))
	k.must(err)
	k.must(yaml.Unmarshal(raw, &workflow))
	steps := map[string]string{}
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			steps[step.Name] = step.Run
		}
	}
	const name = "docs-12"
	summary := filepath.Join(k.TempDir(), "summary")
	out, err := k.sh(root, steps["Apply"], "NAME="+name, "GITHUB_STEP_SUMMARY="+summary)
	if err != nil {
		k.Fatalf("%v: %s", err, out)
	}
	k.settle(name)
	url, err := os.ReadFile(summary)
	k.must(err)
	k.check(equal("url", "http://viewer-"+name+"."+k.namespace+".svc", string(url)))
	if out, err = k.sh(root, steps["Delete"], "NAME="+name); err != nil {
		k.Fatalf("%v: %s", err, out)
	}
	k.eventually("the preview is deleted", func() error { return k.gone(&corev1.ConfigMap{}, "markdowns-"+name) })
}

// A checkedFolder has what "markdownview check" says of a folder.
type checkedFolder struct{ errors, warnings []string }

// Checked checks that "markdownview check" reports the same as the function, for random
// folders and for the cases of package book.
func Checked(k *kit) {
	dir := k.TempDir()
	folders := k.writeFolders(dir)
	out, err := k.sh(dir, "markdownview check --format sarif * > check.sarif || [ $? = 1 ]")
	if err != nil {
		k.Fatalf("%v: %s", err, out)
	}
	checked := k.readSARIF(filepath.Join(dir, "check.sarif"))
	least := 200
	if k.realPods { // So many pods would take too long. A book with errors has none.
		least = 50
		folders = slices.DeleteFunc(folders, func(name string) bool {
			return len(checked[name].errors) == 0 && os.RemoveAll(filepath.Join(dir, name)) == nil
		})
	}
	// The API server rejects some of them.
	rejected, _ := k.sh(dir, `for folder in */; do markdownview pack $folder; done | kubectl --namespace "$NAMESPACE" apply -f -`)
	compared := 0
	for _, name := range folders {
		want := checked[name]
		if _, err := k.view(name); client.IgnoreNotFound(err) == nil && err != nil {
			if len(want.errors) == 0 || !strings.Contains(rejected, name) {
				k.Errorf("%s: the API server rejects the book, and check reports %q", name, want)
			}

			continue
		}
		compared++
		v := k.until(name, "is checked", func(v *markdownView) error {
			if v.condition("Degraded").Status == "" {
				return fmt.Errorf("no condition Degraded")
			}

			return nil
		})
		var degraded, incomplete string
		if c := v.condition("Degraded"); c.Status == metav1.ConditionTrue {
			degraded = c.Message
		}
		if c := v.condition("BookComplete"); c.Status == metav1.ConditionFalse {
			incomplete = strings.TrimPrefix(c.Message, "The book has problems: ")
		}
		k.sameTexts(name, degraded, want.errors)
		k.sameTexts(name, incomplete, want.warnings)
	}
	k.Logf("%d of %d books are compared", compared, len(folders))
	if compared < least {
		k.Errorf("only %d books are compared", compared)
	}
}

// writeFolders writes the folders, and returns their names.
func (k *kit) writeFolders(dir string) (names []string) {
	k.Helper()
	_, err := k.run("samples", dir, "--folders", "--n=240")
	k.must(err)
	var cases []struct {
		Summary  *string           `json:"summary"`
		Files    []string          `json:"files"`
		Texts    map[string]string `json:"texts"`
		Binaries []string          `json:"binaries"`
	}
	raw, err := os.ReadFile("../../book/testdata/cases.yaml")
	k.must(err)
	k.must(yaml.Unmarshal(raw, &cases))
	for i, c := range cases {
		files := map[string]string{}
		for _, name := range c.Files {
			files[name] = "text"
		}
		for _, name := range c.Binaries {
			files[name] = "\xff"
		}
		for name, text := range c.Texts {
			files[name] = text
		}
		if c.Summary != nil {
			files["SUMMARY.md"] = *c.Summary
		}
		for name, text := range files {
			if !filepath.IsLocal(name) || path.Clean(name) != name {
				continue // A folder cannot have this name.
			}
			file := filepath.Join(dir, fmt.Sprintf("case-%d", i), filepath.FromSlash(name))
			if os.MkdirAll(filepath.Dir(file), 0o755) == nil {
				_ = os.WriteFile(file, []byte(text), 0o600)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	k.must(err)
	for _, e := range entries {
		names = append(names, e.Name())
	}

	return names
}

// readSARIF returns what check says of each folder, in the words of the function.
func (k *kit) readSARIF(file string) map[string]checkedFolder {
	k.Helper()
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	raw, err := os.ReadFile(file)
	k.must(err)
	k.must(json.Unmarshal(raw, &log))
	all := map[string]checkedFolder{}
	for _, r := range log.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		folder, _, _ := strings.Cut(at.ArtifactLocation.URI, "/")
		c := all[folder]
		switch {
		case strings.HasPrefix(r.RuleID, "Dead"):
		case r.Level == "error":
			c.errors = append(c.errors, r.Message.Text)
		default:
			c.warnings = append(c.warnings, r.Message.Text)
		}
		all[folder] = c
	}

	return all
}

// sameTexts fails if a message of the function does not have the texts of check, or has
// others. Between them are only the places, such as "SUMMARY.md line 3: ".
func (k *kit) sameTexts(name, message string, texts []string) {
	k.Helper()
	rest := message
	for _, text := range texts {
		before, after, found := strings.Cut(rest, text)
		if !found {
			k.Errorf("%s: check reports %q, which the function does not: %s", name, text, message)
		}
		rest = before + "\n" + after
	}
	if (message == "") != (len(texts) == 0) || strings.Count(rest, "\n") != len(texts) || strings.Count(rest, "; ") > max(0, len(texts)-1) {
		k.Errorf("%s: function: %s\ncheck: %q", name, message, texts)
	}
}

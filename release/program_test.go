package main

import (
	"archive/tar"
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // It has the schema.
	"github.com/xeipuuv/gojsonschema"
	"sigs.k8s.io/yaml"
)

// A project is a folder with the book docs, where the program for authors runs.
type project struct {
	*testing.T

	dir, bin, registry string
}

func newProject(t *testing.T) project {
	t.Helper()
	p := project{t, t.TempDir(), t.TempDir(), ""}
	program := must(filepath.Abs(filepath.Join(dist(t), "markdownview-linux-"+runtime.GOARCH)))
	if err := os.Symlink(program, filepath.Join(p.bin, "markdownview")); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry.New())
	t.Cleanup(server.Close)
	p.registry = strings.TrimPrefix(server.URL, "http://")
	if err := os.CopyFS(filepath.Join(p.dir, "docs"), os.DirFS("../example/authors/handbook")); err != nil {
		t.Fatal(err)
	}

	return p
}

// sh runs a command, and returns its standard output and its exit code.
func (p project) sh(command string, env ...string) (string, int) {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), "bash", "-e", "-o", "pipefail", "-c", command)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), append(env, "PATH="+p.bin+":"+os.Getenv("PATH"), "HOME="+p.dir)...)
	errors := &bytes.Buffer{}
	cmd.Stderr = errors
	out, err := cmd.Output()
	if err != nil {
		p.Logf("%s: %v\n%s", command, err, errors)
	}

	return string(out), cmd.ProcessState.ExitCode()
}

// TestProgram checks the program for authors as authors run it: its version and exit codes,
// and that what it pushes is an image with the files of the folder.
func TestProgram(t *testing.T) {
	p := newProject(t)
	if version, code := p.sh("markdownview --version"); code != 0 || version == "\n" || strings.Contains(version, "devel") {
		t.Errorf("--version: code %d, %q", code, version)
	}
	for _, c := range []struct {
		command string
		code    int
	}{
		{"markdownview check docs", 0},
		{"markdownview check other", 2},
		{"markdownview check docs --no-such-flag", 2},
		{"markdownview pack docs --push registry.example.com", 2},
		{"cp -r docs dead; echo '[dead](x.md)' >> dead/guide.md; markdownview check dead", 1},
		{"markdownview check dead --allow-warnings", 0},
		{"echo '- [A](a.md)' >> dead/SUMMARY.md; markdownview check dead --allow-warnings", 1},
	} {
		if out, code := p.sh(c.command); code != c.code {
			t.Errorf("%s: want exit code %d, got %d\n%s", c.command, c.code, code, out)
		}
	}

	first, code := p.sh("markdownview pack docs --push " + p.registry + "/team/book:v1")
	again, _ := p.sh("touch docs/welcome.md; markdownview pack docs --push " + p.registry + "/team/book:v2")
	if code != 0 || first != again || !regexp.MustCompile(`^`+regexp.QuoteMeta(p.registry)+`/team/book@sha256:[0-9a-f]{64}\n$`).MatchString(first) {
		t.Fatalf("pack --push: code %d, %q, and %q for the same files", code, first, again)
	}
	got := map[string]string{}
	img := p.pull(strings.TrimSpace(first))
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	if m, err := img.Manifest(); err != nil || m.Layers[0].MediaType != types.OCILayer {
		t.Errorf("Flux requires layers in the format of gzip: error %v, manifest %v", err, m)
	}
	walk(t, img, func(h *tar.Header, r io.Reader) {
		content, _ := io.ReadAll(r)
		got[h.Name] = h.FileInfo().Mode().String() + " " + string(content)
	})
	want := map[string]string{"guide": "drwxr-xr-x "}
	for _, file := range []string{"SUMMARY.md", "guide.md", "guide/set-up.md", "welcome.md"} {
		want[file] = "-rw-r--r-- " + string(must(os.ReadFile(filepath.Join(p.dir, "docs", file))))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of the image: -want +got\n%s", diff)
	}
}

func (p project) pull(reference string) v1.Image {
	p.Helper()

	return must(remote.Image(must(name.ParseReference(reference))))
}

// sarifSchema returns the schema of SARIF 2.1.0. The module has it in a constant that is not
// exported, and uses it only for its own types.
func sarifSchema(t *testing.T) gojsonschema.JSONLoader {
	t.Helper()
	dir := must(exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output())
	source := must(os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/report/v210/sarif/schema.go")))
	_, schema, _ := strings.Cut(string(source), "`")

	return gojsonschema.NewStringLoader(schema[:strings.LastIndex(schema, "`")])
}

// gitLabSchema returns GitLab's schema of a pipeline, which this package of npm has.
func gitLabSchema(t *testing.T) gojsonschema.JSONLoader {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", `file=$(npm pack --silent gitlab-ci-local@4.61.1)
		echo "de6dbb860a9436f7513132553db13f835cf9be54333df8f753cce570cb0c316d  $file" | sha256sum --check >&2
		tar xzf "$file"
		echo 'import { schema } from "./package/src/schema/schema.js"; console.log(JSON.stringify(schema))' > print.mjs
		node print.mjs`)
	cmd.Dir = t.TempDir()
	schema, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot get the schema of GitLab with npm: %v", err)
	}

	return gojsonschema.NewBytesLoader(schema)
}

// TestGitLab validates the pipeline of the example with GitLab's schema.
func TestGitLab(t *testing.T) {
	schema, err := gojsonschema.NewSchema(gitLabSchema(t))
	if err != nil {
		t.Fatal(err)
	}
	var pipeline, wrong map[string]any
	read(t, "../example/authors/ci/gitlab.yaml", &pipeline)
	if result, err := schema.Validate(gojsonschema.NewGoLoader(pipeline)); err != nil || !result.Valid() {
		t.Errorf("the schema rejects the example: %v, %v", err, result.Errors())
	}
	read(t, "../example/authors/ci/gitlab.yaml", &wrong)
	wrong["check"].(map[string]any)["rules"] = "always"
	if result, err := schema.Validate(gojsonschema.NewGoLoader(wrong)); err != nil || result.Valid() {
		t.Errorf("the schema accepts a wrong rule: %v", err)
	}
}

// TestSARIF validates what check prints with the schema of SARIF.
func TestSARIF(t *testing.T) {
	schema := sarifSchema(t)
	if result, err := gojsonschema.Validate(schema, gojsonschema.NewStringLoader(`{"version": "2.1.0"}`)); err != nil || result.Valid() {
		t.Fatalf("the schema accepts a log without runs: %v", err)
	}
	p := newProject(t)
	for _, change := range []string{"true", "echo '[dead](x.md) [top](welcome.md#x)' >> 'docs/guide.md'", "echo '- [A](a b.md)' >> docs/SUMMARY.md"} {
		out, _ := p.sh(change + "; markdownview check docs --format sarif")
		result, err := gojsonschema.Validate(schema, gojsonschema.NewStringLoader(out))
		if err != nil || !result.Valid() {
			t.Errorf("%s: %v, %v\n%s", change, err, result.Errors(), out)
		}
		if change != "true" && !strings.Contains(out, `"uri": "docs/`) {
			t.Errorf("%s: no result has a file:\n%s", change, out)
		}
	}
}

// run runs the commands of a job, without those that install the program. The job push prints
// the image that it has pushed.
func (p project) run(job string, commands []string, env ...string) {
	p.Helper()
	script := ""
	for _, c := range commands {
		if !strings.HasPrefix(c, "go install ") {
			script += c + "\n"
		}
	}
	out, code := p.sh(script, env...)
	if code != 0 {
		p.Errorf("exit code %d:\n%s\n%s", code, script, out)
	} else if job == "push" {
		p.pull(strings.TrimSpace(out))
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(must(os.ReadFile(file)), into); err != nil {
		t.Fatal(err)
	}
}

// TestWorkflows runs the commands of the examples for GitHub and GitLab. Their actions, and
// the installation of a release, need the network.
func TestWorkflows(t *testing.T) {
	t.Run("GitHub", func(t *testing.T) {
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct{ Run string }
			}
		}
		read(t, "../example/authors/ci/github.yaml", &workflow)
		p := newProject(t)
		for _, job := range []string{"check", "push"} {
			var commands []string
			for _, step := range workflow.Jobs[job].Steps {
				commands = append(commands, step.Run)
			}
			p.run(job, commands, "IMAGE="+p.registry+"/team/book:main", "GITHUB_STEP_SUMMARY="+filepath.Join(p.dir, "summary"))
		}
	})
	t.Run("GitLab", func(t *testing.T) {
		var pipeline map[string]struct{ Script []string }
		read(t, "../example/authors/ci/gitlab.yaml", &pipeline)
		p := newProject(t)
		for _, job := range []string{"check", "push"} {
			p.run(job, pipeline[job].Script, "CI_REGISTRY="+p.registry, "CI_REGISTRY_IMAGE="+p.registry+"/team", "CI_REGISTRY_USER=me", "CI_REGISTRY_PASSWORD=secret")
		}
	})
}

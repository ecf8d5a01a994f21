package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
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

// TestProgram checks the program for authors as authors run it: its version, and that it pushes
// a valid image with the files of the folder, the same for the same files.
func TestProgram(t *testing.T) {
	p := newProject(t)
	if version, code := p.sh("markdownview --version"); code != 0 || version == "\n" || strings.Contains(version, "devel") {
		t.Errorf("--version: code %d, %q", code, version)
	}
	if _, code := p.sh("markdownview check other"); code != 2 {
		t.Errorf("a folder that does not exist: want exit code 2, got %d", code)
	}

	first, code := p.sh("markdownview pack docs --push " + p.registry + "/team/book:v1")
	again, _ := p.sh("touch docs/welcome.md; markdownview pack docs --push " + p.registry + "/team/book:v2")
	if code != 0 || first != again || !regexp.MustCompile(`^`+regexp.QuoteMeta(p.registry)+`/team/book@sha256:[0-9a-f]{64}\n$`).MatchString(first) {
		t.Fatalf("pack --push: code %d, %q, and %q for the same files", code, first, again)
	}
	img := pull(first)
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	want := map[string]file{"guide": {"drwxr-xr-x 0:0", ""}}
	for _, name := range []string{"SUMMARY.md", "guide.md", "guide/set-up.md", "welcome.md"} {
		want[name] = file{"-rw-r--r-- 0:0", string(must(os.ReadFile(filepath.Join(p.dir, "docs", name))))}
	}
	if diff := cmp.Diff(want, files(t, img), cmp.AllowUnexported(file{})); diff != "" {
		t.Errorf("files of the image: -want, +got:\n%s", diff)
	}
	if m, err := img.Manifest(); err != nil || m.Layers[0].MediaType != types.OCILayer {
		t.Errorf("Flux requires layers in the format of gzip: error %v, manifest %v", err, m)
	}
}

// pull returns the image that a command has printed.
func pull(out string) v1.Image {
	return must(remote.Image(must(name.ParseReference(strings.TrimSpace(out)))))
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(must(os.ReadFile(file)), into); err != nil {
		t.Fatal(err)
	}
}

// TestGitLab validates the pipeline of the example with GitLab's schema, which this package of
// npm has.
func TestGitLab(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", `file=$(npm pack --silent gitlab-ci-local@4.61.1)
		echo "de6dbb860a9436f7513132553db13f835cf9be54333df8f753cce570cb0c316d  $file" | sha256sum --check >&2
		tar xzf "$file"
		echo 'import { schema } from "./package/src/schema/schema.js"; console.log(JSON.stringify(schema))' > print.mjs
		node print.mjs`)
	cmd.Dir = t.TempDir()
	schema := must(gojsonschema.NewSchema(gojsonschema.NewBytesLoader(must(cmd.Output()))))
	var pipeline map[string]any
	read(t, "../example/authors/ci/gitlab.yaml", &pipeline)
	if result, err := schema.Validate(gojsonschema.NewGoLoader(pipeline)); err != nil || !result.Valid() {
		t.Errorf("the schema rejects the example: %v, %v", err, result.Errors())
	}
	pipeline["check"].(map[string]any)["rules"] = "always"
	if result, err := schema.Validate(gojsonschema.NewGoLoader(pipeline)); err != nil || result.Valid() {
		t.Errorf("the schema accepts a wrong rule: %v", err)
	}
}

// TestSARIF validates what check prints with the schema of SARIF 2.1.0. The module has it in a
// constant that is not exported, and uses it only for its own types.
func TestSARIF(t *testing.T) {
	dir := must(exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3").Output())
	source := must(os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/report/v210/sarif/schema.go")))
	text := strings.Split(string(source), "`")[1]
	schema := must(gojsonschema.NewSchema(gojsonschema.NewStringLoader(text)))
	if result, err := schema.Validate(gojsonschema.NewStringLoader(`{"version": "2.1.0"}`)); err != nil || result.Valid() {
		t.Fatalf("the schema accepts a log without runs: %v", err)
	}
	p := newProject(t)
	for _, change := range []string{"", "echo '[dead](x.md) [top](welcome.md#x)' >> 'docs/guide.md'; ", "echo '- [A](a b.md)' >> docs/SUMMARY.md; "} {
		out, code := p.sh(change + "markdownview check docs --format sarif")
		result, err := schema.Validate(gojsonschema.NewStringLoader(out))
		if err != nil || !result.Valid() {
			t.Errorf("%s: %v, %v\n%s", change, err, result.Errors(), out)
		}
		if problems := change != ""; problems != strings.Contains(out, `"uri": "docs/`) || problems != (code == 1) {
			t.Errorf("%s: want problems %t, got exit code %d and:\n%s", change, problems, code, out)
		}
	}
}

// TestWorkflows runs the commands of the examples for GitHub and GitLab, without those that
// install the program. Their actions, and the installation of a release, need the network.
func TestWorkflows(t *testing.T) {
	var github struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	var gitlab map[string]struct{ Script []string }
	read(t, "../example/authors/ci/github.yaml", &github)
	read(t, "../example/authors/ci/gitlab.yaml", &gitlab)
	for _, job := range []string{"check", "push"} {
		var steps []string
		for _, step := range github.Jobs[job].Steps {
			steps = append(steps, step.Run)
		}
		for host, commands := range map[string][]string{"GitHub": steps, "GitLab": gitlab[job].Script} {
			t.Run(host+"/"+job, func(t *testing.T) {
				p := newProject(t)
				commands = slices.DeleteFunc(commands, func(c string) bool { return strings.HasPrefix(c, "go install ") })
				out, code := p.sh(strings.Join(commands, "\n"),
					"IMAGE="+p.registry+"/team/book:main", "GITHUB_STEP_SUMMARY="+filepath.Join(p.dir, "summary"),
					"CI_REGISTRY="+p.registry, "CI_REGISTRY_IMAGE="+p.registry+"/team", "CI_REGISTRY_USER=me", "CI_REGISTRY_PASSWORD=secret")
				if code != 0 {
					t.Errorf("exit code %d:\n%s\n%s", code, commands, out)
				} else if job == "push" {
					pull(out)
				}
			})
		}
	}
}

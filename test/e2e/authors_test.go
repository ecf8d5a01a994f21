package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
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

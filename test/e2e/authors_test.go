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
func (k *kit) sh(dir, command string, env ...string) string {
	k.Helper()
	cmd := exec.CommandContext(k.Context(), "bash", "-e", "-o", "pipefail", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "KUBECONFIG="+k.kubeconfig, "NAMESPACE="+k.namespace, "PATH="+k.Bin+":"+os.Getenv("PATH"))...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		k.Fatalf("%v: %s", err, out)
	}

	return string(out)
}

// Authors checks the ways from a folder to a book: packed and applied, with Kustomize, and as
// the preview of a pull request. On a real node, it checks also that a book that is packed as an
// image is served.
func Authors(k *kit) {
	const root, name = "../..", "docs-12"
	k.sh(root, `markdownview pack docs | kubectl --namespace "$NAMESPACE" apply -f -`)
	k.settle("docs")
	k.sh(root, `kubectl --namespace "$NAMESPACE" apply -k example/authors`)
	k.settle("handbook")

	steps, summary := k.workflow("example/authors/ci/github-preview.yaml"), filepath.Join(k.TempDir(), "summary")
	k.sh(root, steps["Apply"], "NAME="+name, "GITHUB_STEP_SUMMARY="+summary)
	k.settle(name)
	k.equal("url", "http://viewer-"+name+"."+k.namespace+".svc", k.read(summary))
	k.sh(root, steps["Delete"], "NAME="+name)
	k.eventually("the preview is deleted", func(k *kit) { k.gone(&corev1.ConfigMap{}, "markdowns-"+name) })
	k.settle("docs", "handbook")
	if !k.onNode() {
		return
	}

	k.servedAt("docs", "/upgrade.html", "Upgrade")
	const repository = "registry.example.com/team/handbook"
	out := k.sh(root, "markdownview pack example/authors/handbook --plain-http --push "+k.Registry+"/team/handbook:v1")
	_, digest, found := strings.Cut(strings.TrimSpace(out), "@")
	if !found {
		k.Fatalf("no digest: %s", out)
	}
	k.apply(book("pushed", k.given("pushed", "allowedBookImages: ["+repository+"]"), fromImage(repository+"@"+digest)))
	k.settle("pushed")
	k.servedAt("pushed", "/guide/set-up.html", "Install the tools")
}

// workflow returns the commands of a workflow by the names of their steps.
func (k *kit) workflow(path string) map[string]string {
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	k.must(yaml.Unmarshal([]byte(k.read("../../"+path)), &workflow))
	steps := map[string]string{}
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			steps[step.Name] = step.Run
		}
	}

	return steps
}

package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// from sets spec.markdownsFrom.
func from(entries ...string) option {
	return with("markdownsFrom: [" + strings.Join(entries, ", ") + "]")
}

// fromConfigMap returns an entry for a ConfigMap whose files are in a folder with the
// same name.
func fromConfigMap(name string) string {
	return "{configMap: {name: " + name + "}, path: " + name + "}"
}

// fromImage replaces the files of the book with an image.
func fromImage(reference string) option { return onlyFrom("{image: {reference: '" + reference + "'}}") }

func onlyFrom(entry string) option {
	return func(s map[string]any) {
		delete(s, "markdowns")
		from(entry)(s)
	}
}

// notFound waits until a MarkdownView reports that ConfigMap guide does not exist.
func (k *kit) notFound(name string) {
	k.Helper()
	k.until(name, `Degraded=True ConfigMapNotFound: spec.markdownsFrom[0].configMap.name: Not found: "guide": `+
		`create this ConfigMap in namespace `+k.namespace+`, or remove it from the list`)
}

// FromConfigMap checks that a book can have files of another ConfigMap. The MarkdownView
// reports a ConfigMap that does not exist, and uses it when it is created. A change of
// the ConfigMap starts a rollout, and its deletion does not change the composed
// resources. The test also changes an existing MarkdownView to use the ConfigMap.
func FromConfigMap(k *kit) {
	const name, live = "handbook", "live"
	ttl := ""
	if olderThan("v2.4") {
		ttl = "ttl: 10s" // It does not watch the ConfigMap.
	}
	composition := k.given("from", ttl)
	guide := []option{composition, from(fromConfigMap("guide")), guided}
	served := func(name, text string) { // Unless pods are simulated.
		k.Helper()
		if k.onNode() {
			k.servedAt(name, "/guide/a.html", text)
		}
	}
	k.apply(book(name, guide...))
	k.notFound(name)
	k.until(name, "NotReady") // A status, although nothing is composed.
	k.eventually("the reason", func(k *kit) {
		k.contains(k.kubectl("get", "markdownview", name, "--output=wide"), "ConfigMapNotFound")
	})
	k.gone(&corev1.ConfigMap{}, "markdowns-"+name)

	begin := time.Now()
	k.write("guide", map[string]string{"a.md": "# One\n"})
	k.settle(name)
	k.Logf("healthy %s after the ConfigMap was created", time.Since(begin).Round(100*time.Millisecond))
	first := k.children(name)
	k.equal("files of our ConfigMap", []string{"SUMMARY.md", "page.md"}, sorted(first.configMap.Data))
	served(name, "One")

	begin = time.Now()
	k.write("guide", map[string]string{"a.md": "# Two\n"})
	k.eventually("a rollout", func(k *kit) {
		if k.viewer(name).Generation == first.deployment.Generation {
			k.Error("the Deployment has not changed")
		}
	})
	k.Logf("a rollout %s after the ConfigMap changed", time.Since(begin).Round(100*time.Millisecond))
	k.settle(name)
	served(name, "Two")

	k.apply(book(live, composition))
	k.settle(live)
	k.apply(book(live, guide...))
	k.settle(live)
	served(live, "Two")

	second := k.children(name)
	k.kubectl("delete", "configmap", "guide")
	k.notFound(name)
	k.equal("specs", second.specs(), k.children(name).specs())
	served(name, "Two")
	k.write("guide", map[string]string{"a.md": "# Two\n"})
	k.settle(name)
	k.equal("specs", second.specs(), k.children(name).specs())
}

// FromLarge checks that a book of 5 MiB in six ConfigMaps is served.
func FromLarge(k *kit) {
	k.needsNode()
	const name = "large"
	const folders, pages, pageSize = 6, 10, 5<<20/60 + 1
	size, words, summary := 0, rand.New(rand.NewPCG(1, 2)), strings.Builder{}
	var entries []string
	for i := range folders {
		folder, files := fmt.Sprintf("part-%d", i), map[string]string{}
		for j := range pages {
			page := fmt.Sprintf("%d.md", j)
			files[page] = fmt.Sprintf("# Page %d of part %d\n\n", j, i) + prose(words, pageSize)
			size += len(files[page])
			fmt.Fprintf(&summary, "- [Page](%s/%s)\n", folder, page)
		}
		k.write(folder, files)
		entries = append(entries, fromConfigMap(folder))
	}
	begin := time.Now()
	resources := with("markdowns: {}\nresources: {limits: {memory: 2Gi}}")
	k.apply(book(name, from(entries...), resources, file("SUMMARY.md", summary.String())))
	k.settle(name)
	k.Logf("a book of %.1f MiB is healthy after %s", float64(size)/(1<<20), time.Since(begin).Round(100*time.Millisecond))
	for i := range folders {
		k.servedAt(name, fmt.Sprintf("/part-%d/9.html", i), fmt.Sprintf("Page 9 of part %d", i))
	}
	k.memory(name, "mdbook", limits)
}

// prose returns at least size bytes of text, in which some words are frequent and many
// are rare, as in a natural language: the search index grows with the number of different
// words.
func prose(r *rand.Rand, size int) string {
	text := strings.Builder{}
	for n := 1; text.Len() < size; n++ {
		word := int(math.Exp(r.Float64() * math.Log(50_000)))
		for ; word > 0; word /= 20 {
			text.WriteByte("bcdfghjklmnpqrstvwxz"[word%20])
			text.WriteByte("aeiou"[word%5])
		}
		text.WriteString([]string{" ", " ", " ", ".\n\n"}[n%80/79*3])
	}

	return text.String()
}

// FromImage checks that an image, referred to by its digest, can hold a book, and that
// an existing MarkdownView can change to it and back.
func FromImage(k *kit) {
	k.needsNode()
	const name, back, repository = "handbook", "back", "registry.example.com/team/book"
	composition := k.given("image", "allowedBookImages: ["+repository+"]")
	digest := k.pushBook(repository+":v1", map[string]string{
		"SUMMARY.md": "- [Page](page.md)\n- [Guide](guide/a.md)\n",
		"page.md":    "# From an image\n",
		"guide/a.md": "# Nested\n",
	})
	change := func(name string, from, to option) {
		for _, spec := range []option{from, to} {
			k.apply(book(name, composition, spec))
			k.settle(name)
		}
	}

	change(name, unchanged, fromImage(repository+"@"+digest.String()))
	k.served(name, "From an image")
	k.servedAt(name, "/guide/a.html", "Nested")
	k.eventually("the ConfigMap is deleted", func(k *kit) { k.gone(&corev1.ConfigMap{}, "markdowns-"+name) })
	k.until(name, "BookComplete=Unknown NotChecked")
	change(back, fromImage(repository+":v1"), unchanged)
	k.served(back, ">Page<")
	k.apply(book("not-allowed", composition, fromImage("registry.example.com/other:v1")))
	k.until("not-allowed", "Degraded=True InvalidSpec")
	k.fromPrivateImage()
}

// pushBook pushes an image with files, and returns its digest.
func (k *kit) pushBook(reference string, files map[string]string) v1.Hash {
	k.Helper()
	dir := k.TempDir()
	for file, text := range files {
		k.must(os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
		k.must(os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	img, err := controlplane.NewImage(v1.Config{}, map[string]string{".": dir})
	k.must(err)
	k.must(k.PushImage(k.Context(), reference, img))
	digest, err := img.Digest()
	k.must(err)

	return digest
}

// pushPage pushes a book with one page.
func (k *kit) pushPage(reference, title string) v1.Hash {
	k.Helper()

	return k.pushBook(reference, map[string]string{"SUMMARY.md": "- [Page](page.md)\n", "page.md": "# " + title + "\n"})
}

// fromPrivateImage checks that the pods pull an image with the imagePullSecrets of the
// Input. Without the Secret, the command in the message of Degraded shows why the pull
// fails.
func (k *kit) fromPrivateImage() {
	const name, repository = "private", "registry.example.com/private/book"
	k.pushPage(repository+":v1", "From a private image")
	composition := k.given(name, "allowedBookImages: ["+repository+"]\nimagePullSecrets: [{name: pull}]\n"+impatient)
	k.apply(book(name, composition, fromImage(repository+":v1")))
	v := k.until(name, "Degraded=True ProgressDeadlineExceeded")
	k.eventually("the command shows why the pull fails", func(k *kit) {
		k.contains(k.kubectl(v.command()...), "authorization failed: no basic auth credentials")
	})

	k.kubectl("create", "secret", "docker-registry", "pull", "--docker-server=registry.example.com",
		"--docker-username="+controlplane.PullUser, "--docker-password="+controlplane.PullPassword)
	k.settle(name)
	k.served(name, "From a private image")
}

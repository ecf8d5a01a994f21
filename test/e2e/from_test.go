package e2e

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// from sets spec.markdownsFrom.
func from(entries ...any) func(map[string]any) {
	return func(s map[string]any) { s["markdownsFrom"] = entries }
}

// fromConfigMap returns an entry for a ConfigMap whose files are in a folder with the
// same name.
func fromConfigMap(name string) any {
	return map[string]any{"configMap": map[string]any{"name": name}, "path": name}
}

// fromImage replaces the files of the book with an image.
func fromImage(reference string) func(map[string]any) {
	return func(s map[string]any) {
		delete(s, "markdowns")
		s["markdownsFrom"] = []any{map[string]any{"image": map[string]any{"reference": reference}}}
	}
}

// write applies a ConfigMap with files.
func (k *kit) write(name string, files map[string]string) {
	k.Helper()
	k.apply(k.unstructured(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Data:       files,
	}))
}

// notFound waits until a MarkdownView reports that a ConfigMap does not exist.
func (k *kit) notFound(name, configMap string) {
	k.Helper()
	k.until(name, "reports that ConfigMap "+configMap+" does not exist", func(v *markdownView) error {
		if err := v.is("Degraded", metav1.ConditionTrue, "ConfigMapNotFound"); err != nil {
			return err
		}
		want := fmt.Sprintf("spec.markdownsFrom[0].configMap.name: Not found: %q: create this ConfigMap in namespace %s, or remove it from the list", configMap, k.namespace)

		return equal("message", want, v.condition("Degraded").Message)
	})
}

// FromConfigMap checks that a book can have files of another ConfigMap. The MarkdownView
// reports a ConfigMap that does not exist, and uses it when it is created. A change of
// the ConfigMap starts a rollout, and its deletion does not change the composed
// resources. The test also changes an existing MarkdownView to use the ConfigMap.
func FromConfigMap(k *kit) {
	const name = "handbook"
	var input map[string]any
	if olderThan("v2.4") {
		input = map[string]any{"ttl": "10s"} // It does not watch the ConfigMap.
	}
	composition := composedBy(k.composition("from", kind, ours(input)))
	k.apply(book(name, composition, from(fromConfigMap("guide")), file("SUMMARY.md", "- [Page](page.md)\n- [Guide](guide/a.md)\n")))
	k.notFound(name, "guide")
	k.until(name, "a status, although nothing is composed", func(v *markdownView) error {
		return errors.Join(equal("STATUS", notReady, v.Status.Status), contains(k.kubectl("get", "markdownview", name, "--output=wide"), "ConfigMapNotFound"))
	})
	k.check(k.gone(&corev1.ConfigMap{}, "markdowns-"+name))

	begin := time.Now()
	k.write("guide", map[string]string{"a.md": "# One\n"})
	k.settle(name)
	k.Logf("healthy %s after the ConfigMap was created", time.Since(begin).Round(100*time.Millisecond))
	first := k.children(name)
	if _, copied := first.configMap.Data["guide_a.md"]; copied || len(first.configMap.Data) != 2 {
		k.Errorf("the files of the other ConfigMap are copied: %v", sorted(first.configMap.Data))
	}
	k.guideServed(name, "One")

	begin = time.Now()
	k.write("guide", map[string]string{"a.md": "# Two\n"})
	k.eventually("a rollout", func() error {
		if d := k.children(name).deployment; d.Generation == first.deployment.Generation {
			return fmt.Errorf("the Deployment has generation %d", d.Generation)
		}

		return nil
	})
	k.Logf("a rollout %s after the ConfigMap changed", time.Since(begin).Round(100*time.Millisecond))
	k.settle(name)
	k.guideServed(name, "Two")

	const live = "live"
	k.apply(book(live, composition))
	k.settle(live)
	k.apply(book(live, composition, from(fromConfigMap("guide")), file("SUMMARY.md", "- [Page](page.md)\n- [Guide](guide/a.md)\n")))
	k.settle(live)
	k.guideServed(live, "Two")

	second := k.children(name)
	k.must(k.Delete(k.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "guide", Namespace: k.namespace}}))
	k.notFound(name, "guide")
	k.check(equal("specs", second.specs(), k.children(name).specs()))
	k.guideServed(name, "Two")
	k.write("guide", map[string]string{"a.md": "# Two\n"})
	k.settle(name)
	k.check(equal("specs", second.specs(), k.children(name).specs()))
}

// guideServed waits until the page of the ConfigMap contains a text, unless pods are
// simulated.
func (k *kit) guideServed(name, text string) {
	k.Helper()
	if k.loopback != nil && k.RealNode() {
		k.servedAt(name, "/guide/a.html", text)
	}
}

// FromLarge checks that a book of 5 MiB in six ConfigMaps is served.
func FromLarge(k *kit) {
	k.needsNode()
	const name = "large"
	const folders, pages, pageSize = 6, 10, 5<<20/60 + 1
	size, words, summary := 0, rand.New(rand.NewPCG(1, 2)), strings.Builder{}
	var entries []any
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
	k.apply(book(name, from(entries...), func(s map[string]any) {
		s["markdowns"] = map[string]any{"SUMMARY.md": summary.String()}
		s["resources"] = map[string]any{"limits": map[string]any{"memory": "2Gi"}}
	}))
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
	const name, repository = "handbook", "registry.example.com/team/book"
	composition := k.composition("image", kind, ours(map[string]any{"allowedBookImages": []any{repository}}))
	img := k.bookImage(map[string]string{"SUMMARY.md": "- [Page](page.md)\n- [Guide](guide/a.md)\n", "page.md": "# From an image\n", "guide/a.md": "# Nested\n"})
	k.must(k.PushImage(k.Context(), repository+":v1", img))
	digest, err := img.Digest()
	k.must(err)

	k.apply(book(name, composedBy(composition)))
	k.settle(name)
	k.served(name, "Page")
	k.apply(book(name, composedBy(composition), fromImage(repository+"@"+digest.String())))
	k.settle(name)
	k.served(name, "From an image")
	k.servedAt(name, "/guide/a.html", "Nested")
	k.eventually("the ConfigMap is deleted", func() error { return k.gone(&corev1.ConfigMap{}, "markdowns-"+name) })
	k.until(name, "a book that is not checked", func(v *markdownView) error {
		return v.is("BookComplete", metav1.ConditionUnknown, "NotChecked")
	})

	const back = "back"
	k.apply(book(back, composedBy(composition), fromImage(repository+":v1")))
	k.settle(back)
	k.apply(book(back, composedBy(composition)))
	k.settle(back)
	k.servedAt(back, "/page.html", ">Page<")
	k.check(k.get(&corev1.ConfigMap{}, "markdowns-"+back))
	k.apply(book("not-allowed", composedBy(composition), fromImage("registry.example.com/other:v1")))
	k.until("not-allowed", "an image that is not allowed", func(v *markdownView) error {
		return v.is("Degraded", metav1.ConditionTrue, "InvalidSpec")
	})
	k.fromPrivateImage()
}

// bookImage returns an image with files.
func (k *kit) bookImage(files map[string]string) v1.Image {
	k.Helper()
	dir := k.TempDir()
	for file, text := range files {
		k.must(os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
		k.must(os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	img, err := controlplane.NewImage(v1.Config{}, map[string]string{".": dir})
	k.must(err)

	return img
}

// fromPrivateImage checks that the pods pull an image with the imagePullSecrets of the
// Input. Without the Secret, the command in the message of Degraded shows why the pull
// fails.
func (k *kit) fromPrivateImage() {
	k.Helper()
	const name, repository = "private", "registry.example.com/private/book"
	composition := k.composition("private", kind, ours(map[string]any{
		"allowedBookImages": []any{repository},
		"imagePullSecrets":  []any{map[string]any{"name": "pull"}},
		"templates":         map[string]any{"deployment": map[string]any{"spec": map[string]any{"progressDeadlineSeconds": int64(5)}}},
	}))
	img := k.bookImage(map[string]string{"SUMMARY.md": "- [Page](page.md)\n", "page.md": "# From a private image\n"})
	k.must(k.PushImage(k.Context(), repository+":v1", img))
	k.apply(book(name, composedBy(composition), fromImage(repository+":v1")))
	v := k.until(name, "the image cannot be pulled", func(v *markdownView) error {
		return v.is("Degraded", metav1.ConditionTrue, "ProgressDeadlineExceeded")
	})
	k.eventually("the command shows why the pull fails", func() error {
		return contains(k.kubectl(v.command()...), "authorization failed: no basic auth credentials")
	})

	auth := fmt.Sprintf(`{"auths": {"registry.example.com": {"username": %q, "password": %q}}}`, controlplane.PullUser, controlplane.PullPassword)
	k.apply(k.unstructured(&corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: "pull"},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(auth)},
	}))
	k.settle(name)
	k.served(name, "From a private image")
}

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane-contrib/function-markdownview/test/e2e/controlplane"
)

// FromOCIRepository checks a book that follows an OCIRepository, with Flux's
// source-controller: a tag that moves, a push without a signature, a repository that the
// Composition does not allow, and one that is deleted.
func FromOCIRepository(k *kit) {
	k.needsNode()
	k.sourceController()
	const name, repository = "handbook", "signed/book"
	registry, _, _ := strings.Cut(k.Registry, ":")
	composition := k.composition("repository", kind, ours(map[string]any{"allowedBookImages": []any{registry + ":*/" + repository}}))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	k.must(err)
	k.publicKey(key)

	k.apply(book(name, composedBy(composition), fromRepository(name)))
	k.behind(name, "OCIRepository handbook of namespace "+k.namespace+" does not exist: create it, or name another one")
	one := k.pushPage(repository, "One")
	k.sign(repository, one, key)
	k.apply(k.ociRepository(name, repository))
	k.settle(name)
	k.served(name, "One")

	two := k.pushPage(repository, "Two")
	k.sign(repository, two, key)
	k.eventually("a rollout", func() error { return k.mounts(two) })
	k.settle(name)
	k.served(name, "Two")

	three := k.pushPage(repository, "Three")
	k.behind(name, "failed to verify the signature using provider 'cosign'")
	k.check(k.mounts(two))
	k.served(name, "Two")
	k.sign(repository, three, key)
	k.eventually("a rollout", func() error { return k.mounts(three) })
	k.settle(name)
	k.served(name, "Three")

	k.pushPage("other/book", "Other")
	k.apply(k.ociRepository("other", "other/book"))
	k.apply(book("other", composedBy(composition), fromRepository("other")))
	k.until("other", "a repository that is not allowed", func(v *markdownView) error {
		if err := v.is("Degraded", metav1.ConditionTrue, "InvalidSpec"); err != nil {
			return err
		}

		return contains(v.condition("Degraded").Message, "name an OCIRepository with a URL that matches "+registry+":*/"+repository)
	})

	for _, deleted := range []string{name, "other"} {
		r := k.ociRepository(deleted, repository)
		r.SetNamespace(k.namespace)
		k.must(k.Delete(k.Context(), r))
		k.eventually("the OCIRepository is deleted", func() error { return k.gone(r, deleted) })
	}
	k.behind(name, "does not exist")
	k.check(k.mounts(three))
	k.served(name, "Three")
}

// fromRepository replaces the files of the book with an OCIRepository.
func fromRepository(name string) func(map[string]any) {
	return func(s map[string]any) {
		delete(s, "markdowns")
		s["markdownsFrom"] = []any{map[string]any{"ociRepository": map[string]any{"name": name}}}
	}
}

// sourceController starts Flux's source-controller, and lets Crossplane read OCIRepositories
// with the role of example/production. The CRDs are not deleted, because an existing cluster
// may have had them before.
func (k *kit) sourceController() {
	k.Helper()
	dir, err := exec.CommandContext(k.Context(), "go", "-C", "../tools/source-controller", "list", "-m", "-f", "{{.Dir}}", "github.com/fluxcd/source-controller").Output()
	k.must(err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases", "*.yaml"))
	k.must(err)
	for _, f := range files {
		for _, u := range k.parse(k.read(f)) {
			k.apply(u)
		}
	}
	k.kubectl("wait", "crd", "ocirepositories.source.toolkit.fluxcd.io", "--for=condition=Established", "--timeout=1m")

	role := k.parse(k.read("../../example/production/rbac.yaml"))[0]
	role.SetName(k.namespace)
	rules, _, err := unstructured.NestedSlice(role.Object, "rules")
	k.must(err)
	k.must(unstructured.SetNestedSlice(role.Object, rules[len(rules)-1:], "rules"))
	k.apply(role)
	k.afterwards(role)

	port, err := controlplane.FreePort()
	k.must(err)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	k.must(controlplane.Run(k.Context(), "/usr/bin/env", filepath.Join(k.logs, "source-controller.log"), "KUBECONFIG="+k.Kubeconfig,
		filepath.Join(k.Bin, "source-controller"), "--storage-path="+k.TempDir(), "--storage-addr="+address, "--storage-adv-addr="+address,
		"--metrics-addr=0", "--health-addr=0", "--log-level=debug"))
}

// ociRepository returns an OCIRepository that follows the tag latest, whose image must be
// signed, except for the repository other.
func (k *kit) ociRepository(name, repository string) *unstructured.Unstructured {
	spec := map[string]any{"interval": "1s", "url": "oci://" + k.Registry + "/" + repository, "insecure": true, "ref": map[string]any{"tag": "latest"}}
	if name != "other" {
		spec["verify"] = map[string]any{"provider": "cosign", "secretRef": map[string]any{"name": "cosign"}}
	}

	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

// pushPage pushes a book with one page, and moves the tag latest to it.
func (k *kit) pushPage(repository, title string) v1.Hash {
	k.Helper()
	img := k.bookImage(map[string]string{"SUMMARY.md": "- [Page](page.md)\n", "page.md": "# " + title + "\n"})
	k.must(k.PushImage(k.Context(), "registry.example.com/"+repository+":latest", img))
	digest, err := img.Digest()
	k.must(err)

	return digest
}

// publicKey applies the Secret with the public key of cosign.
func (k *kit) publicKey(key *ecdsa.PrivateKey) {
	k.Helper()
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	k.must(err)
	k.apply(k.unstructured(&corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: "cosign"},
		Data:       map[string][]byte{"cosign.pub": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})},
	}))
}

// sign pushes a signature of an image as cosign does:
// https://github.com/sigstore/cosign/blob/v2.6.0/specs/SIGNATURE_SPEC.md
func (k *kit) sign(repository string, digest v1.Hash, key *ecdsa.PrivateKey) {
	k.Helper()
	payload := fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`,
		k.Registry+"/"+repository, digest.String())
	sum := sha256.Sum256(payload)
	signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	k.must(err)
	img, err := mutate.Append(empty.Image, mutate.Addendum{
		Layer:       static.NewLayer(payload, "application/vnd.dev.cosign.simplesigning.v1+json"),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signature)},
	})
	k.must(err)
	k.must(k.PushImage(k.Context(), "registry.example.com/"+repository+":sha256-"+digest.Hex+".sig", img))
}

// mounts returns an error unless the pods of the handbook mount an image.
func (k *kit) mounts(digest v1.Hash) error {
	d, err := k.deployment("handbook")
	if err != nil {
		return err
	}
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Image != nil && strings.HasSuffix(v.Image.Reference, "@"+digest.String()) {
			return nil
		}
	}

	return fmt.Errorf("the pods do not mount %s", digest)
}

// behind waits until a MarkdownView reports why it is not the book of its OCIRepository.
func (k *kit) behind(name, why string) {
	k.Helper()
	k.until(name, "behind its OCIRepository: "+why, func(v *markdownView) error {
		if err := v.is("Degraded", metav1.ConditionTrue, "OCIRepositoryNotReady"); err != nil {
			return err
		}

		return contains(v.condition("Degraded").Message, why)
	})
}

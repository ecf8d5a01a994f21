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
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FromOCIRepository checks a book that follows an OCIRepository, with Flux's
// source-controller: a tag that moves, a push without a signature, a repository that the
// Composition does not allow, and one that is deleted.
func FromOCIRepository(k *kit) {
	k.needsNode()
	k.sourceController()
	const name, repository = "handbook", "signed/book"
	registry, _, _ := strings.Cut(k.Registry, ":")
	composition := k.given("repository", "allowedBookImages: ['"+registry+":*/"+repository+"']")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	k.must(err)
	k.publicKey(key)
	push := func(repository, title string) v1.Hash {
		return k.pushPage("registry.example.com/"+repository+":latest", title)
	}
	// behind waits until the MarkdownView reports why it is not the book of its OCIRepository.
	behind := func(why string) {
		k.Helper()
		k.until(name, "Degraded=True OCIRepositoryNotReady", "Degraded: "+why)
	}
	follows := func(digest v1.Hash, text string) {
		k.Helper()
		k.eventually("a rollout", func(k *kit) { k.mounts(digest) })
		k.settle(name)
		k.served(name, text)
	}

	k.apply(book(name, composition, fromRepository(name)))
	behind("create OCIRepository handbook in namespace " + k.namespace + ", or name another one: it does not exist")
	one := push(repository, "One")
	k.sign(repository, one, key)
	k.apply(k.ociRepository(name, repository, ", verify: {provider: cosign, secretRef: {name: cosign}}"))
	follows(one, "One")

	two := push(repository, "Two")
	k.sign(repository, two, key)
	follows(two, "Two")

	three := push(repository, "Three")
	behind("failed to verify the signature using provider 'cosign'")
	k.mounts(two)
	k.served(name, "Two")
	k.sign(repository, three, key)
	follows(three, "Three")

	push("other/book", "Other")
	k.apply(k.ociRepository("other", "other/book", ""))
	k.apply(book("other", composition, fromRepository("other")))
	k.until("other", "Degraded=True InvalidSpec",
		"Degraded: name an OCIRepository with a URL that matches "+registry+":*/"+repository)

	k.kubectl("delete", "ocirepositories", name, "other")
	behind("does not exist")
	k.mounts(three)
	k.served(name, "Three")
}

// fromRepository replaces the files of the book with an OCIRepository.
func fromRepository(name string) option { return onlyFrom("{ociRepository: {name: " + name + "}}") }

// sourceController starts Flux's source-controller, and lets Crossplane read OCIRepositories
// with the role of example/production.
func (k *kit) sourceController() {
	k.installCRDs("../tools/source-controller", "github.com/fluxcd/source-controller", "config/crd/bases/*.yaml")
	role := k.manifests("production/rbac.yaml")[0]
	role.SetName(k.namespace)
	rules := role.Object["rules"].([]any)
	role.Object["rules"] = rules[len(rules)-1:]
	k.apply(role)

	address := "127.0.0.1:" + k.freePort()
	k.start("source-controller", "--storage-path="+k.TempDir(), "--storage-addr="+address,
		"--storage-adv-addr="+address, "--metrics-addr=0", "--health-addr=0", "--log-level=debug")
}

// ociRepository returns an OCIRepository that follows the tag latest, with more fields.
func (k *kit) ociRepository(name, repository, more string) *unstructured.Unstructured {
	return k.parse(fmt.Sprintf(`
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: %s}
spec: {interval: 1s, url: "oci://%s/%s", insecure: true, ref: {tag: latest}%s}
`, name, k.Registry, repository, more))[0]
}

// publicKey creates the Secret with the public key of cosign.
func (k *kit) publicKey(key *ecdsa.PrivateKey) {
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	k.must(err)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	k.kubectl("create", "secret", "generic", "cosign", "--from-literal=cosign.pub="+string(public))
}

// sign pushes a signature of an image as cosign does:
// https://github.com/sigstore/cosign/blob/v2.6.0/specs/SIGNATURE_SPEC.md
func (k *kit) sign(repository string, digest v1.Hash, key *ecdsa.PrivateKey) {
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

// mounts reports an error unless the pods of the handbook mount an image.
func (k *kit) mounts(digest v1.Hash) {
	k.Helper()
	volumes := k.viewer("handbook").Spec.Template.Spec.Volumes
	if !slices.ContainsFunc(volumes, func(v corev1.Volume) bool {
		return v.Image != nil && strings.HasSuffix(v.Image.Reference, "@"+digest.String())
	}) {
		k.Errorf("the pods do not mount %s", digest)
	}
}

// Command capture writes the objects of each measured book to book/captured, as the API
// server returns them when the book is Healthy. It needs a control plane with our
// packages, such as that of make up:
//
//	go run ./capture -kubectl ../../.bin/kubectl -kubeconfig FILE
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/crossplane-contrib/function-markdownview/test/bench/book"
)

const xr = "markdownviews.markdownview.fn.crossplane.io"

func main() {
	c := cluster{}
	flag.StringVar(&c.kubectl, "kubectl", "kubectl", "Path of kubectl.")
	flag.StringVar(&c.kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "Path of the kubeconfig.")
	dir := flag.String("dir", "book/captured", "Folder to write to.")
	flag.Parse()

	for _, b := range book.Books() {
		objects, err := c.capture(b)
		if err != nil {
			log.Fatalf("cannot capture book %q: %v", b.Name, err)
		}
		objects.Blank()
		data, err := json.MarshalIndent(objects, "", " ")
		if err != nil {
			log.Fatalf("cannot encode the objects of book %q: %v", b.Name, err)
		}
		if err := os.WriteFile(filepath.Join(*dir, b.Name+".json"), append(data, '\n'), 0o644); err != nil {
			log.Fatalf("cannot write the objects of book %q: %v", b.Name, err)
		}
	}
}

type cluster struct {
	kubectl, kubeconfig string
}

// capture creates a book, waits until it is served, and deletes it.
func (c cluster) capture(b book.Book) (book.Objects, error) {
	markdowns, err := b.Markdowns()
	if err != nil {
		return book.Objects{}, err
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": "markdownview.fn.crossplane.io/v1alpha1",
		"kind":       "MarkdownView",
		"metadata":   map[string]any{"name": b.Name, "namespace": "default"},
		"spec":       map[string]any{"markdowns": markdowns, "replicas": 1},
	})
	if err != nil {
		return book.Objects{}, err
	}
	// Server-side, because a book is too large for the annotation of a client-side
	// apply.
	if _, err := c.run(manifest, "apply", "--server-side", "-f", "-"); err != nil {
		return book.Objects{}, err
	}
	if _, err := c.run(nil, "wait", "--timeout=2m", "--for=jsonpath={.status.status}=Healthy", xr, b.Name); err != nil {
		return book.Objects{}, err
	}
	if _, err := c.run(nil, "wait", "--timeout=1m", "--for=condition=Ready", xr, b.Name); err != nil {
		return book.Objects{}, err
	}

	o := book.Objects{Composed: map[string]map[string]any{}}
	if o.XR, err = c.get(xr, b.Name); err != nil {
		return o, err
	}
	for key, name := range map[string]string{"configmap": "markdowns-", "deployment": "viewer-", "service": "viewer-"} {
		if o.Composed[key], err = c.get(key, name+b.Name); err != nil {
			return o, err
		}
	}
	_, err = c.run(nil, "delete", xr, b.Name)

	return o, err
}

func (c cluster) get(kind, name string) (map[string]any, error) {
	out, err := c.run(nil, "get", "-o", "json", "--show-managed-fields", kind, name)
	if err != nil {
		return nil, err
	}
	object := map[string]any{}

	return object, json.Unmarshal(out, &object)
}

func (c cluster) run(stdin []byte, args ...string) ([]byte, error) {
	cmd := exec.Command(c.kubectl, append([]string{"--kubeconfig", c.kubeconfig, "--namespace", "default"}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl %v: %w", args, err)
	}

	return out, nil
}

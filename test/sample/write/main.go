// Command write writes sample MarkdownViews and the resources that the function
// composes from them as JSON files, to test them with an API server.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
	"github.com/crossplane-contrib/function-markdownview/fn"
	"github.com/crossplane-contrib/function-markdownview/test/sample"
)

type cli struct {
	Dir       string `arg:""           help:"Directory to write to. Each sample is written to NUMBER-view.json, NUMBER-deployment.json, NUMBER-service.json and, without an image, NUMBER-configmap.json." type:"existingdir"`
	N         uint64 `default:"2000"   help:"Number of samples."`
	Seed      uint64 `default:"1"      help:"Number of the first sample."`
	Namespace string `default:"default" help:"Namespace of all samples."`
	Folders   string `help:"Write folders of Markdown instead: random ones, named folder-NUMBER, and the cases of this file of package book, named case-NUMBER." placeholder:"CASES"`
}

// Run writes the samples.
func (c *cli) Run() error {
	if c.Folders != "" {
		return c.writeFolders()
	}
	f := fn.New(logging.NewNopLogger(), 0)
	for seed := c.Seed; seed < c.Seed+c.N; seed++ {
		s := sample.Random(seed)
		view, input := s.View(), s.Input()
		sample.Fit(view, input)
		view["metadata"].(map[string]any)["namespace"] = c.Namespace
		if err := c.write(seed, "view", view); err != nil {
			return err
		}

		req := &fnv1.RunFunctionRequest{
			Meta:              &fnv1.RequestMeta{Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}},
			Observed:          &fnv1.State{Composite: &fnv1.Resource{Resource: structOf(view)}},
			Input:             structOf(input),
			RequiredResources: map[string]*fnv1.Resources{},
		}
		for name, cm := range s.Shared() {
			cm["apiVersion"], cm["kind"] = "v1", "ConfigMap"
			cm["metadata"] = map[string]any{"name": name, "namespace": c.Namespace}
			req.RequiredResources["configmap/"+name] = &fnv1.Resources{Items: []*fnv1.Resource{{Resource: structOf(cm)}}}
		}
		repository := s.Repository()
		repository["apiVersion"], repository["kind"] = "source.toolkit.fluxcd.io/v1", "OCIRepository"
		repository["metadata"].(map[string]any)["name"], repository["metadata"].(map[string]any)["namespace"] = "handbook", c.Namespace
		req.RequiredResources["ocirepository/handbook"] = &fnv1.Resources{Items: []*fnv1.Resource{{Resource: structOf(repository)}}}
		rsp, err := f.RunFunction(context.Background(), req)
		if err != nil {
			return fmt.Errorf("cannot compose sample %d: %w", seed, err)
		}
		if len(rsp.GetDesired().GetResources()) == 0 {
			return fmt.Errorf("cannot compose sample %d: %v", seed, rsp.GetResults())
		}
		for key, r := range rsp.GetDesired().GetResources() {
			object := r.GetResource().AsMap()
			// Crossplane sets the namespace too.
			object["metadata"].(map[string]any)["namespace"] = c.Namespace
			if err := c.write(seed, key, object); err != nil {
				return err
			}
		}
	}

	return nil
}

func (c *cli) write(seed uint64, what string, object map[string]any) error {
	b, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("cannot encode sample %d: %w", seed, err)
	}

	return os.WriteFile(filepath.Join(c.Dir, fmt.Sprintf("%06d-%s.json", seed, what)), b, 0o600)
}

func structOf(object map[string]any) *structpb.Struct {
	s, err := structpb.NewStruct(object)
	if err != nil {
		panic(fmt.Sprintf("cannot convert a sample to a Struct: %v", err))
	}

	return s
}

// writeFolders leaves out files that cannot be in a folder.
func (c *cli) writeFolders() error {
	raw, err := os.ReadFile(c.Folders)
	if err != nil {
		return err
	}
	var cases []sample.Case
	if err := yaml.Unmarshal(raw, &cases); err != nil {
		return err
	}
	folders := map[string]map[string]string{}
	for seed := c.Seed; seed < c.Seed+c.N; seed++ {
		folders[fmt.Sprintf("folder-%d", seed)] = sample.Random(seed).Folder()
	}
	for i, book := range cases {
		files := book.Markdowns()
		for _, name := range book.Binaries {
			files[name] = "\xff"
		}
		folders[fmt.Sprintf("case-%d", i)] = files
	}
	for folder, files := range folders {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			file := filepath.Join(c.Dir, folder, filepath.FromSlash(name))
			if filename.Validate(name) == nil && os.MkdirAll(filepath.Dir(file), 0o755) == nil {
				_ = os.WriteFile(file, []byte(files[name]), 0o600)
			}
		}
	}

	return nil
}

func main() {
	ctx := kong.Parse(&cli{})
	ctx.FatalIfErrorf(ctx.Run())
}

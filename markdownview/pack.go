package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-markdownview/markdownview/internal/folder"
)

type packCommand struct {
	Folder string `arg:"" help:"Folder with the files of the book." name:"dir" type:"existingdir"`

	Name      string            `help:"Name of the MarkdownView. Default: that of --view or of the folder."`
	Namespace string            `help:"Namespace of the objects."                                            short:"n"`
	Label     map[string]string `help:"Label of the objects. Can be repeated."                               placeholder:"KEY=VALUE"`
	View      string            `help:"File with a MarkdownView whose other fields are kept, such as spec.book." placeholder:"FILE" type:"existingfile"`
	Output    string            `help:"File to write. Default: standard output."                             placeholder:"FILE" short:"o"`

	Push      string `help:"Push the folder as an image instead, such as registry.example.com/books/handbook:main, and print its digest. Uses the credentials of docker login." placeholder:"REFERENCE"`
	PlainHTTP bool   `help:"Push without TLS. It is the default for a registry on this machine." name:"plain-http"`
}

// Help is shown by --help.
func (packCommand) Help() string {
	return `There are three ways to bring a folder to the cluster. pack chooses between the first two:

  1. A MarkdownView holds up to 1 MiB.
  2. A MarkdownView and up to eight ConfigMaps, named NAME-1 to NAME-8, hold more. Each ConfigMap has files of one folder.
  3. With --push, an image holds any size. The platform must allow it (allowedBookImages).

The same folder gives the same bytes. Links to files outside of the folder are errors.

  markdownview pack docs | kubectl apply -f -
  markdownview pack docs --output book.yaml
  markdownview pack docs --push registry.example.com/books/handbook:main`
}

// Run writes the objects, or pushes the image.
func (c *packCommand) Run() error {
	p := newProgress()
	f, err := folder.List(c.Folder, p.printf)
	if err != nil {
		return err
	}
	if c.Push != "" {
		ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
		defer cancel()
		reference, err := f.Push(ctx, c.Push, c.PlainHTTP, p.printf)
		if err == nil {
			fmt.Println(reference)
		}

		return err
	}
	v, err := c.view()
	if err != nil {
		return err
	}
	packed, err := pack(f, v)
	if err != nil {
		return err
	}
	text, err := packed.YAML()
	if err != nil {
		return err
	}
	if packed.ServerSide {
		fmt.Fprintf(os.Stderr, "%s is large: use kubectl apply --server-side, because kubectl apply stores a copy of each object in an annotation\n", c.Folder)
	}
	if c.Output == "" {
		_, err = os.Stdout.Write(text)
	} else {
		err = os.WriteFile(c.Output, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot write the MarkdownView: %w", err)
	}

	return nil
}

// view returns what the flags say about the MarkdownView.
func (c *packCommand) view() (folder.View, error) {
	v := folder.View{Name: c.Name, Namespace: c.Namespace, Labels: c.Label}
	if c.View != "" {
		raw, err := os.ReadFile(c.View)
		if err == nil {
			err = yaml.Unmarshal(raw, &v.Object)
		}
		if err != nil {
			return v, fmt.Errorf("cannot read %s: %w", c.View, err)
		}
		metadata, _ := v.Object["metadata"].(map[string]any)
		if name, ok := metadata["name"].(string); ok && v.Name == "" {
			v.Name = name
		}
		if namespace, ok := metadata["namespace"].(string); ok && v.Namespace == "" {
			v.Namespace = namespace
		}
	}
	if v.Name == "" {
		v.Name = nameOf(c.Folder)
	}
	if problems := validation.IsDNS1123Label(v.Name); len(problems) > 0 {
		return v, fmt.Errorf("the name %q is not valid: %s: set another one with --name", v.Name, strings.Join(problems, ", "))
	}

	return v, nil
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf returns the name of the MarkdownView of a folder.
func nameOf(dir string) string {
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(filepath.Base(dir)), "-"), "-")
	if name == "" {
		return "book"
	}

	return strings.Trim(name[:min(len(name), 50)], "-")
}

func pack(f *folder.Folder, v folder.View) (folder.Packed, error) {
	content, err := f.Read()
	if err != nil {
		return folder.Packed{}, err
	}

	return f.Pack(content, v)
}

// packFolder returns the objects of a folder as YAML.
func packFolder(dir string) (string, error) {
	f, err := folder.List(dir, func(string, ...any) {})
	if err != nil {
		return "", err
	}
	packed, err := pack(f, folder.View{Name: nameOf(dir)})
	if err != nil {
		return "", err
	}
	text, err := packed.YAML()

	return string(text), err
}

// stamp changes when a file of a folder does.
func stamp(dir string) string {
	f, err := folder.List(dir, func(string, ...any) {})
	out := strings.Builder{}
	out.WriteString(dir + "\n")
	if err != nil {
		out.WriteString(err.Error())
	}
	if f != nil {
		for _, file := range f.Files {
			fmt.Fprintln(&out, file.Name, file.Size, file.Modified.UnixNano())
		}
	}

	return out.String()
}

func isFolder(name string) bool {
	info, err := os.Stat(name)

	return err == nil && info.IsDir()
}

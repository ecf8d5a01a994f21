package image

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func TestReadDockerfile(t *testing.T) {
	type want struct {
		recipe Recipe
		err    string
	}

	cases := map[string]struct {
		reason     string
		dockerfile string
		want       want
	}{
		"LastStage": {
			reason: "Only the last stage describes the image, and words lose their quotes.",
			dockerfile: `
FROM golang:1.26.8 AS build
USER root
RUN make

FROM scratch
COPY --from=build --chmod=0555 /out/function /function
EXPOSE 9443 8080
USER 65532:65532
LABEL one="first one" \
      two=second
ENTRYPOINT ["/function", "--debug"]
`,
			want: want{recipe: Recipe{
				Binary: "/function",
				Mode:   0o555,
				Config: v1.Config{
					User:         "65532:65532",
					Entrypoint:   []string{"/function", "--debug"},
					ExposedPorts: map[string]struct{}{"9443/tcp": {}, "8080/tcp": {}},
					Labels:       map[string]string{"one": "first one", "two": "second"},
				},
			}},
		},
		"AnotherBase": {
			reason:     "The content of another base image is not known.",
			dockerfile: "FROM gcr.io/distroless/static\n",
			want:       want{err: `cannot build on "gcr.io/distroless/static": the last stage must be FROM scratch`},
		},
		"NoFile": {
			reason:     "An image without a file cannot run.",
			dockerfile: "FROM scratch\nUSER 1\n",
			want:       want{err: "cannot build an image without a file: the last stage has no COPY"},
		},
		"UnknownInstruction": {
			reason:     "Ignoring an instruction would make the images differ.",
			dockerfile: "FROM scratch\nENV A=b\n",
			want:       want{err: `cannot apply "ENV A=b": this instruction is not supported`},
		},
		"Variable": {
			reason:     "A variable has a value that only Docker knows.",
			dockerfile: "FROM scratch\nUSER $WHO\n",
			want:       want{err: `cannot expand "$WHO": variables are not supported`},
		},
		"Shell": {
			reason:     "The image has no shell.",
			dockerfile: "FROM scratch\nENTRYPOINT /function\n",
			want:       want{err: `cannot apply "ENTRYPOINT /function": there is no shell: write it as a JSON list`},
		},
		"TwoFiles": {
			reason:     "The image has one file.",
			dockerfile: "FROM scratch\nCOPY --from=a --chmod=0555 /b /b\nCOPY --from=a --chmod=0555 /c /c\n",
			want:       want{err: `cannot apply "COPY --from=a --chmod=0555 /c /c": "/b" is already copied`},
		},
		"NoMode": {
			reason:     "Without --chmod, the mode of the file depends on the umask of the build.",
			dockerfile: "FROM scratch\nCOPY --from=a /b /b\n",
			want:       want{err: `cannot apply "COPY --from=a /b /b": --chmod must be an octal number`},
		},
		"FromContext": {
			reason:     "The file must come from a build stage.",
			dockerfile: "FROM scratch\nCOPY --chmod=0555 b /b\n",
			want:       want{err: `cannot apply "COPY --chmod=0555 b /b": --from is missing`},
		},
		"Owner": {
			reason:     "The file belongs to root, so that nobody can write it.",
			dockerfile: "FROM scratch\nCOPY --from=a --chmod=0555 --chown=1 /b /b\n",
			want:       want{err: `cannot apply "COPY --from=a --chmod=0555 --chown=1 /b /b": only --from and --chmod are supported`},
		},
		"Folder": {
			reason:     "A folder would be a second file.",
			dockerfile: "FROM scratch\nCOPY --from=a --chmod=0555 /b /bin/b\n",
			want:       want{err: `cannot apply "COPY --from=a --chmod=0555 /b /bin/b": only one file can be copied, to the root`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			recipe, err := ReadDockerfile(strings.NewReader(tc.dockerfile))
			got := want{recipe: recipe}
			if err != nil {
				got.err = err.Error()
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\nReadDockerfile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOurDockerfile checks the runtime image of the function. Clusters depend on it, so
// a change of the Dockerfile must change this test as well.
func TestOurDockerfile(t *testing.T) {
	f, err := os.Open("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // Only read.
	got, err := ReadDockerfile(f)
	if err != nil {
		t.Fatal(err)
	}
	want := Recipe{
		Binary: "/function-markdownview",
		Mode:   0o555,
		Config: v1.Config{
			User:         "65532:65532",
			Entrypoint:   []string{"/function-markdownview"},
			ExposedPorts: map[string]struct{}{"9443/tcp": {}, "8080/tcp": {}},
			Labels: map[string]string{
				"org.opencontainers.image.title":       "function-markdownview",
				"org.opencontainers.image.description": "Crossplane composition function that serves the Markdown of a MarkdownView as a web book",
				"org.opencontainers.image.source":      "https://github.com/crossplane-contrib/function-markdownview",
				"org.opencontainers.image.licenses":    "Apache-2.0",
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadDockerfile(...): -want, +got:\n%s", diff)
	}
}

package validate

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestValidateTheme(t *testing.T) {
	full := strings.Repeat("x", 100<<10)
	for name, tc := range map[string]struct {
		reason string
		theme  map[string]string
		want   string
	}{
		"Most":    {reason: "Files of 128 KiB", theme: map[string]string{"book.js": full, "css/print.css": full[:28<<10]}},
		"Large":   {reason: "A pod has at most 256 KiB of annotations", theme: map[string]string{"book.js": full, "head.hbs": full[:28<<10+1]}, want: "input.theme: Forbidden: shorten the files, or serve them elsewhere and link to them in head.hbs: they have more than 128 KiB"},
		"Unknown": {reason: "mdBook would ignore the file", theme: map[string]string{"css/custom.css": ""}, want: `input.theme: Unsupported value: "css/custom.css": supported values: "ayu-highlight.css", "book.js", `},
		"Binary":  {reason: "A file of bytes that are not text", theme: map[string]string{"favicon.png": ""}, want: `input.theme: Unsupported value: "favicon.png": `},
		"Control": {reason: "The API server would change the text", theme: map[string]string{"head.hbs": "\u0085"}, want: "input.theme[head.hbs]: Invalid value: remove the control character"},
	} {
		t.Run(name, func(t *testing.T) {
			errs := validateTheme(tc.theme, field.NewPath("input", "theme"))
			if len(errs) > 1 || (len(errs) == 1) != (tc.want != "") || len(errs) == 1 && !strings.HasPrefix(errs[0].Error(), tc.want) {
				t.Errorf("\n%s\nvalidateTheme(...): want %q, got %v", tc.reason, tc.want, errs)
			}
		})
	}
}

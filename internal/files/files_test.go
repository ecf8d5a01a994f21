package files

import (
	"testing"
)

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"AAEC":                 "AAEC",
		"AAEC\nAwQF\r\nBgc=\n": "AAECAwQFBgc=",
		"Zh==":                 "Zg==",
		"AAECZh==\n":           "AAECZg==",
	} {
		if got := canonical(text); got != want {
			t.Errorf("canonical(%q): want %q, as the API server writes it, got %q", text, want, got)
		}
	}
}

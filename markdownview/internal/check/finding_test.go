package check

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteText(t *testing.T) {
	const want = "docs/a.md:3: warning: no image (DeadImage)\ndocs: error: no files (InvalidSpec)\n"
	var got bytes.Buffer
	if err := WriteText(&got, []Finding{{"docs/a.md", 3, LevelWarning, "DeadImage", "no image"}, {"docs", 0, LevelError, "InvalidSpec", "no files"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

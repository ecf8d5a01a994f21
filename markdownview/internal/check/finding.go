package check

import (
	"fmt"
	"io"
)

// The levels of Findings, as SARIF names them.
const (
	LevelError   = "error"
	LevelWarning = "warning"
)

// A Finding is a problem of a book.
type Finding struct {
	File    string
	Line    int // 0 means the whole file.
	Level   string
	Rule    string // A reason of a condition, or a kind of package proof.
	Message string
}

// String returns a finding as compilers print theirs.
func (f Finding) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.File, f.Line)
	}

	return fmt.Sprintf("%s: %s: %s (%s)", at, f.Level, f.Message, f.Rule)
}

// WriteText prints findings, each in a line.
func WriteText(w io.Writer, findings []Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}

	return nil
}

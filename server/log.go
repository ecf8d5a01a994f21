package server

import (
	"io"
	"log/slog"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// A Logger writes structured JSON. It is the logging.Logger of
// crossplane-runtime, and has Error beside: a recovered panic or a failed
// rotation must reach those who watch for level=ERROR.
type Logger struct {
	*slog.Logger
}

// NewLogger returns a Logger that writes to w, debug messages only when asked.
func NewLogger(w io.Writer, debug bool) Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	return Logger{slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))}
}

// WithValues returns a Logger that adds the keys and values to each message.
func (l Logger) WithValues(keysAndValues ...any) logging.Logger {
	return Logger{l.With(keysAndValues...)}
}

package server

import (
	"io"
	"log/slog"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// A Logger writes structured JSON. It is a logging.Logger of crossplane-runtime
// that also has Warn and Error, for alerts on level=ERROR.
type Logger struct {
	*slog.Logger
}

// NewLogger returns a Logger that writes to w. It writes debug messages only if
// debug is set.
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

package server

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLogLevels(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		debug  bool
		want   int
	}{
		"Info":  {reason: "A Logger omits debug messages by default.", want: 1},
		"Debug": {reason: "A Logger writes debug messages if debug is set.", debug: true, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			log := &bytes.Buffer{}
			l := NewLogger(log, tc.debug).WithValues("key", "value")
			l.Debug("a")
			l.Info("b")
			if diff := cmp.Diff(tc.want, strings.Count(log.String(), `"key":"value"`)); diff != "" {
				t.Errorf("%s\nlines of the log: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

package server

import (
	"bytes"
	"strings"
	"testing"
)

func TestLogLevels(t *testing.T) {
	for debug, want := range map[bool]int{false: 1, true: 2} {
		log := &bytes.Buffer{}
		l := NewLogger(log, debug).WithValues("key", "value")
		l.Debug("a")
		l.Info("b")
		if got := strings.Count(log.String(), `"key":"value"`); got != want {
			t.Errorf("debug %t: want %d lines with the value, got:\n%s", debug, want, log)
		}
	}
}

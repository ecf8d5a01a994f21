package report

import "testing"

func TestConditionOf(t *testing.T) {
	all := []Condition{{Type: "Ready", Reason: "First"}, {Type: "Synced", Reason: "Second"}}
	for kind, want := range map[string]string{"Ready": "First", "Synced": "Second", "Other": ""} {
		if got := ConditionOf(all, kind).Reason; got != want {
			t.Errorf("ConditionOf(%s): want reason %q, got %q", kind, want, got)
		}
	}
}

package server

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestContainerMemory(t *testing.T) {
	type want struct {
		Limit int64
		OK    bool
	}
	cases := map[string]struct {
		reason string
		cgroup fstest.MapFS
		want   want
	}{
		"V2": {
			reason: "cgroup v2 has one file at the root of what a container sees.",
			cgroup: fstest.MapFS{"memory.max": {Data: []byte("268435456\n")}},
			want:   want{Limit: 256 << 20, OK: true},
		},
		"V2Unlimited": {
			reason: "Without a limit cgroup v2 says so in a word.",
			cgroup: fstest.MapFS{"memory.max": {Data: []byte("max\n")}},
		},
		"V1": {
			reason: "cgroup v1 has a folder per controller.",
			cgroup: fstest.MapFS{"memory/memory.limit_in_bytes": {Data: []byte("134217728\n")}},
			want:   want{Limit: 128 << 20, OK: true},
		},
		"V1Unlimited": {
			reason: "Without a limit cgroup v1 gives the largest number of pages.",
			cgroup: fstest.MapFS{"memory/memory.limit_in_bytes": {Data: []byte("9223372036854771712\n")}},
		},
		"None": {
			reason: "Outside of a container, or on another system, there is no limit.",
			cgroup: fstest.MapFS{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limit, ok := containerMemory(tc.cgroup)
			if diff := cmp.Diff(tc.want, want{Limit: limit, OK: ok}); diff != "" {
				t.Errorf("%s\ncontainerMemory(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

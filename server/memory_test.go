package server

import (
	"math"
	"runtime/debug"
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

func TestLimitMemory(t *testing.T) {
	cases := map[string]struct {
		reason string
		env    string
		want   int64
	}{
		"Container": {
			reason: "The garbage collector is told nine tenths of what the container may use.",
			want:   900_000_000,
		},
		"Environment": {
			reason: "What the environment says is left as the runtime read it.",
			env:    "1GiB",
			want:   math.MaxInt64,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOMEMLIMIT", tc.env)
			before := debug.SetMemoryLimit(math.MaxInt64)
			defer debug.SetMemoryLimit(before)

			limitMemory(fstest.MapFS{"memory.max": {Data: []byte("1000000000\n")}})
			if diff := cmp.Diff(tc.want, debug.SetMemoryLimit(-1)); diff != "" {
				t.Errorf("%s\nlimitMemory(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

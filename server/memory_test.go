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

func TestTuneCollector(t *testing.T) {
	type want struct {
		limit   int64
		percent int
	}
	cases := map[string]struct {
		reason string
		limit  string
		gogc   string
		want   want
	}{
		"Container": {
			reason: "The garbage collector runs seldom, and is told four fifths of what the container may use.",
			want:   want{limit: 800_000_000, percent: 400},
		},
		"EnvironmentLimit": {
			reason: "A limit in the environment is left as the runtime read it.",
			limit:  "1GiB",
			want:   want{limit: math.MaxInt64, percent: 400},
		},
		"EnvironmentPercent": {
			reason: "A percentage in the environment is left as the runtime read it.",
			gogc:   "100",
			want:   want{limit: 800_000_000, percent: 100},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOMEMLIMIT", tc.limit)
			t.Setenv("GOGC", tc.gogc)
			limit, percent := debug.SetMemoryLimit(math.MaxInt64), debug.SetGCPercent(100)
			defer debug.SetMemoryLimit(limit)
			defer debug.SetGCPercent(percent)

			tuneCollector(fstest.MapFS{"memory.max": {Data: []byte("1000000000\n")}})
			got := want{limit: debug.SetMemoryLimit(-1), percent: debug.SetGCPercent(-1)}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\ntuneCollector(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

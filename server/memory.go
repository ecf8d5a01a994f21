package server

import (
	"io/fs"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// collectorPercent is how much the heap may grow, in percent of what is in use,
// before garbage is collected. Next to nothing outlives a call, and parallelCalls
// bounds what is in use at a time: with Go's 100 a small call would spend a
// fifth of its time on collections of the same few live megabytes.
const collectorPercent = 400

// tuneCollector lets the garbage collector run seldom, and tells it to stay below
// 80 % of the memory limit of the container, so that a burst of large requests
// costs collections rather than the process. The rest is for what the runtime
// does not count. GOGC and GOMEMLIMIT in the environment win: the runtime has
// read them already.
func tuneCollector(cgroup fs.FS) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit, ok := containerMemory(cgroup); ok {
		debug.SetMemoryLimit(limit / 5 * 4)
	}
}

// containerMemory returns the memory limit in bytes that cgroup v2 or v1 sets
// for a container, whose own cgroup is the root of what it sees. False means
// there is none: v2 then says max, and v1 a number beyond any machine.
func containerMemory(cgroup fs.FS) (int64, bool) {
	for _, name := range []string{"memory.max", "memory/memory.limit_in_bytes"} {
		b, err := fs.ReadFile(cgroup, name)
		if err != nil {
			continue
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		if err != nil || limit >= 1<<60 {
			return 0, false
		}
		return limit, true
	}
	return 0, false
}

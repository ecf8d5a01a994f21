package server

import (
	"io/fs"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory tells the garbage collector to stay below 90 % of the memory
// limit of the container, so that a burst of large requests costs collections
// rather than the process. The rest is for what the runtime does not count. A
// GOMEMLIMIT in the environment wins: the runtime has read it already.
func limitMemory(cgroup fs.FS) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit, ok := containerMemory(cgroup); ok {
		debug.SetMemoryLimit(limit / 10 * 9)
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

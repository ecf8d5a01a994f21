// Package cost measures what calls cost, for tests of texts that are as expensive as their
// author can make them.
package cost

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// A Cost is the least CPU time of some calls, which other processes hardly change, and the
// least number of bytes that one allocates. No call is so large that the garbage collector
// of the function would run in it (see gcPercent in package server), so that is the peak of
// the heap, too.
type Cost struct {
	Time  time.Duration
	Bytes int
}

// Add measures a call.
func (c *Cost) Add(call func()) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	var before, after runtime.MemStats
	var began, ended syscall.Rusage
	runtime.ReadMemStats(&before)
	failed := syscall.Getrusage(syscall.RUSAGE_SELF, &began)
	call()
	if err := errors.Join(failed, syscall.Getrusage(syscall.RUSAGE_SELF, &ended)); err != nil {
		panic(err)
	}
	runtime.ReadMemStats(&after)
	took := time.Duration(ended.Utime.Nano() + ended.Stime.Nano() - began.Utime.Nano() - began.Stime.Nano())
	allocated := int(after.TotalAlloc - before.TotalAlloc)
	if *c == (Cost{}) {
		*c = Cost{took, allocated}
	}
	*c = Cost{min(c.Time, took), min(c.Bytes, allocated)}
}

// Compare returns the cost of a call, and of an ordinary one that is measured beside it:
// other processes of the machine can double the CPU time of a call. It stops when the call
// takes at most so many times as long as the best ordinary one so far, or after 100 calls.
func Compare(ordinary, call func(), usual Cost, times int) (took, beside Cost) {
	took.Add(call)
	if took.Time <= time.Duration(times)*usual.Time {
		return took, usual
	}
	for n := 0; n < 100 && (n == 0 || took.Time > time.Duration(times)*min(usual.Time, beside.Time)); n++ {
		beside.Add(ordinary)
		took.Add(call)
	}

	return took, beside
}

// An Attack is an expensive text: its head, and then Fill until it has its size.
type Attack struct {
	Name, Fill string
	Head       []struct {
		Text  string
		Times int
	}
}

// Text returns the text at a size in bytes.
func (a Attack) Text(size int) string {
	var out strings.Builder
	for _, h := range a.Head {
		out.WriteString(strings.Repeat(h.Text, h.Times))
	}
	out.WriteString(strings.Repeat(a.Fill, max(0, size-out.Len())/len(a.Fill)))

	return out.String()[:min(size, out.Len())]
}

// The race detector changes what a call allocates and how long it takes.
//go:build !race

package book

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-markdownview/book/internal/markdown"
)

func BenchmarkCheck(b *testing.B) {
	for _, chapters := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(chapters), func(b *testing.B) {
			files := handbook(chapters, 920_000/chapters)
			if errors, warnings := Check(files); len(errors.First)+len(warnings.First) > 0 {
				b.Fatal(errors, warnings)
			}
			size := 0
			for _, text := range files.Markdowns {
				size += len(text)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				Check(files)
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	text := handbook(1, 1<<20).Markdowns["part0/chapter0.md"]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for range markdown.Scan(text) {
			continue
		}
	}
}

// processorTime returns the CPU time of the process, which does not depend on other
// processes.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}

	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// cost returns the least CPU time of some runs of a function, and how many bytes it
// allocates. It stops when a run takes at most enough.
func cost(t *testing.T, runs int, enough time.Duration, f func()) (time.Duration, int) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := time.Hour
	var before, after runtime.MemStats
	for range runs {
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := processorTime(t)
		f()
		least = min(least, processorTime(t)-began)
		runtime.ReadMemStats(&after)
		if least <= enough {
			break
		}
	}

	return least, int(after.TotalAlloc - before.TotalAlloc)
}

// attacked returns books of a size in bytes with an expensive text, by the part of the book
// that has it.
func attacked(a attack, size int) map[string]func() {
	chapter := Files{Markdowns: map[string]string{summaryName: "- [A](a.md)", "a.md": a.text(size)}}
	unlisted := Files{Markdowns: map[string]string{summaryName: "- [B](b.md)", "b.md": "", "a.md": a.text(size)}}
	files := Files{Markdowns: map[string]string{}}
	for i := range 1000 {
		files.Markdowns[fmt.Sprintf("%d.md", i)] = a.text(size / 1000)
	}
	all := map[string]func(){
		"chapter":  func() { Check(chapter) },
		"unlisted": func() { Check(unlisted) },
		"Auto":     func() { Summary(files) },
	}
	for _, part := range []int{32, 8, 4} {
		summary := Files{Markdowns: map[string]string{summaryName: a.text(min(size, 1<<20) / part), "a.md": ""}}
		all[fmt.Sprintf("SUMMARY.md of %d KiB", size/part>>10)] = func() { Check(summary) }
	}

	return all
}

// TestAttacks checks that no text costs much more than an ordinary book of the same size,
// 1 MiB. package fn has a test with the limits for a call, which does more than Check. All
// limits of CPU time have room for slow machines: quadratic work would take minutes.
func TestAttacks(t *testing.T) {
	const size = 1 << 20
	ordinary := handbook(1000, size/1000-60)
	usual, allocated := cost(t, 5, 0, func() { Check(ordinary) })
	t.Logf("an ordinary book takes %s and allocates %d KiB", usual, allocated>>10)
	all := attacks(t)
	if len(all) < 30 {
		t.Errorf("want at least 30 texts, got %d", len(all))
	}
	for _, a := range all {
		for part, f := range attacked(a, size) {
			most := 3*usual + 20*time.Millisecond
			took, bytes := cost(t, 5, most, f)
			if took > most {
				t.Errorf("%s in a %s takes %s, and an ordinary book %s", a.Name, part, took, usual)
			}
			if bytes > 2*allocated+1<<20 { // All bytes, also those that are collected before others.
				t.Errorf("%s in a %s allocates %d KiB, and an ordinary book %d KiB", a.Name, part, bytes>>10, allocated>>10)
			}
		}
	}
}

// FuzzCost looks for expensive texts: it repeats a text until it has 64 KiB.
func FuzzCost(f *testing.F) {
	for _, a := range attacks(f) {
		f.Add(a.text(20)[:min(20, len(a.text(20)))], a.Fill)
	}
	ordinary := handbook(64, 1000)
	f.Fuzz(func(t *testing.T, head, fill string) {
		if fill == "" || len(head) > 1<<16 {
			return
		}
		a := attack{Fill: fill}
		text := head + a.text(1<<16-len(head))
		usual, allocated := cost(t, 3, 0, func() { Check(ordinary) })
		for part, f := range attacked(attack{Fill: text}, len(text)) {
			most := 10*usual + 50*time.Millisecond
			took, bytes := cost(t, 5, most, f)
			if took > most || bytes > 4*allocated+8<<20 {
				t.Errorf("%q and repetitions of %q in a %s take %s and %d bytes, and an ordinary book %s and %d bytes", head, fill, part, took, bytes, usual, allocated)
			}
		}
	})
}

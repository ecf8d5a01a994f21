//go:build soak

package server

import (
	"os"
	"testing"
	"time"

	"google.golang.org/grpc/credentials/insecure"
)

// TestSoak runs for the duration in SOAK, and checks that memory stays below its bound
// and does not grow. It ignores the first tenth of the time, in which pools and the
// heap reach their size.
func TestSoak(t *testing.T) {
	duration, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, large)
	l := startLoad(t, dial(t, p.address, insecure.NewCredentials()), callers, settled(newRequest("soak", 900<<10)))

	var peaks [10]float64
	var goroutines [10]float64
	for i := range peaks {
		for end := time.Now().Add(duration / 10); time.Now().Before(end); time.Sleep(duration / 1000) {
			l.mustNotFail(t)
			peaks[i] = max(peaks[i], p.metric(t, "process_resident_memory_bytes"))
			goroutines[i] = max(goroutines[i], p.metric(t, "go_goroutines"))
		}
		t.Logf("%v of %v: %d calls, peak of resident memory %.0f MiB, %v goroutines", duration/10*time.Duration(i+1), duration, l.calls.Load(), peaks[i]/(1<<20), goroutines[i])
		if peaks[i] > memoryBound {
			t.Errorf("resident memory: want at most %d MiB, got %.0f MiB", memoryBound>>20, peaks[i]/(1<<20))
		}
	}
	l.end(t)
	early, late := max(peaks[1], peaks[2], peaks[3]), max(peaks[7], peaks[8], peaks[9])
	if late > early*1.1 {
		t.Errorf("resident memory grows: %.0f MiB early, %.0f MiB late", early/(1<<20), late/(1<<20))
	}
	if max(goroutines[7], goroutines[8], goroutines[9]) > max(goroutines[1], goroutines[2], goroutines[3])*1.1 {
		t.Errorf("goroutines grow: %v", goroutines)
	}
}

//go:build soak

package server

import (
	"os"
	"slices"
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
	r := start(t, large)
	l := startLoad(t, dial(t, r.address, insecure.NewCredentials()), callers, newRequest("soak", 900<<10))

	var peaks, goroutines [10]float64
	for i := range peaks {
		for end := time.Now().Add(duration / 10); time.Now().Before(end); time.Sleep(duration / 1000) {
			peaks[i] = max(peaks[i], r.metric(t, "process_resident_memory_bytes"))
			goroutines[i] = max(goroutines[i], r.metric(t, "go_goroutines"))
		}
		t.Logf("%v of %v: %d calls, peak of resident memory %.0f MiB, %v goroutines", duration/10*time.Duration(i+1), duration, l.calls.Load(), peaks[i]/(1<<20), goroutines[i])
	}
	if peak := slices.Max(peaks[:]); peak > memoryBound {
		t.Errorf("resident memory: want at most %d MiB, got %.0f MiB", memoryBound>>20, peak/(1<<20))
	}
	for what, samples := range map[string][10]float64{"bytes of resident memory": peaks, "goroutines": goroutines} {
		if early, late := slices.Max(samples[1:4]), slices.Max(samples[7:]); late > early*1.1 {
			t.Errorf("%s grow: %.0f early, %.0f late", what, early, late)
		}
	}
}

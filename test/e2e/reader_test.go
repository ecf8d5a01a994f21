package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A reader requests two pages of a book in turn, every 10 ms, through its Service. It
// sends each request once, on a new connection, and does not wait for the response
// before it sends the next one.
type reader struct {
	stop func() readings

	mu       sync.Mutex
	readings readings
}

// readings are the responses that a reader has received.
type readings struct {
	requests int

	// failures are the times of the requests that did not return a complete page of one
	// revision, by error.
	failures map[string][]time.Time

	// pages is the number of pages of each revision.
	pages map[string]int

	// first is the time of the first page of each revision.
	first map[string]time.Time

	// gap is the longest time between two pages.
	gap  time.Duration
	last time.Time
}

// String returns a line for the log.
func (r readings) String() string {
	counts := []string{}
	for _, what := range sorted(r.failures) {
		times := r.failures[what]
		counts = append(counts, fmt.Sprintf("%d from %s to %s: %s", len(times),
			times[0].Format(time.StampMilli), times[len(times)-1].Format(time.StampMilli), what))
	}

	return fmt.Sprintf("%d requests, %d failed %q; longest time without a page %s; pages of each revision %v",
		r.requests, r.failed(), counts, r.gap.Round(time.Millisecond), r.pages)
}

func (r readings) failed() int {
	n := 0
	for _, times := range r.failures {
		n += len(times)
	}

	return n
}

// withRevision returns a text whose pages contain its revision three times, each time
// from another file: SUMMARY.md, which has the title, the chapter, and a file that the
// chapter includes.
func withRevision(revision string) option {
	return func(s map[string]any) {
		file("SUMMARY.md", fmt.Sprintf("# Summary\n\n- [First %[1]s](page.md)\n- [Second %[1]s](second.md)\n", revision))(s)
		for _, name := range []string{"page.md", "second.md"} {
			file(name, fmt.Sprintf("# Page\n\n%s\n\n{{#include revision.txt}}\n", revision))(s)
		}
		file("revision.txt", revision+"\n")(s)
	}
}

// revisionMark matches a revision in a page.
var revisionMark = regexp.MustCompile(`revision-\d+`)

// revisionOf returns the revision of a page, or an error if the page is incomplete or
// has two revisions.
func revisionOf(page string) (string, error) {
	marks := revisionMark.FindAllString(page, -1)
	if len(marks) < 3 || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
		return "", fmt.Errorf("page of %d bytes is incomplete", len(page))
	}
	if all := slices.Compact(slices.Sorted(slices.Values(marks))); len(all) > 1 {
		return "", fmt.Errorf("page with the revisions %v", all)
	}

	return marks[0], nil
}

// readBook starts a reader of a book with revisions. kube-proxy forwards requests to the
// first pods a moment after the MarkdownView is ready.
func (k *kit) readBook(name string) *reader {
	k.Helper()
	k.served(name, "revision-")
	address := k.address(name)
	ctx, cancel := context.WithCancel(k.Context())
	r := &reader{readings: readings{failures: map[string][]time.Time{}, pages: map[string]int{}, first: map[string]time.Time{}}}
	var running sync.WaitGroup
	running.Go(func() { r.read(ctx, address+"/page.html", address+"/second.html") })
	r.stop = func() readings {
		cancel()
		running.Wait()

		return r.readings
	}
	k.Cleanup(cancel)

	return r
}

// read sends requests until the context is done, and waits for all responses.
func (r *reader) read(ctx context.Context, urls ...string) {
	// The timeout is longer than any response takes on a busy machine. A request to a
	// deleted pod fails earlier.
	c := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		all.Go(func() {
			revision, err := revisionAt(c, urls[i%len(urls)])
			r.add(revision, err)
		})
	}
}

// revisionAt returns the revision of the page at a URL.
func revisionAt(c *http.Client, url string) (string, error) {
	rsp, err := c.Get(url) //nolint:noctx // The client has a timeout.
	if err != nil {
		return "", err
	}
	defer rsp.Body.Close() //nolint:errcheck // Only read.
	page, err := io.ReadAll(rsp.Body)
	if err == nil && rsp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", rsp.StatusCode)
	}
	if err != nil {
		return "", err
	}

	return revisionOf(string(page))
}

func (r *reader) add(revision string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.readings.requests++
	if err != nil {
		// Keep only the innermost error: the others contain ports.
		for errors.Unwrap(err) != nil {
			err = errors.Unwrap(err)
		}
		r.readings.failures[err.Error()] = append(r.readings.failures[err.Error()], now)

		return
	}
	if r.readings.pages[revision]++; r.readings.pages[revision] == 1 {
		r.readings.first[revision] = now
	}
	if !r.readings.last.IsZero() {
		r.readings.gap = max(r.readings.gap, now.Sub(r.readings.last))
	}
	r.readings.last = now
}

// has returns an error unless the reader has received a page of a revision.
func (r *reader) has(revision string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.readings.pages[revision] == 0 {
		return fmt.Errorf("no page of %s yet: %s", revision, r.readings)
	}

	return nil
}

// timed waits until a MarkdownView is healthy and the reader has received a page of a
// revision. It returns when that was.
func (k *kit) timed(name, revision string, r *reader) (ready, page time.Time) {
	k.Helper()
	k.settle(name)
	ready = time.Now()
	k.eventually("a page of "+revision, func(k *kit) { k.check(r.has(revision)) })
	r.mu.Lock()
	defer r.mu.Unlock()

	return ready, r.readings.first[revision]
}

// median returns the median and the maximum of durations, for the log.
func median(all []time.Duration) string {
	slices.Sort(all)

	return fmt.Sprintf("median %.1f s, maximum %.1f s", all[len(all)/2].Seconds(), all[len(all)-1].Seconds())
}

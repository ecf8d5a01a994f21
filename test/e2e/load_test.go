package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Load checks that N MarkdownViews that are created at once all have the right composed
// resources. With simulated pods it also measures time, CPU and memory, changes the text
// of all at once, and writes a column of both tables in the file that E2E_LOAD names.
func Load(k *kit) {
	n, kib := k.number("N", 500), k.number("KIB", 0)
	if k.realPods {
		n = k.many() // A node cannot run that many pods.
	}
	var names []string
	create := func() {
		names = k.applyMany(n, func(name string) *unstructured.Unstructured { return oneOfMany(name, kib) })
		k.settleAll(2*time.Minute+time.Duration(n)*time.Second, n)
	}
	if k.realPods {
		create()
		k.right(names, kib)

		return
	}

	empty := k.compactedSize()
	created := k.measure(n, create)
	k.measureDatabase(created, n, empty)
	k.right(names, kib)
	changed := k.measure(n, func() {
		k.applyMany(n, func(name string) *unstructured.Unstructured {
			return book(name, file("page.md", pageOf(name, kib)), file("SUMMARY.md", "# Summary\n\n- [Changed](page.md)\n"))
		})
		k.settleAll(2*time.Minute+time.Duration(n)*time.Second, n)
	})
	path := os.Getenv("E2E_LOAD")
	for heading, cells := range map[string]map[string]string{"MarkdownViews": created, "Changed MarkdownViews": changed} {
		cells[heading] = strconv.Itoa(n)
		if kib > 0 {
			cells[heading] += fmt.Sprintf(" of %d KiB", kib)
		}
		for _, label := range sorted(cells) {
			k.Logf("%s: %s: %s", heading, label, cells[label])
		}
		if path != "" {
			page, err := withColumn(k.read(path), heading, cells)
			k.must(err)
			k.must(os.WriteFile(path, []byte(page), 0o600))
		}
	}
}

// number returns the value of an environment variable, or the default.
func (k *kit) number(variable string, otherwise int) int {
	value := os.Getenv(variable)
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	k.must(err)

	return n
}

// measure returns the time, CPU and memory that the function, Crossplane and Kubernetes
// use to create or change n MarkdownViews: the cells of a column of docs/capacity.md, by
// row.
func (k *kit) measure(n int, apply func()) map[string]string {
	before, err := k.loopback.Usage()
	k.must(err)
	calls, begin := k.calls(), time.Now()
	apply()
	healthy := time.Since(begin)
	k.idle()
	after, err := k.loopback.Usage()
	k.must(err)
	cells := map[string]string{
		"---":                                    "--:",
		"measured on":                            begin.Format(time.DateOnly),
		"until the last is healthy":              fmt.Sprintf("%.0f s", healthy.Seconds()),
		"calls of the function per MarkdownView": fmt.Sprintf("%.1f", float64(k.calls()-calls)/float64(n)),
	}
	for name, u := range after {
		cpu := (u.CPU - before[name].CPU).Seconds() * 1000 / float64(n)
		cells["CPU of "+name+" per MarkdownView"] = fmt.Sprintf("%.1f ms", cpu)
		cells["memory of "+name] = fmt.Sprintf("%d MiB", u.Memory>>20)
	}

	return cells
}

// measureDatabase adds the cells with the storage in etcd, which had the size empty
// before n MarkdownViews were created.
func (k *kit) measureDatabase(cells map[string]string, n int, empty int64) {
	file, err := k.loopback.DatabaseSize(k.Context())
	k.must(err)
	full := k.compactedSize()
	k.must(k.DeleteAllOf(k.Context(), &corev1.Event{}, client.InNamespace(k.namespace)))
	withoutEvents := k.compactedSize()

	each := func(bytes int64) string { return fmt.Sprintf("%.0f KiB", float64(bytes)/float64(n)/(1<<10)) }
	cells["database of etcd before compaction"] = fmt.Sprintf("%d MiB", file>>20)
	cells["after compaction, per MarkdownView"] = each(full - empty)
	cells["of which events, kept for one hour"] = each(full - withoutEvents)
}

// compactedSize returns the size of the database of etcd after compaction, in bytes.
func (k *kit) compactedSize() int64 {
	k.Helper()
	k.must(k.loopback.CompactDatabase(k.Context()))
	size, err := k.loopback.DatabaseSize(k.Context())
	k.must(err)

	return size
}

// withColumn writes the cells into the table of a page whose first heading is given, and
// returns the page. It replaces the column with the same heading, or adds one. The first
// cell of a row is its name.
func withColumn(page, heading string, cells map[string]string) (string, error) {
	lines := strings.Split(page, "\n")
	column := 0
	for i, line := range lines {
		row := strings.Split(strings.Trim(line, "| "), " | ")
		if row[0] == heading {
			if column = slices.Index(row, cells[row[0]]); column < 0 {
				column = len(row)
			}
		}
		if column == 0 {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			return strings.Join(lines, "\n"), nil
		}
		cell, ok := cells[row[0]]
		if !ok {
			return "", fmt.Errorf("the table has a row %q, which is not measured", row[0])
		}
		row = slices.Replace(row, column, min(column+1, len(row)), cell)
		lines[i] = "| " + strings.Join(row, " | ") + " |"
	}

	return "", fmt.Errorf("there is no table of %s", heading)
}

func TestWithColumn(t *testing.T) {
	page := "# Page\n\n| MarkdownViews | 1 | 2 |\n| --- | --: | --: |\n| time | 1 s | 2 s |\n\n| other |\n"
	for want, cells := range map[string]map[string]string{
		strings.Replace(page, "1 s", "3 s", 1): {"MarkdownViews": "1", "---": "--:", "time": "3 s"},
		"# Page\n\n| MarkdownViews | 1 | 2 | 3 |\n| --- | --: | --: | --: |\n| time | 1 s | 2 s | 3 s |\n\n| other |\n": {"MarkdownViews": "3", "---": "--:", "time": "3 s"},
		"": {"MarkdownViews": "1", "---": "--:"},
	} {
		got, err := withColumn(page, "MarkdownViews", cells)
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == "") {
			t.Errorf("withColumn(%v): error %v, -want +got:\n%s", cells, err, diff)
		}
	}
}

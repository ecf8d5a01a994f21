package e2e

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A checkedBook has what "markdownview check" reports of a folder, as the function would, with
// the file and the line.
type checkedBook struct{ errors, warnings []string }

// Checked checks that "markdownview check" reports the same as the function, for random
// folders and for the cases of package book.
func Checked(k *kit) {
	dir := k.TempDir()
	_, err := k.run("samples", dir, "--n=200", "--folders=../../book/testdata/cases.yaml")
	k.must(err)
	books := k.readChecked(k.sh(dir, "markdownview check * 2>/dev/null || [ $? = 1 ]"))
	k.sh(dir, "ls | xargs -P 4 -I FOLDER markdownview pack FOLDER --output FOLDER.yaml")
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	k.must(err)
	// The pods of so many books would take minutes.
	composition := k.given("checked", "templates: {deployment: {spec: {replicas: 0}}}")
	var applied []string
	for _, file := range files {
		v := k.parse(k.read(file))[0]
		composition(v.Object["spec"].(map[string]any))
		switch err := k.tryApply(v); {
		case apierrors.IsInvalid(err) && len(books[v.GetName()].errors) > 0:
		case err != nil:
			k.Errorf("%s: check reports %q, and the API server %v", v.GetName(), books[v.GetName()], err)
		default:
			applied = append(applied, v.GetName())
		}
	}
	k.Logf("compare %d of %d books; check reports problems of %d", len(applied), len(files), len(books))
	if len(applied) < 400 || len(books) < 200 {
		k.Error("the test compares too few books")
	}
	for _, name := range applied {
		k.eventually(name+" reports what check does", func(k *kit) { k.agrees(k.view(name), books[name]) })
	}
}

// finding matches what check prints: a folder, a file, a line, a level, a message and a rule.
var finding = regexp.MustCompile(`(?m)^([^/:]+)/?(.*?)(?::([0-9]+))?: (error|warning): (.*) \((\w+)\)$`)

// readChecked returns what check has printed, by folder.
func (k *kit) readChecked(out string) map[string]checkedBook {
	all, books := finding.FindAllStringSubmatch(out, -1), map[string]checkedBook{}
	if lines := strings.Count(out, "\n"); lines != len(all) {
		k.Fatalf("%d of %d lines are problems:\n%s", len(all), lines, out)
	}
	for _, m := range all {
		book, text := books[m[1]], m[5]
		switch {
		case m[3] != "":
			text = m[2] + " line " + m[3] + ": " + text
		case m[2] != "":
			text = m[2] + ": " + text
		}
		switch {
		case m[4] == "error":
			book.errors = append(book.errors, text)
		case !strings.HasPrefix(m[6], "Dead"): // Only check finds these.
			book.warnings = append(book.warnings, text)
		}
		books[m[1]] = book
	}

	return books
}

// agrees reports an error unless the conditions of a MarkdownView have the same problems.
func (k *kit) agrees(v *markdownView, b checkedBook) {
	degraded, complete := v.condition("Degraded"), v.condition("BookComplete")
	if degraded.Status == "" {
		k.Fatal("no condition Degraded")
	}
	if degraded.Status == metav1.ConditionFalse {
		degraded.Message = ""
	}
	if complete.Status != metav1.ConditionFalse {
		complete.Message = ""
	}
	k.sameProblems(strings.ReplaceAll(degraded.Message, "spec.markdowns: Invalid value: ", ""), b.errors)
	k.sameProblems(strings.TrimPrefix(complete.Message, "The book has problems: "), b.warnings)
}

// sameProblems reports an error unless a message consists of these texts. A text can be a part of
// another.
func (k *kit) sameProblems(message string, texts []string) {
	rest := message
	for _, text := range slices.SortedFunc(slices.Values(texts), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		rest = strings.Replace(rest, text, "\n", 1)
	}
	if separators := strings.TrimSuffix(strings.Repeat("\n; ", len(texts)), "; "); rest != separators {
		k.Errorf("the function reports %q, and check %q", message, texts)
	}
}

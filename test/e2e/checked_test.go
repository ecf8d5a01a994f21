package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	found, err := k.sh(dir, "markdownview check * 2>/dev/null || [ $? = 1 ]")
	k.must(err)
	books := k.readChecked(found)
	if out, err := k.sh(dir, "ls | xargs -P 4 -I FOLDER markdownview pack FOLDER --output FOLDER.yaml"); err != nil {
		k.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	k.must(err)
	// The pods of so many books would take minutes.
	composition := k.composition("checked", kind, ours(map[string]any{"templates": map[string]any{"deployment": map[string]any{"spec": map[string]any{"replicas": int64(0)}}}}))
	var applied []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		k.must(err)
		v := k.parse(string(text))[0]
		k.must(unstructured.SetNestedField(v.Object, composition, "spec", "crossplane", "compositionRef", "name"))
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
		k.until(name, "reports what check does", books[name].agrees)
	}
}

// finding matches what check prints: a folder, a file, a line, a level, a message and a rule.
var finding = regexp.MustCompile(`(?m)^([^/:]+)/?(.*?)(?::([0-9]+))?: (error|warning): (.*) \((\w+)\)$`)

// readChecked returns what check has printed, by folder.
func (k *kit) readChecked(out string) map[string]checkedBook {
	k.Helper()
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

// agrees returns an error unless the conditions of a MarkdownView have the same problems.
func (b checkedBook) agrees(v *markdownView) error {
	degraded, complete := v.condition("Degraded"), v.condition("BookComplete")
	if degraded.Status == "" {
		return errors.New("no condition Degraded")
	}
	if degraded.Status == metav1.ConditionFalse {
		degraded.Message = ""
	}
	if complete.Status != metav1.ConditionFalse {
		complete.Message = ""
	}

	return errors.Join(
		sameProblems(strings.ReplaceAll(degraded.Message, "spec.markdowns: Invalid value: ", ""), b.errors),
		sameProblems(strings.TrimPrefix(complete.Message, "The book has problems: "), b.warnings))
}

// sameProblems returns an error unless a message consists of these texts. A text can be a part of
// another.
func sameProblems(message string, texts []string) error {
	rest := message
	for _, text := range slices.SortedFunc(slices.Values(texts), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		rest = strings.Replace(rest, text, "\n", 1)
	}
	if separators := strings.TrimSuffix(strings.Repeat("\n; ", len(texts)), "; "); rest != separators {
		return fmt.Errorf("the function reports %q, and check %q", message, texts)
	}

	return nil
}

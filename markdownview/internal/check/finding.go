package check

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
)

// The levels of Findings, as SARIF names them.
const (
	LevelError   = "error"
	LevelWarning = "warning"
)

// A Finding is a problem of a book.
type Finding struct {
	File    string
	Line    int // 0 means the whole file.
	Level   string
	Rule    string // A reason of a condition, or a kind of package proof.
	Message string
}

// String returns a finding as compilers print theirs.
func (f Finding) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.File, f.Line)
	}

	return fmt.Sprintf("%s: %s: %s (%s)", at, f.Level, f.Message, f.Rule)
}

// WriteText prints findings, each in a line.
func WriteText(w io.Writer, findings []Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}

	return nil
}

// The parts of SARIF 2.1.0 that code hosts read.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    map[string]sarifDriver `json:"tool"`
		Results []sarifResult          `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string            `json:"id"`
		ShortDescription map[string]string `json:"shortDescription"`
	}
	sarifResult struct {
		RuleID    string                  `json:"ruleId"`
		Level     string                  `json:"level"`
		Message   map[string]string       `json:"message"`
		Locations []map[string]sarifPlace `json:"locations"`
	}
	sarifPlace struct {
		ArtifactLocation map[string]string `json:"artifactLocation"`
		Region           map[string]int    `json:"region,omitempty"`
	}
)

// descriptions are those of the rules that are not reasons of the function.
var descriptions = map[string]string{
	"Incomplete": "A part of the book that mdBook ignores or does not serve as intended",
	"DeadLink":   "A link that leads nowhere",
	"DeadImage":  "An image that is not in the book",
	"DeadAnchor": "A link to a heading that does not exist",
}

// WriteSARIF prints findings for code hosts. version is that of the program.
func WriteSARIF(w io.Writer, version string, findings []Finding) error {
	driver := sarifDriver{
		Name: "markdownview", Version: version, Rules: []sarifRule{},
		InformationURI: "https://github.com/crossplane-contrib/function-markdownview/blob/main/docs/authors.md",
	}
	results := []sarifResult{}
	for _, f := range findings {
		if !slices.ContainsFunc(driver.Rules, func(r sarifRule) bool { return r.ID == f.Rule }) {
			description, ok := descriptions[f.Rule]
			if !ok {
				description = "An error of the function, with the reason " + f.Rule
			}
			driver.Rules = append(driver.Rules, sarifRule{f.Rule, map[string]string{"text": description}})
		}
		uri := url.URL{Path: filepath.ToSlash(f.File)}
		at := sarifPlace{ArtifactLocation: map[string]string{"uri": uri.String()}}
		if f.Line > 0 {
			at.Region = map[string]int{"startLine": f.Line}
		}
		message, locations := map[string]string{"text": f.Message}, []map[string]sarifPlace{{"physicalLocation": at}}
		results = append(results, sarifResult{f.Rule, f.Level, message, locations})
	}
	runs := []sarifRun{{map[string]sarifDriver{"driver": driver}, results}}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")

	return e.Encode(sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", runs})
}

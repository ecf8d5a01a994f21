package check

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
)

// The parts of SARIF 2.1.0 that code hosts read.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPlace `json:"physicalLocation"`
	}
	sarifPlace struct {
		ArtifactLocation sarifFile    `json:"artifactLocation"`
		Region           *sarifRegion `json:"region,omitempty"`
	}
	sarifFile struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
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
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "markdownview", Version: version, Rules: []sarifRule{},
			InformationURI: "https://github.com/crossplane-contrib/function-markdownview/blob/main/docs/authors.md",
		}},
		Results: []sarifResult{},
	}
	for _, f := range findings {
		if !slices.ContainsFunc(run.Tool.Driver.Rules, func(r sarifRule) bool { return r.ID == f.Rule }) {
			description, ok := descriptions[f.Rule]
			if !ok {
				description = "An error of the function, with the reason " + f.Rule
			}
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{f.Rule, sarifText{description}})
		}
		at := sarifPlace{ArtifactLocation: sarifFile{(&url.URL{Path: filepath.ToSlash(f.File)}).String()}}
		if f.Line > 0 {
			at.Region = &sarifRegion{f.Line}
		}
		run.Results = append(run.Results, sarifResult{f.Rule, f.Level, sarifText{f.Message}, []sarifLocation{{at}}})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")

	return e.Encode(sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}

package diag

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
	// Invocations says how many results are left out.
	Invocations []sarifInvocation `json:"invocations,omitempty"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}

// maxResults is how many results a run may have: GitHub refuses logs with more.
const maxResults = 25_000

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string             `json:"id"`
	ShortDescription sarifMessage       `json:"shortDescription"`
	HelpURI          string             `json:"helpUri"`
	Configuration    sarifConfiguration `json:"defaultConfiguration"`
}

type sarifConfiguration struct {
	Level string `json:"level"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId,omitempty"`
	RuleIndex *int            `json:"ruleIndex,omitempty"`
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
	Related   []sarifLocation `json:"relatedLocations,omitempty"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	ID       int           `json:"id,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
	Message  *sarifMessage `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

// WriteSARIF prints problems as a SARIF 2.1.0 log with one run, the form that
// code scanning services read. toolVersion is this program's version and may be
// empty; toolURI is the address of its repository, which describes every code. The run
// has at most maxProblems of one file, or all if that is 0, and 25,000 in all, errors
// first; a notification of the run says how many are left out. It returns the first
// error of w.
func WriteSARIF(w io.Writer, ds []Diagnostic, maxProblems int, toolVersion, toolURI string) error {
	kept, _ := worst(ds, maxProblems)
	if len(kept) > maxResults {
		errorsFirst(kept)
		kept = kept[:maxResults]
	}
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "mcpgraph", Version: toolVersion, InformationURI: toolURI,
			Rules: make([]sarifRule, 0, len(Codes)),
		}},
		ColumnKind: "unicodeCodePoints",
		Results:    make([]sarifResult, 0, len(kept)),
	}
	if n := len(ds) - len(kept); n > 0 {
		run.Invocations = []sarifInvocation{{true, []sarifNotification{{"warning", sarifMessage{notShown(n, len(ds))}}}}}
	}
	index := make(map[string]int, len(Codes))
	for i, c := range Codes {
		index[c.Code] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID:               c.Code,
			ShortDescription: sarifMessage{c.Summary},
			HelpURI:          toolURI + "/blob/main/docs/diagnostics.md#" + c.Code,
			Configuration:    sarifConfiguration{sarifLevel(c.Severity)},
		})
	}
	for _, d := range kept {
		text := d.Message
		if d.Hint != "" {
			text += ". " + d.Hint
		}
		result := sarifResult{
			RuleID: d.Code, Level: sarifLevel(d.Severity), Message: sarifMessage{text},
			Locations: sarifPlace(0, d.File, d.Pos, d.End, ""),
		}
		if i, ok := index[d.Code]; ok {
			result.RuleIndex = &i
		}
		for i, r := range d.Related {
			result.Related = append(result.Related, sarifPlace(i+1, fileOf(r, d), r.Pos, Pos{}, r.Message)...)
		}
		run.Results = append(run.Results, result)
	}
	return encode(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifLevel(s Severity) string {
	if s == Info {
		return "note"
	}
	return s.String()
}

func sarifPlace(id int, file string, pos, end Pos, message string) []sarifLocation {
	if file == "" {
		return nil
	}
	l := sarifLocation{ID: id, Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(file)}}}
	if !pos.IsZero() {
		l.Physical.Region = &sarifRegion{pos.Line, pos.Col, end.Line, end.Col}
	}
	if message != "" {
		l.Message = &sarifMessage{message}
	}
	return []sarifLocation{l}
}

// fileURI keeps relative paths relative, which is what code scanning resolves
// against the repository.
func fileURI(file string) string {
	path := filepath.ToSlash(file)
	u := url.URL{Path: path}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		if !strings.HasPrefix(path, "/") {
			u.Path = "/" + path
		}
		return u.String()
	}
	return strings.TrimPrefix(u.String(), "./")
}

package lsp

import (
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/language"
	"github.com/mcpgraph/mcpgraph/internal/project"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// publish sends the diagnostics of an open file.
func publish(s *server, path string) {
	s.mu.Lock()
	f := s.open[path]
	if f == nil || s.closed {
		s.mu.Unlock()
		return
	}
	t, number, uri := f.text, f.number, f.uri
	s.work.Add(1)
	s.mu.Unlock()
	defer s.work.Done()
	doc := t.document()
	if t.ctx.Err() != nil {
		return // a later text is checked soon
	}
	byFile := map[string][]diagnostic{}
	indexes := map[string]*lineIndex{}
	for _, d := range worst(doc.Diagnostics, maxProblem) {
		byFile[d.File] = append(byFile[d.File], diagnosticOf(s, t, d, indexes))
	}
	if byFile[path] == nil {
		byFile[path] = []diagnostic{}
	}
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.mu.Lock()
	if f := s.open[path]; f == nil || f.text != t {
		s.mu.Unlock()
		return
	}
	updates := replaceFound(s, path, byFile)
	s.mu.Unlock()
	for _, u := range updates {
		if u.URI == uri {
			u.Version = &number
		}
		s.notify("textDocument/publishDiagnostics", u)
	}
}

// worst returns at most so many diagnostics, in their order: errors before warnings,
// and warnings before others.
func worst(ds []diag.Diagnostic, most int) []diag.Diagnostic {
	if len(ds) <= most {
		return ds
	}
	keep := make([]bool, len(ds))
	for s := diag.Error; s <= diag.Info; s++ {
		for i, d := range ds {
			if d.Severity == s && most > 0 {
				keep[i] = true
				most--
			}
		}
	}
	var kept []diag.Diagnostic
	for i, d := range ds {
		if keep[i] {
			kept = append(kept, d)
		}
	}
	return kept
}

// fitting returns the first of some diagnostics, as many as a message has space for.
func fitting(list []diagnostic) []diagnostic {
	const around = 400 // bytes of one beside its texts
	space := maxAnswer / 2
	for i, d := range list {
		space -= around + len(d.Message)
		for _, r := range d.Related {
			space -= around + len(r.Message)
		}
		if space < 0 || i == maxProblem {
			return list[:i]
		}
	}
	return list
}

// replaceFound notes what a check of one file found in which files, nil for a file
// that was closed, and returns what the client is to be told: of each of these
// files, and of those where something was found before, everything that is found
// in it. The caller holds s.mu.
func replaceFound(s *server, source string, byFile map[string][]diagnostic) []publishParams {
	changed := map[string]bool{}
	for target, bySource := range s.found {
		if _, ok := bySource[source]; ok {
			changed[target] = true
			delete(bySource, source)
		}
	}
	for target, list := range byFile {
		changed[target] = true
		if s.found[target] == nil {
			s.found[target] = map[string][]diagnostic{}
		}
		s.found[target][source] = list
	}
	var updates []publishParams
	for target := range changed {
		u := publishParams{URI: uriOf(target), Diagnostics: []diagnostic{}}
		if f := s.open[target]; f != nil {
			u.URI = f.uri
		}
		for _, list := range s.found[target] {
			u.Diagnostics = append(u.Diagnostics, list...)
		}
		u.Diagnostics = fitting(u.Diagnostics)
		if len(s.found[target]) == 0 {
			delete(s.found, target)
		}
		updates = append(updates, u)
	}
	return updates
}

// diagnosticsPage describes every code.
const diagnosticsPage = project.Documents + "docs/diagnostics.md#"

// diagnosticOf returns a diagnostic of a text, or of another file that it is checked
// with, as the protocol has it. indexes are those of other files, as far as they are
// known already.
func diagnosticOf(s *server, t *text, d diag.Diagnostic, indexes map[string]*lineIndex) diagnostic {
	linesOf := func(path string) *lineIndex {
		index, ok := indexes[path]
		if !ok {
			index = linesOf(s, path)
			indexes[path] = index
		}
		return index
	}
	x := t.lines()
	out := diagnostic{
		Severity: int(d.Severity) + 1, Code: d.Code, CodeDescription: &description{diagnosticsPage + d.Code},
		Source: "mcpgraph", Message: d.Message,
	}
	if d.Hint != "" {
		out.Message += "\n" + d.Hint
	}
	if d.File == t.path {
		out.Range = x.span(language.DiagnosticSpan(t.document(), d))
	} else if other := linesOf(d.File); other != nil {
		out.Range = Range{other.place(d.Pos), other.place(d.Pos)}
		if !d.End.IsZero() {
			out.Range.End = other.place(d.End)
		}
	}
	for _, r := range d.Related {
		info := relatedInfo{Location: location{URI: uriIn(s, r.File)}, Message: r.Message}
		index := x
		if r.File == "" || r.File == d.File {
			info.Location.URI = uriIn(s, d.File)
		}
		if r.File != "" && r.File != t.path {
			index = linesOf(r.File)
		}
		if index != nil {
			at := index.place(r.Pos)
			info.Location.Range = Range{at, at}
		}
		out.Related = append(out.Related, info)
	}
	return out
}

// uriIn returns the URI of a file: the client's, if it has it open.
func uriIn(s *server, path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[path]; f != nil {
		return f.uri
	}
	return uriOf(path)
}

// linesOf returns the lines of a file, or nil if it cannot be read.
func linesOf(s *server, path string) *lineIndex {
	if t := s.textOf(path); t != nil {
		return t.lines()
	}
	content, err := readFile(path)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return newLineIndex(strings.TrimPrefix(string(content), "\ufeff"), s.encoding)
}

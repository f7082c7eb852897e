package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// snapshotFolder holds the snapshots of the test files beside it.
const snapshotFolder = "__snapshots__"

// snapshots are those of one test file.
type snapshots struct {
	path     string
	stored   map[string]value.Value // by test
	now      map[string]value.Value // of the tests that ran
	changed  bool
	problems []diag.Diagnostic
}

// snapshotPath returns the file of the snapshots of a test file.
func snapshotPath(test string) string {
	name := strings.TrimSuffix(filepath.Base(test), filepath.Ext(test))
	return filepath.Join(filepath.Dir(test), snapshotFolder, name+".json")
}

// readSnapshots reads the snapshots of a test file.
func readSnapshots(test string) snapshots {
	s := snapshots{path: snapshotPath(test), stored: map[string]value.Value{}, now: map[string]value.Value{}}
	text, err := boundedfile.Read(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	var v value.Value
	if err == nil {
		v, err = value.ParseStrict(string(text))
	}
	if err == nil && v.Kind() != value.Object {
		err = errors.New("expected a JSON object")
	}
	if err != nil {
		s.problems = []diag.Diagnostic{{
			File: s.path, Severity: diag.Error, Code: diag.CodeFile, Message: "cannot read the snapshots: " + reason(err),
			Hint: "restore the file, or remove it and run the tests with --update",
		}}
	}
	for _, e := range v.Entries() {
		s.stored[e.Key] = e.Value
	}
	return s
}

// compare compares what came of a test with its snapshot.
func (s *snapshots) compare(r *Result, update bool) {
	now, _ := value.Parse(r.snapshot)
	name := r.Test.Name
	s.now[name] = now
	before, known := s.stored[name]
	if known && value.Equal(before, now) {
		return
	}
	s.changed = true
	if update {
		return
	}
	node := r.Test.Expect.Node.Get("snapshot")
	if node == nil {
		node = r.Test.Expect.Node
	}
	p := Problem{Diagnostic: node.Problem(CodeTestFailed, "the snapshot is not what came"), Expected: suite.YAML(before), Found: suite.YAML(now)}
	if !known {
		p.Message, p.Expected = "there is no snapshot yet", ""
	}
	p.Hint = "if it is right, run again with --update"
	r.fail(p)
}

// finish writes the snapshots if that is wanted, and returns what is worth knowing.
func (s *snapshots) finish(f *File, update bool) []diag.Diagnostic {
	if f.failed() || len(s.problems) > 0 {
		return nil
	}
	known := map[string]bool{}
	for _, t := range f.file.Tests {
		known[t.Name] = t.Expect.Snapshot
	}
	var obsolete []string
	b := value.NewBuilder(len(s.stored))
	for _, t := range f.file.Tests { // in the order of the file
		if v, ok := s.now[t.Name]; ok {
			b.Set(t.Name, v)
		} else if v, stored := s.stored[t.Name]; stored && t.Expect.Snapshot {
			b.Set(t.Name, v)
		}
	}
	for name := range s.stored {
		if !known[name] {
			obsolete = append(obsolete, name)
		}
	}
	switch {
	case !update && len(obsolete) > 0:
		return []diag.Diagnostic{{
			File: s.path, Severity: diag.Warning, Code: CodeSnapshot,
			Message: fmt.Sprintf("no test has the snapshot %s", diag.List(obsolete)), Hint: "run the tests with --update to remove it",
		}}
	case !update || !s.changed && len(obsolete) == 0:
		return nil
	}
	if err := s.write(b.Value()); err != nil {
		return []diag.Diagnostic{{
			File: s.path, Severity: diag.Error, Code: diag.CodeFile, Message: "cannot write the snapshots: " + reason(err),
		}}
	}
	return nil
}

// write replaces the file by one that is complete.
func (s *snapshots) write(v value.Value) error {
	if v.Len() == 0 {
		return os.Remove(s.path)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return err
	}
	text := append(v.AppendIndent(nil, "  "), '\n')
	if now, err := boundedfile.Read(s.path); err == nil && bytes.Equal(now, text) {
		return nil
	}
	fresh := s.path + ".new"
	defer os.Remove(fresh)
	if err := os.WriteFile(fresh, text, 0o666); err != nil {
		return err
	}
	return os.Rename(fresh, s.path)
}

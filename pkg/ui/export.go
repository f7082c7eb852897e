package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/suite/runner"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// draftTime bounds the making of a test.
const draftTime = 30 * time.Second

func exportRun(p *Page, w http.ResponseWriter, r *http.Request) error {
	s, err := p.subject(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if s.history == nil {
		return refused("no_history", "%v", errNoHistory)
	}
	switch as := r.URL.Query().Get("as"); as {
	case "", "json":
		name := "run-" + s.id + ".json"
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
		_, _ = w.Write(append(exported(s).AppendIndent(nil, "  "), '\n'))
		return nil
	case "test":
		return exportTest(p, w, r, s)
	default:
		return badRequest("as is %q; expected json or test", as)
	}
}

// exported returns a run as a document: as clients read it, so that eval and test read
// it too, and beside that the records of which it can be made again.
func exported(s *subject) value.Value {
	b := value.NewBuilder(12)
	b.Set("id", value.FromString(s.id))
	b.Set("tool", value.FromString(s.graph.Name))
	b.Set("began", value.FromString(s.began.UTC().Format(time.RFC3339Nano)))
	if !s.ended.IsZero() {
		b.Set("ended", value.FromString(s.ended.UTC().Format(time.RFC3339Nano)))
	}
	b.Set("seed", value.FromString(strconv.FormatUint(s.history.Seed(), 10)))
	b.Set("arguments", s.shower.whole(s.history.Args()))
	if s.history.Done() && s.failed == "" {
		b.Set("result", s.shower.whole(s.history.Result()))
	}
	if s.failed != "" {
		b.Set("error", value.FromString(s.shower.text(s.failed)))
	}
	var history, records []value.Value
	for rec := range s.history.Records(0) {
		records = append(records, s.shower.whole(rec.Value()))
		if rec.Event == executor.Done {
			history = append(history, s.shower.whole(runs.Execution(rec)))
		}
	}
	b.Set("history", value.FromArray(history))
	b.Set("records", value.FromArray(records))
	return b.Value()
}

// exportTest answers with a test that makes the call of a run again, and with the
// cassette that answers in the place of the servers.
func exportTest(p *Page, w http.ResponseWriter, r *http.Request, s *subject) error {
	if s.run == nil {
		return errNoGraph
	}
	tape, err := tape(p, s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), draftTime)
	defer cancel()
	name := fmt.Sprintf("%s %s", s.graph.Name, s.id)
	text, err := runner.DraftOf(ctx, tape, name, runner.Options{Getenv: p.opts.Getenv, Inputs: p.opts.Inputs, MCPFiles: p.opts.MCPFiles})
	if err != nil {
		return refused("no_test", "%v", err)
	}
	respond(w, map[string]any{
		"test": string(text), "cassette": string(tape.Text()),
		"names": map[string]string{
			"test":     strings.TrimSuffix(p.texts.name(), filepath.Ext(p.texts.name())) + "-" + s.id + ".test.yaml",
			"cassette": filepath.Base(tape.Path),
		},
	})
	return nil
}

// tape returns what the servers answered in a run.
func tape(p *Page, s *subject) (*cassette.Cassette, error) {
	folder, err := filepath.Abs(filepath.Dir(p.opts.Path))
	if err != nil {
		return nil, err
	}
	c := &cassette.Cassette{
		Path: filepath.Join(folder, s.graph.Name+"-"+s.id+".jsonl"),
		Run:  &cassette.Run{Config: p.texts.name(), Tool: s.graph.Name, Arguments: s.shower.whole(s.history.Args())},
	}
	next := 0
	for rec := range s.history.Records(0) {
		if rec.Index != next {
			return nil, refused("no_test", "some records of the run were dropped, as it is so long")
		}
		next++
		if rec.Server == "" || rec.Arguments.IsUndefined() || rec.FromCache || rec.Event != executor.Done && rec.Event != executor.Retried {
			continue
		}
		x := cassette.Exchange{Server: rec.Server, Tool: rec.Tool, Arguments: s.shower.whole(rec.Arguments)}
		switch {
		case !rec.Reply.IsUndefined():
			x.Reply = s.shower.whole(rec.Reply)
		case rec.ReplyBytes > 0:
			return nil, refused("no_test", "the reply to %s of server %s has %d bytes and was not kept; record the call with mcpgraph run --record", rec.Tool, rec.Server, rec.ReplyBytes)
		case rec.Err != nil:
			f := executor.FailureOf(rec.Err)
			if upstream.CheckFailureName(f.Name) != nil {
				continue // it did not come to a call
			}
			x.Failure = &upstream.Failure{Name: f.Name, Message: s.shower.text(f.Message)}
		default:
			continue
		}
		c.Exchanges = append(c.Exchanges, x)
	}
	return c, nil
}

// Bounds of imported runs.
const (
	maxImports     = 20
	maxImportBytes = 64 << 20 // of their texts together
)

// imported is a run that was made of an exported one.
type imported struct {
	id           string
	run          *executor.Run
	began, ended time.Time
	failed       string
	bytes        int
}

// imports are the imported runs of a page.
type imports struct {
	one sync.Mutex // is read at a time

	mu   sync.Mutex
	runs []*imported // the oldest first
}

// add keeps a run, and forgets the oldest ones beyond the bounds.
func (m *imports) add(in *imported) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs = append(m.runs, in)
	total := 0
	for i := len(m.runs) - 1; i >= 0; i-- {
		if total += m.runs[i].bytes; total > maxImportBytes || len(m.runs)-i > maxImports {
			m.runs = m.runs[i+1:]
			break
		}
	}
}

func (m *imports) all() []*imported {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.runs)
}

// find returns a run, or nil.
func (m *imports) find(id string) *imported {
	for _, in := range m.all() {
		if in.id == id {
			return in
		}
	}
	return nil
}

func importRun(p *Page, w http.ResponseWriter, r *http.Request) error {
	p.imports.one.Lock()
	defer p.imports.one.Unlock()
	var body struct {
		Text string `json:"text"`
	}
	if err := decode(w, r, maxImport, &body); err != nil {
		return err
	}
	e, err := p.program()
	if err != nil {
		return err
	}
	v, err := value.Parse(body.Text)
	if err != nil {
		return badRequest("the run is no JSON: %v", err)
	}
	if v.Get("records").Kind() != value.Array || v.Get("arguments").Kind() != value.Object {
		return badRequest("this is no exported run: it has no records or no arguments")
	}
	g, err := e.Graph(v.Get("tool").Str())
	if err != nil {
		return refused("unknown_tool", "the run is one of the tool %q, which %s does not have", v.Get("tool").Str(), p.texts.name())
	}
	in := &imported{id: "import-" + runs.NewID(), bytes: len(body.Text), failed: v.Get("error").Str()}
	in.began, _ = time.Parse(time.RFC3339Nano, v.Get("began").Str())
	in.ended, _ = time.Parse(time.RFC3339Nano, v.Get("ended").Str())
	seed, _ := strconv.ParseUint(v.Get("seed").Str(), 10, 64)
	var bad error
	in.run, err = executor.Replay(g, v.Get("arguments"), seed, func(yield func(executor.Record) bool) {
		for _, one := range v.Get("records").Elems() {
			rec, err := executor.RecordFrom(g, one)
			if bad = err; bad != nil || !yield(rec) {
				return
			}
		}
	})
	if bad != nil {
		err = bad
	}
	if err != nil {
		return refused("does_not_fit", "the run does not fit the tool %q as it is now: %v", g.Name, err)
	}
	p.imports.add(in)
	p.events.add(event{Type: "run", Run: in.state()})
	respond(w, map[string]string{"id": in.id})
	return nil
}

// state returns how an imported run is.
func (in *imported) state() *runState {
	s := &runState{
		ID: in.id, Tool: in.run.Graph().Name, Imported: true, State: "done", Began: in.began.UTC(), Executions: in.run.Len(),
		Active: []activity{}, Questions: []question{}, Can: []string{},
	}
	if !in.ended.IsZero() {
		s.Ended = ptr(in.ended.UTC())
	}
	switch {
	case in.failed != "":
		s.State, s.Error = "failed", failureFrom(in.run, in.failed, shower{})
	case !in.run.Done():
		s.State = "stopped"
	}
	return s
}

// pair is an execution of two runs.
type pair struct {
	Key  string `json:"key"`
	Path string `json:"path"`
	A    *int   `json:"a,omitempty"`
	B    *int   `json:"b,omitempty"`
	Same bool   `json:"same"`
}

// maxPairs bounds a comparison.
const maxPairs = 10_000

// compareRuns pairs the executions of two runs: the n-th of a path with the n-th of the
// same path.
func compareRuns(p *Page, w http.ResponseWriter, r *http.Request) error {
	var of [2]*subject
	for i, name := range []string{"a", "b"} {
		s, err := p.subject(r.Context(), r.URL.Query().Get(name))
		if err != nil {
			return err
		}
		if s.history == nil {
			return refused("no_history", "%v", errNoHistory)
		}
		of[i] = s
	}
	type execution struct {
		path string
		n    int
	}
	pairs, places := []*pair{}, map[execution]*pair{}
	texts := map[*pair][]byte{}
	for i, s := range of {
		count := map[string]int{}
		for rec := range s.history.Records(0) {
			if rec.Event != executor.Done || len(pairs) >= maxPairs {
				continue
			}
			path := rec.NodePath()
			at := execution{path, count[path]}
			count[path]++
			one := places[at]
			if one == nil {
				one = &pair{Key: keyOf(s.graph, path), Path: path}
				places[at], pairs = one, append(pairs, one)
			}
			text := outcome(&rec, s.shower)
			if i == 0 {
				one.A, texts[one] = ptr(rec.Index), text
			} else {
				one.B, one.Same = ptr(rec.Index), one.A != nil && bytes.Equal(texts[one], text)
			}
		}
	}
	respond(w, map[string]any{"pairs": pairs})
	return nil
}

// outcome returns what came of an execution, as text.
func outcome(rec *executor.Record, s shower) []byte {
	text := s.whole(rec.Output).Append(nil)
	if rec.Err != nil {
		f, _ := json.Marshal(failureOf(nil, rec.Err, s))
		text = append(text, f...)
	}
	return append(text, rec.Via...)
}

package dap

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// launched are the arguments of launch.
type launched struct {
	Program     string            `json:"program"`
	Tool        string            `json:"tool"`
	Args        json.RawMessage   `json:"args"`
	StopOnEntry bool              `json:"stopOnEntry"`
	NoDebug     bool              `json:"noDebug"`
	Env         map[string]string `json:"env"`
	MCP         []string          `json:"mcp"`
	Cwd         string            `json:"cwd"`
}

// target is the run that is debugged.
type target struct {
	launched
	engine  *mcpgraph.Engine
	session *debug.Session
	path    string // of the file, absolute
	nodes   []*graph.Node
	cancel  context.CancelFunc
	begun   bool // the editor has set its breakpoints
	told    bool // that it is paused before its first node
}

// launch loads the file and starts the tool, paused.
func (s *server) launch(raw json.RawMessage) error {
	if s.current() != nil {
		return errors.New("a run was launched already; disconnect, or restart it")
	}
	var o launched
	if err := json.Unmarshal(raw, &o); err != nil {
		return fmt.Errorf("the arguments of launch: %w", err)
	}
	if o.Program == "" {
		return errors.New("launch: missing program, the path of the configuration file")
	}
	t, err := s.load(o)
	if err != nil {
		return err
	}
	if err := s.run(t); err != nil {
		_ = t.engine.Close()
		return err
	}
	return nil
}

// load loads the file.
func (s *server) load(o launched) (*target, error) {
	t := &target{launched: o, path: o.Program}
	if !filepath.IsAbs(t.path) && o.Cwd != "" {
		t.path = filepath.Join(o.Cwd, t.path)
	}
	getenv := func(name string) (string, bool) {
		if v, ok := o.Env[name]; ok {
			return v, true
		}
		if s.Getenv == nil {
			return "", false
		}
		return s.Getenv(name)
	}
	engine, err := mcpgraph.Load(t.path, mcpgraph.WithGetenv(getenv), mcpgraph.WithInputs(s.Inputs), mcpgraph.WithMemory(s.Memory),
		mcpgraph.WithMCPFiles(append(s.MCPFiles[:len(s.MCPFiles):len(s.MCPFiles)], o.MCP...)...))
	var wrong *mcpgraph.LoadError
	if errors.As(err, &wrong) {
		var text bytes.Buffer
		_ = diag.WriteText(&text, wrong.Diagnostics, wrong.Sources, diag.TextOptions{MaxProblems: diag.DefaultMaxProblems})
		s.output("stderr", text.String())
		return nil, fmt.Errorf("%s has errors: %s", o.Program, first(wrong.Diagnostics))
	}
	if err != nil {
		return nil, err
	}
	t.engine = engine
	if t.Tool == "" {
		tools := append(engine.Tools(), engine.Offers()...)
		if len(tools) != 1 {
			_ = engine.Close()
			var names []string
			for _, one := range tools {
				names = append(names, one.Name)
			}
			return nil, fmt.Errorf("launch: missing tool; expected %s", diag.List(names))
		}
		t.Tool = tools[0].Name
	}
	for _, one := range append(engine.Tools(), engine.Offers()...) {
		if g, err := engine.Graph(one.Name); err == nil {
			t.add(g)
		}
	}
	if g, err := engine.Graph(t.Tool); err == nil {
		t.add(g) // it may be private
	}
	return t, nil
}

// first returns the first error.
func first(list []diag.Diagnostic) string {
	for _, d := range list {
		if d.Severity == diag.Error {
			return fmt.Sprintf("%d:%d: %s", d.Pos.Line, d.Pos.Col, d.Message)
		}
	}
	return "it cannot be loaded"
}

// add adds the nodes of a graph and of what it runs.
func (t *target) add(g *graph.Graph) {
	for _, n := range g.Nodes {
		for _, known := range t.nodes {
			if known == n {
				return
			}
		}
		t.nodes = append(t.nodes, n)
		for _, body := range n.Bodies {
			t.add(body)
		}
		if n.Callee != nil {
			t.add(n.Callee)
		}
	}
}

// run starts the tool, paused before its first node.
func (s *server) run(t *target) error {
	args, err := t.arguments()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(s.ctx)
	session, err := t.engine.Debug(ctx, t.Tool, args, mcpgraph.WithDebug(debug.Options{StartPaused: true}))
	if err != nil {
		cancel()
		return err
	}
	t.session, t.cancel, t.begun, t.told = session, cancel, false, false
	s.mu.Lock()
	s.target = t
	s.refs.clear()
	s.mu.Unlock()
	go s.follow(t, session)
	return nil
}

// arguments returns those of the tool: an object, or the JSON of one.
func (t *target) arguments() (value.Value, error) {
	text := strings.TrimSpace(string(t.Args))
	var quoted string
	if json.Unmarshal(t.Args, &quoted) == nil {
		text = strings.TrimSpace(quoted)
	}
	if text == "" || text == "null" {
		return value.FromEntries(nil), nil
	}
	v, err := value.ParseStrict(text)
	if err != nil || v.Kind() != value.Object {
		return value.Undef, errors.New("launch: args is not a JSON object")
	}
	return v, nil
}

// begin lets the run go on once the editor has set its breakpoints.
func (s *server) begin(t *target) {
	s.mu.Lock()
	begun := t.begun
	t.begun = true
	s.mu.Unlock()
	if begun {
		return
	}
	if t.StopOnEntry && !t.NoDebug {
		if p := t.session.State().Pause; p != nil {
			s.stopped(t, p)
		}
		return // else the event tells
	}
	if err := t.session.Resume(); err != nil {
		s.output("stderr", err.Error()+"\n")
	}
}

// restart begins the run again, with the same breakpoints and with the file as it is
// now. After an error the run that was goes on.
func (s *server) restart(raw json.RawMessage) error {
	was := s.current()
	if was == nil {
		return errors.New("restart needs a run: launch one")
	}
	var a struct {
		Arguments launched `json:"arguments"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &a); err != nil {
			return fmt.Errorf("the arguments of restart: %w", err)
		}
	}
	if a.Arguments.Program == "" {
		a.Arguments = was.launched
	}
	t, err := s.load(a.Arguments)
	if err != nil {
		return err
	}
	if err := s.run(t); err != nil { // paused before its first node
		_ = t.engine.Close()
		return err
	}
	was.close()
	return nil
}

// stop ends the run and waits until it is over.
func (t *target) stop() {
	_ = t.session.Stop()
	select {
	case <-t.session.Done():
	case <-time.After(endTime):
	}
	t.cancel()
}

// close ends the run and the servers that it called.
func (t *target) close() {
	t.stop()
	_ = t.engine.Close()
}

// stepOut runs to the end of the tool if nothing is around the paused place.
func (t *target) stepOut() error {
	if p := t.session.State().Pause; p != nil && p.Frame == "" {
		return t.session.Resume()
	}
	return t.session.StepOut()
}

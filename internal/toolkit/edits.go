package toolkit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// toolSchema is the JSON Schema of a definition, short enough to be listed.
//
//go:embed tool.schema.json
var toolSchema string

const editResult = `{"type":"object","properties":{"success":{"type":"boolean"},"message":{"type":"string"},"diagnostics":` + diagnosticsSchema + `,"diff":{"type":"string"},"revision":{"type":"string"}},"required":["success","message"]}`

func editTools() []*tool {
	const name = `"toolName":{"type":"string"}`
	const short = `"tool":{"type":["object","string"],"description":"as for addGraphTool"}`
	const revision = `"expectedRevision":{"type":"string","description":"refuse if the file has another revision"}`
	return []*tool{
		{core: true, handle: addGraphTool, Tool: define("addGraphTool", "Checks a new graph tool and saves it in the file.", adds, `"tool":`+toolSchema, `"tool"`, editResult)},
		{core: true, handle: updateGraphTool, Tool: define("updateGraphTool", "Replaces a graph tool; another name in the definition renames it. Comments of what stays the same are kept.", edits, name+`,`+short+`,`+revision, `"toolName","tool"`, editResult)},
		{core: true, handle: deleteGraphTool, Tool: define("deleteGraphTool", "Removes a graph tool from the file.", edits, name+`,`+revision, `"toolName"`, editResult)},
		{handle: patchGraphTool, Tool: define("patchGraphTool", "Changes parts of a saved tool, all or none. Paths begin at the tool; nodes may stand by id: /nodes/list/args.", edits,
			name+`,"operations":{"type":"array","minItems":1,"items":{"type":"object","properties":{"op":{"enum":["set","insert","remove","move","addNode","removeNode","renameNode","connect","disconnect"]},"path":{"type":"string"},"value":{},"node":{"type":["object","string"],"description":"addNode: a node; else its id"},"after":{"type":"string","description":"addNode: put into the edge via of this node"},"via":{"type":"string","description":"next, conditions[0], catch[0], declined; default next"},"body":{"type":"string","description":"addNode: sizes[] of a map, both.news of a parallel"},"from":{"type":"string"},"to":{"type":["string","integer"]},"rule":{},"reconnect":{"type":"boolean"}},"required":["op"]}},"dryRun":{"type":"boolean"},`+revision, `"toolName","operations"`, editResult)},
		{handle: validateGraphTool, Tool: define("validateGraphTool", "Checks a definition, a saved tool or, without either, the whole file. A fix is an operation of patchGraphTool.", reads,
			name+`,`+short, ``, `{"type":"object","properties":{"valid":{"type":"boolean"},"diagnostics":`+diagnosticsSchema+`},"required":["valid","diagnostics"]}`)},
		{handle: undo, Tool: define("undo", "Takes back the last edit of this session.", edits, ``, ``, editResult)},
		{handle: history, Tool: define("history", "The edits of this session, newest first, with diffs.", reads, `"limit":{"type":"integer","minimum":1,"maximum":50,"default":10}`, ``,
			listOf(`"action":{"type":"string"},"tool":{"type":"string"},"time":{"type":"string"},"revision":{"type":"string"},"diff":{"type":"string"}`))},
	}
}

// definition returns an argument that is a tool, or the JSON text of one.
func (c *call) definition(name string) (value.Value, error) {
	v := c.args.Get(name)
	if v.Kind() == value.String {
		parsed, err := value.ParseStrict(v.Str())
		if err != nil {
			return value.Undef, fmt.Errorf("%s is no JSON: %w", name, err)
		}
		v = parsed
	}
	if v.Kind() != value.Object {
		return value.Undef, fmt.Errorf("%s must be an object: the definition of a tool", name)
	}
	if v.Get("name").Str() == "" {
		return value.Undef, fmt.Errorf("%s has no name", name)
	}
	return v, nil
}

func entry(key string, v value.Value) value.Entry { return value.Entry{Key: key, Value: v} }

func addGraphTool(ctx context.Context, c *call) (value.Value, error) {
	definition, err := c.definition("tool")
	if err != nil {
		return value.Undef, err
	}
	name := definition.Get("name").Str()
	return c.change(ctx, planned{
		action: "add", tool: name, shown: name,
		ops: []graphedit.Operation{graphedit.NewOperation("addTool", entry("tool", definition))},
	})
}

func updateGraphTool(ctx context.Context, c *call) (value.Value, error) {
	definition, err := c.definition("tool")
	if err != nil {
		return value.Undef, err
	}
	return c.change(ctx, planned{
		action: "update", tool: c.text("toolName"), shown: graphedit.FullName(c.text("toolName"), definition.Get("name").Str()), guarded: true,
		ops: []graphedit.Operation{graphedit.NewOperation("updateTool", entry("name", c.args.Get("toolName")), entry("tool", definition))},
	})
}

func deleteGraphTool(ctx context.Context, c *call) (value.Value, error) {
	return c.change(ctx, planned{
		action: "delete", tool: c.text("toolName"), guarded: true,
		ops: []graphedit.Operation{graphedit.NewOperation("deleteTool", entry("name", c.args.Get("toolName")))},
	})
}

func patchGraphTool(ctx context.Context, c *call) (value.Value, error) {
	ops, err := graphedit.ParseOperations(c.args.Get("operations"))
	if err != nil {
		return value.Undef, err
	}
	return c.change(ctx, planned{
		action: "patch", tool: c.text("toolName"), shown: c.text("toolName"), ops: ops, dryRun: c.args.Get("dryRun").Bool(), diff: true,
	})
}

// planned is an edit of the file.
type planned struct {
	action, tool string
	ops          []graphedit.Operation
	// shown is the name of the tool that the client knows afterwards.
	shown string
	// guarded refuses the edit if the tool is not as the client last saw it.
	guarded      bool
	dryRun, diff bool
}

// editTime bounds one edit. Others wait for it.
const editTime = 20 * time.Second

var errEditTime = fmt.Errorf("the edit takes longer than %s: make it in smaller parts", editTime)

// maxTries is how often an edit is made again if another program has written the file
// in the meantime.
const maxTries = 200

// change applies an edit to the file as it is now, checks the result and saves it.
func (c *call) change(ctx context.Context, p planned) (value.Value, error) {
	c.file.lock.Lock()
	defer c.file.lock.Unlock()
	for range maxTries {
		if ctx.Err() != nil {
			return value.Undef, context.Cause(ctx)
		}
		out, err := c.tryChange(ctx, p)
		if !errors.Is(err, edit.ErrConflict) {
			return out, err
		}
		c.file.state.stamp = "" // read it again
	}
	return refused("another program keeps writing the file; nothing was saved"), nil
}

func refused(message string, more ...any) value.Value {
	return with(value.ObjectOf("success", false, "message", message), more...)
}

func (c *call) tryChange(ctx context.Context, p planned) (value.Value, error) {
	s, err := c.file.read(ctx)
	if err != nil {
		return value.Undef, err
	}
	if expected := c.text("expectedRevision"); expected != "" && expected != string(s.revision) {
		return refused("the file has another revision; read the tool again", "revision", string(s.revision), "diff", optional(sessionOf(c).since(edit.Revision(expected), s.text))), nil
	}
	if p.action != "add" {
		now, err := graphedit.Tool(s.doc.Value(), p.tool)
		if err != nil {
			return value.Undef, err
		}
		if was, changed := sessionOf(c).changed(p.tool, now); p.guarded && changed {
			return refused("the tool has changed since it was read; read it again with getGraphTool",
				"diff", diff.Unified("read", "now", indented(was), indented(now), false), "revision", string(s.revision)), nil
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, editTime, errEditTime)
	defer cancel()
	r, err := graphedit.ApplyContext(ctx, c.opts.Path, s.text, p.ops, graphedit.Options{Tool: p.tool, Relative: true, Memory: c.opts.Memory})
	if err != nil {
		var one *graphedit.OperationError
		if p.action != "patch" && errors.As(err, &one) {
			err = one.Err
		}
		return refused(err.Error()), nil
	}
	if p.action == "patch" {
		p.shown = r.Tool
	}
	return c.save(ctx, s, r, p)
}

func indented(v value.Value) string { return string(v.AppendIndent(nil, "  ")) + "\n" }

// save checks the text of an edit and writes it.
func (c *call) save(ctx context.Context, s *state, r *graphedit.Result, p planned) (value.Value, error) {
	warnings := value.Undef
	program, release, err := c.file.compiled(ctx, r.Text)
	var broken *engine.LoadError
	switch {
	case errors.As(err, &broken):
		if !mends(s, broken) {
			return refused(fmt.Sprintf("nothing was saved: %s", textline.Count(count(broken.Diagnostics), "error")),
				"diagnostics", diagnose(c.Toolkit, r.Text, true).list(broken.Diagnostics, "")), nil
		}
		warnings = diagnose(c.Toolkit, r.Text, true).list(broken.Diagnostics, "")
	case err != nil:
		return value.Undef, err
	default:
		defer func() {
			if program != nil {
				release()
			}
		}()
		ds, _ := program.Diagnostics()
		if len(ds) > 0 {
			warnings = diagnose(c.Toolkit, r.Text, false).list(ds, p.shown)
		}
	}
	out := value.ObjectOf("success", true, "message", done[p.action](p), "diagnostics", warnings, "revision", string(r.Revision))
	if p.diff || p.dryRun {
		out = with(out, "diff", cutText(r.Diff, maxBytes(c)))
	}
	if p.dryRun {
		return with(out, "message", "the result has no errors; nothing was saved"), nil
	}
	if r.Diff != "" {
		if err := edit.Write(c.opts.Path, s.revision, r.Text); err != nil {
			return value.Undef, err
		}
		one := change{action: p.action, tool: p.tool, time: time.Now(), before: s.text, from: s.revision, to: r.Revision, diff: r.Diff}
		if p.shown != p.tool && p.shown != "" {
			one.renamed = p.shown
			out = with(out, "message", done[p.action](p)+renameInTests(c.Toolkit, p.tool, p.shown))
		}
		remember(c, one)
		if program != nil {
			c.file.saved(ctx, r, program)
			program = nil // it is the file's
		}
	}
	own := sessionOf(c)
	own.note(p.tool, value.Undef)
	if now, err := graphedit.Tool(r.Document.Value(), p.shown); err == nil {
		own.note(p.shown, now)
	}
	return out, nil
}

// mends reports whether a file that had errors has fewer after an edit, and no new
// ones: then it may be saved, or nobody could mend two of them one by one.
func mends(before *state, after *engine.LoadError) bool {
	if before.broken == nil {
		return false
	}
	known := map[string]int{}
	for _, d := range before.broken.Diagnostics {
		if d.Severity == diag.Error {
			known[d.Code+d.Message]++
		}
	}
	for _, d := range after.Diagnostics {
		if d.Severity != diag.Error {
			continue
		}
		if known[d.Code+d.Message]--; known[d.Code+d.Message] < 0 {
			return false
		}
	}
	return count(after.Diagnostics) < count(before.broken.Diagnostics)
}

// done says what an edit has done.
var done = map[string]func(planned) string{
	"add":    func(p planned) string { return graph.Quoted(p.tool) + " was added" },
	"update": func(p planned) string { return graph.Quoted(p.tool) + " was updated" + renamed(p) },
	"delete": func(p planned) string { return graph.Quoted(p.tool) + " was deleted" },
	"patch":  func(p planned) string { return graph.Quoted(p.tool) + " was changed" + renamed(p) },
	"undo":   func(p planned) string { return p.tool },
}

func renamed(p planned) string {
	if p.shown == p.tool {
		return ""
	}
	return fmt.Sprintf(" and is now %q", p.shown)
}

func validateGraphTool(ctx context.Context, c *call) (value.Value, error) {
	s, err := c.file.now(ctx)
	if err != nil {
		return value.Undef, err
	}
	text, tool := s.text, c.text("toolName")
	if !c.args.Get("tool").IsUndefined() {
		definition, err := c.definition("tool")
		if err != nil {
			return value.Undef, err
		}
		if text, err = c.drafted(ctx, s, definition); err != nil {
			return value.ObjectOf("valid", false, "diagnostics", []value.Value{value.ObjectOf("severity", "error", "code", "bad-definition", "message", err.Error())}), nil
		}
		tool = definition.Get("name").Str()
	} else if tool != "" {
		if _, err := graphedit.Tool(s.doc.Value(), tool); err != nil {
			return value.Undef, err
		}
	}
	var ds []diag.Diagnostic
	program, release, err := c.file.compiled(ctx, text)
	var broken *engine.LoadError
	switch {
	case errors.As(err, &broken):
		ds = broken.Diagnostics
	case err != nil:
		return value.Undef, err
	default:
		ds, _ = program.Diagnostics()
		release()
	}
	list := diagnose(c.Toolkit, text, true).list(ds, tool)
	valid := true
	for _, d := range list.Elems() {
		valid = valid && d.Get("severity").Str() != "error"
	}
	return value.ObjectOf("valid", valid, "diagnostics", list), nil
}

// drafted returns the text of the file with a definition that is not saved, in the
// place of the tool with its name if there is one.
func (c *call) drafted(ctx context.Context, s *state, definition value.Value) ([]byte, error) {
	op := graphedit.NewOperation("addTool", entry("tool", definition))
	if _, err := graphedit.Tool(s.doc.Value(), definition.Get("name").Str()); err == nil {
		op = graphedit.NewOperation("updateTool", entry("name", definition.Get("name")), entry("tool", definition))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, editTime, errEditTime)
	defer cancel()
	r, err := graphedit.ApplyContext(ctx, c.opts.Path, s.text, []graphedit.Operation{op}, graphedit.Options{})
	if err != nil {
		return nil, err
	}
	return r.Text, nil
}

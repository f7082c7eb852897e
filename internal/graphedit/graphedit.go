// Package graphedit edits the graphs in configuration files: it adds, connects and
// renames nodes, and changes tools. What an edit does not concern stays as it is,
// byte for byte, comments included. Both layouts of files, and flow style, stay as
// they are.
package graphedit

import (
	"context"
	"path/filepath"

	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// Result is the outcome of an edit.
type Result struct {
	Text     []byte
	Revision edit.Revision
	// Document is the text, parsed.
	Document *edit.Document
	// Diff is a unified diff of the old and the new text; empty if they are equal.
	Diff string
	// Tool is the tool of the Options: its new name if the edit has renamed it by its
	// path.
	Tool string
}

// Options change how operations are read.
type Options struct {
	// Tool is the tool that operations on nodes are about, where a key of a node
	// names no other one.
	Tool string
	// Relative lets the paths of operations begin at the tool, as Tool returns it,
	// and not at the root of the file.
	Relative bool
	// Memory bounds what it takes to find what uses a node that is renamed; nil: no bound.
	Memory *memory.Budget
}

// Apply applies operations to the text of a file, one after the other: each sees
// the result of those before it. After an error nothing has changed; it is an
// *edit.InvalidError for a text that is no YAML, else an *OperationError.
//
// The result is valid YAML and means what the operations say. Whether it is a valid
// configuration is for the caller to check.
func Apply(path string, source []byte, ops []Operation, opts Options) (*Result, error) {
	return ApplyContext(context.Background(), path, source, ops, opts)
}

// ApplyContext is Apply that ends with ctx: a tool of thousands of nodes in another
// order takes minutes. The error is then the cause of ctx.
func ApplyContext(ctx context.Context, path string, source []byte, ops []Operation, opts Options) (*Result, error) {
	doc, err := edit.Parse(path, source)
	if err != nil {
		return nil, err
	}
	w := &work{&text{ctx, path, doc}, opts}
	for i, o := range ops {
		if err := w.operate(o); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, &OperationError{i, o.op, err}
		}
	}
	text := w.doc.Source()
	name := filepath.Base(path)
	return &Result{
		Text: text, Revision: edit.RevisionOf(text), Document: w.doc, Diff: diff.Unified(name, name, string(source), string(text), false),
		Tool: w.opts.Tool,
	}, nil
}

// work is an edit under way.
type work struct {
	*text
	opts Options
}

func (w *work) operate(o Operation) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	switch o.op {
	case "addNode":
		return addNode(w, o)
	case "removeNode":
		return removeNode(w, o.text("node"), o.fields.Get("reconnect").Bool())
	case "renameNode":
		return renameNode(w, o.text("node"), o.text("to"))
	case "connect":
		return connect(w, o)
	case "disconnect":
		return disconnect(w, o.text("from"), o.text("via"))
	case "addTool":
		return addTool(w, o.fields.Get("tool"))
	case "updateTool":
		return updateTool(w, o.text("name"), o.fields.Get("tool"))
	case "renameTool":
		return renameTool(w, o.text("name"), o.text("to"))
	case "deleteTool":
		return deleteTool(w, o.text("name"))
	}
	return w.editPath(o)
}

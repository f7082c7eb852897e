package scaffold

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/graphedit"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Add adds a tool that calls an upstream tool to the text of a configuration, and its
// test to that of a test file. What is there stays as it is, byte for byte. The server
// is added if u has its entry; test nil makes a new test file. The error says what is
// wrong: a name that is taken, a text that cannot be edited, or new problems.
func Add(u Upstream, call Call, target Target, config, test []byte) (Files, error) {
	known := problemsOf(target.Config, config, target.Test, test)
	return planned(u, call, target, func(d *draft) (files Files, err error) {
		files = Files{Tool: d.name, Arguments: d.arguments, Real: d.real}
		if files.Config, err = addedConfig(d, config); err != nil {
			return files, err
		}
		if files.Test, err = addedTest(d, test); err != nil {
			return files, err
		}
		found := problemsOf(target.Config, files.Config, target.Test, files.Test)
		return files, asError(slices.DeleteFunc(found, func(p string) bool { return slices.Contains(known, p) }))
	})
}

// escapeStep makes a step of a JSON pointer of a name (RFC 6901, 3).
var escapeStep = strings.NewReplacer("~", "~0", "/", "~1")

// addedConfig returns the configuration with the tool and its server.
func addedConfig(d *draft, text []byte) ([]byte, error) {
	doc, err := edit.Parse(d.target.Config, text)
	if err != nil {
		return nil, err
	}
	root := doc.Value()
	var ops []graphedit.Operation
	if entry := d.up.Entry; !entry.IsUndefined() {
		path, what := "/mcpServers", value.ObjectOf(d.up.Server, entry)
		for _, key := range []string{"mcpServers", "servers"} {
			if root.Get(key).Kind() == value.Object {
				path, what = "/"+key+"/"+escapeStep.Replace(d.up.Server), entry
				break
			}
		}
		ops = append(ops, operation("set", "path", value.FromString(path), "value", what))
	}
	flat := !root.Get("nodes").IsUndefined()
	if flat {
		d.before = d.name + "_"
	}
	ops = append(ops, operation("addTool", "tool", toolOf(d, flat)))
	result, err := graphedit.Apply(d.target.Config, text, ops, graphedit.Options{})
	var failed *graphedit.OperationError
	if errors.As(err, &failed) && failed.Op == "addTool" {
		return nil, fmt.Errorf("%w; give the new tool another name with --name", failed.Err)
	}
	if err != nil {
		return nil, err
	}
	return result.Text, nil
}

func operation(op string, members ...any) graphedit.Operation {
	return graphedit.NewOperation(op, value.ObjectOf(members...).Entries()...)
}

// toolOf returns the definition of the tool. In the flat layout all tools share the list
// of nodes, so the ids have the tool's name in front.
func toolOf(d *draft, flat bool) value.Value {
	id := func(name string) value.Value { return value.FromString(d.before + name) }
	node := func(name, kind string, more ...any) value.Value {
		b := value.NewBuilder(6)
		b.Set("id", id(name))
		b.Set("type", value.FromString(kind))
		if flat && kind != "mcp" {
			b.Set("tool", value.FromString(d.name))
		}
		for i := 0; i < len(more); i += 2 {
			b.Set(more[i].(string), more[i+1].(value.Value))
		}
		return b.Value()
	}
	description := plainText(d.up.Description, maxToolText)
	if description == "" {
		description = "Calls " + plainText(d.up.Tool, maxFieldText)
	}
	b := value.NewBuilder(6)
	b.Set("name", value.FromString(d.name))
	b.Set("description", value.FromString(description))
	b.Set("inputSchema", d.input)
	if hints := d.hints(); hints.Len() > 0 {
		b.Set("annotations", hints)
	}
	b.Set("nodes", value.FromArray([]value.Value{
		node("entry", "entry", "next", id("call")),
		node("call", "mcp", "server", value.FromString(d.up.Server), "tool", value.FromString(d.up.Tool), "args", d.args(d.before+"entry"), "next", id("exit")),
		node("exit", "exit"),
	}))
	return b.Value()
}

// addedTest returns the test file with the test.
func addedTest(d *draft, text []byte) ([]byte, error) {
	if text == nil {
		return edit.Format(d.target.Test, []byte(d.test()))
	}
	doc, err := edit.Parse(d.target.Test, text)
	if err != nil {
		return nil, err
	}
	b := value.NewBuilder(5)
	b.Set("name", value.FromString(fmt.Sprintf("%s returns what %s answers", d.name, plainText(d.up.Tool, 60))))
	b.Set("tool", value.FromString(d.name))
	if d.arguments.Len() > 0 {
		b.Set("arguments", d.arguments)
	}
	b.Set("mocks", value.FromArray([]value.Value{d.mock()}))
	b.Set("expect", value.ObjectOf("result", literally(d.given), "path", d.path()))
	op := edit.Insert("/tests/-", b.Value())
	if doc.Value().Get("tests").Kind() != value.Array {
		op = edit.Set("/tests", value.FromArray([]value.Value{b.Value()}))
	}
	_, doc, err = doc.Edit(op)
	if err != nil {
		return nil, err
	}
	return doc.Source(), nil
}

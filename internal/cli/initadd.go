package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/diff"
	"github.com/mcpgraph/mcpgraph/internal/scaffold"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// existingOrigin returns the server that a tool for an existing file calls: one of that
// file, which flags or answers name, or a new one.
func existingOrigin(ctx context.Context, a *app, o initOptions, p *prompt) (*serverOrigin, error) {
	engine, err := a.loadShowing(ctx, o.file, showNone, mcpgraph.WithServersOnly(), mcpgraph.WithUnsetVariables())
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	var names []string
	isThere := func(name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	}
	for _, u := range engine.File().Upstreams {
		names = append(names, u.Name)
	}
	name := o.server
	switch {
	case o.from != "":
		origin, err := originFrom(ctx, a, p, o.from, o.server, o.file)
		if err == nil && isThere(origin.name) {
			return nil, usagef("%s has a server %q already; to call that one, leave out --from", o.file, origin.name)
		}
		return origin, err
	case isThere(name):
	case name != "" && (strings.ContainsAny(name, "= /\\:") || len(names) == 0):
		origin, err := parseServer(name)
		if err == nil && isThere(origin.name) {
			return nil, usagef("%s has a server %q already; name it with --server %s, or give the new one another name", o.file, origin.name, origin.name)
		}
		return origin, err
	case name != "":
		_, err := entryOf(engine, name)
		return nil, err
	case len(names) == 0:
		return nil, usagef("%s has no servers; name the new one with --server NAME=COMMAND", o.file)
	case len(names) == 1:
		name = names[0]
	case p == nil:
		return nil, usagef("%s has several servers; name one of them with --server: %s", o.file, strings.Join(names, ", "))
	default:
		fmt.Fprintln(a.stderr, "Which server should the tool call?")
		if name, err = p.choose(ctx, "server: ", names); err != nil {
			return nil, err
		}
	}
	// Its entry is there already.
	return &serverOrigin{name: name, entry: value.Undef, file: o.file}, nil
}

// addTool shows what a tool changes in files that exist, asks, and writes them.
func addTool(ctx context.Context, a *app, p *prompt, t target, files scaffold.Files) error {
	colored, err := a.color("auto", a.stdout)
	if err != nil {
		return err
	}
	changes := diff.Unified(t.config, t.config, string(t.oldConfig), string(files.Config), colored) +
		diff.Unified(t.test, t.test, string(t.oldTest), string(files.Test), colored)
	if _, err := io.WriteString(a.stdout, changes); err != nil {
		return failed(err)
	}
	if p != nil {
		ok, err := p.yes(ctx, "Write this? [y/N] ")
		if err != nil || !ok {
			return err
		}
	}
	if t.oldTest == nil {
		err = create(t.test, files.Test)
	} else {
		err = failed(edit.Write(t.test, edit.RevisionOf(t.oldTest), files.Test))
	}
	if err != nil {
		return err
	}
	if err := edit.Write(t.config, edit.RevisionOf(t.oldConfig), files.Config); err != nil {
		return failed(errors.Join(err, t.restoreTest(files)))
	}
	return printNext(a, t, files, "changed")
}

// restoreTest undoes what add wrote to the test file.
func (t target) restoreTest(files scaffold.Files) error {
	if t.oldTest == nil {
		return os.Remove(t.test)
	}
	return edit.Write(t.test, edit.RevisionOf(files.Test), t.oldTest)
}

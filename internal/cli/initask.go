package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/internal/textline"
)

// maxChoices is how many choices a question shows.
const maxChoices = 30

// choose asks for one of some names: by its number, by its name, or by a part of it
// that only one of them has. Other answers show the names that contain them.
func (p *prompt) choose(ctx context.Context, question string, names []string) (string, error) {
	shown := names
	for {
		for i, name := range shown[:min(len(shown), maxChoices)] {
			fmt.Fprintf(p.app.stderr, "  %d  %s\n", i+1, visible(textline.Clean(name)))
		}
		if more := len(shown) - maxChoices; more > 0 {
			fmt.Fprintf(p.app.stderr, "  … and %d more; type a part of the name to find one\n", more)
		}
		said, err := p.ask(ctx, question)
		if err != nil {
			return "", err
		}
		if slices.Contains(names, said) {
			return said, nil
		}
		if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= len(shown) {
			return shown[n-1], nil
		}
		found := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !strings.Contains(strings.ToLower(name), strings.ToLower(said))
		})
		switch len(found) {
		case 0:
			fmt.Fprintf(p.app.stderr, "nothing contains %q\n", visible(said))
			shown = names
		case 1:
			return found[0], nil
		default:
			shown = found
		}
	}
}

// chosenTool returns the tool that a flag names, or that a person chooses.
func chosenTool(ctx context.Context, a *app, p *prompt, server upstreamServer, name string) (upstreamTool, error) {
	var names []string
	for _, t := range server.tools {
		names = append(names, t.name)
	}
	switch {
	case name != "":
	case len(names) == 0:
		return upstreamTool{}, &exitError{exitProblems, fmt.Errorf("server %q has no tools", server.Entry.Name)}
	case len(names) == 1:
		name = names[0]
	case p == nil:
		const most = 30
		list := strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			list += ", …"
		}
		return upstreamTool{}, usagef("server %q has several tools; name one of them with --tool: %s", server.Entry.Name, visible(list))
	default:
		fmt.Fprintf(a.stderr, "Which tool of %s should it call?\n", server.Entry.Name)
		var err error
		if name, err = p.choose(ctx, "tool: ", names); err != nil {
			return upstreamTool{}, err
		}
	}
	return server.tool(name)
}

// askArguments asks for the required arguments of a tool. An empty answer ends the
// questions: then none are known.
func askArguments(ctx context.Context, p *prompt, tool upstreamTool, given *arguments) error {
	var fields []schematext.Field
	for _, f := range schematext.Fields(tool.input()) {
		if f.Required {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	fmt.Fprintln(p.app.stderr, "Arguments for the test (Enter alone makes them up):")
	for _, f := range fields {
		hint := fieldType(f)
		if f.Description != "" {
			hint += "; " + firstLine(f.Description)
		}
		for {
			said, err := p.ask(ctx, fmt.Sprintf("  %s (%s): ", visible(f.Name), visible(textline.Shorten(textline.Clean(hint), maxHint))))
			if err != nil {
				return err
			}
			if said == "" {
				given.pairs = nil
				return nil
			}
			types := schematext.Types(tool.input(), f.Schema)
			if _, err := readAs(types, said); err != nil {
				fmt.Fprintf(p.app.stderr, "  expected %s\n", strings.Join(types, " or "))
				continue
			}
			given.pairs = append(given.pairs, [2]string{f.Name, said})
			break
		}
	}
	return nil
}

// maxHint is how much of an argument's description a question shows, in code points.
const maxHint = 120

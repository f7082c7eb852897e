package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

var errNotPaused = errors.New("the run is not paused")

// command is something that can be typed.
type command struct {
	name, short string
	usage       string // of its arguments
	doc         string
	do          func(c *console, args string) error
	step        bool // an empty line repeats it
}

// commands returns all commands, as help lists them.
func commands() []command {
	step := func(f func(*debug.Session) error) func(*console, string) error {
		return func(c *console, args string) error {
			if args != "" {
				return fmt.Errorf("unexpected %q; type the command alone", args)
			}
			return c.resume(true, f(c.session))
		}
	}
	return []command{
		{"step", "s", "", "run to the next node of this graph, over bodies and called tools", step((*debug.Session).Step), true},
		{"next", "n", "", "the same as step", step((*debug.Session).Step), true},
		{"stepin", "si", "", "run to the next node, also in a body or called tool", step((*debug.Session).StepInto), true},
		{"stepout", "so", "", "run to the next node of the graph around this one", step((*debug.Session).StepOut), true},
		{"continue", "c", "", "run to the next breakpoint, or to the end", func(c *console, args string) error {
			if args != "" {
				return fmt.Errorf("unexpected %q; to run to a node, type runto %s", args, args)
			}
			return c.resume(false, c.session.Resume())
		}, true},
		{"runto", "rt", "NODE", "run to a node", func(c *console, node string) error {
			if node == "" {
				return errors.New("missing node; type runto NODE")
			}
			return c.resume(false, c.session.RunTo(node))
		}, true},
		{"break", "b", "NODE [hit N] [when EXPR | log TEXT] | failures any|uncaught|none | tools on|off", "pause before a node; log writes a message instead", setBreakpoint, false},
		{"breakpoints", "bl", "", "list the breakpoints", listBreakpoints, false},
		{"clear", "", "N | NODE | all", "remove a breakpoint", clearBreakpoint, false},
		{"print", "p", "EXPR", "evaluate JSONata in the scope of the chosen frame", printValue, false},
		{"document", "doc", "", "show the document: the latest output of each node", showDocument, false},
		{"vars", "", "", "show the variables, such as $item", showVariables, false},
		{"args", "", "", "show the arguments of the tool", showArguments, false},
		{"where", "bt", "", "show the frames, from the node to the tool", where, false},
		{"up", "", "", "choose the frame around this one", func(c *console, _ string) error { return moveFrame(c, 1) }, false},
		{"down", "", "", "choose the frame in this one", func(c *console, _ string) error { return moveFrame(c, -1) }, false},
		{"list", "l", "[NODE]", "show a node as it stands in the file", listSource, false},
		{"records", "r", "[N]", "list the latest executions; with N, show record N whole", showRecords, false},
		{"set", "", "NODE JSON", "set the output of a node that has run, for all that follows", setOutput, false},
		{"pin", "", "NODE [JSON]", "let a node yield a value without being executed; without JSON, its latest output", pinNode, false},
		{"unpin", "", "NODE", "let a node be executed again", unpinNode, false},
		{"stop", "", "", "stop the run: calls under way are cancelled", (*console).quit, false},
		{"quit", "q", "", "the same as stop", (*console).quit, false},
		{"help", "h", "[COMMAND]", "show the commands", (*console).help, false},
	}
}

// find returns the command with a name, or the only one whose name begins like that.
func find(name string) (command, error) {
	all := commands()
	var names []string
	var similar []command
	for _, one := range all {
		if name == one.name || name != "" && name == one.short {
			return one, nil
		}
		if strings.HasPrefix(one.name, name) {
			similar = append(similar, one)
		}
		names = append(names, one.name)
	}
	switch len(similar) {
	case 0:
		if near, ok := diag.Nearest(name, names); ok {
			return command{}, fmt.Errorf("unknown command %q; did you mean %q?", name, near)
		}
		return command{}, fmt.Errorf("unknown command %q; type help for the commands", name)
	case 1:
		return similar[0], nil
	}
	var of []string
	for _, one := range similar {
		of = append(of, one.name)
	}
	return command{}, fmt.Errorf("%q begins several commands: type one of %s", name, diag.List(of))
}

// do does what a line says. An empty line repeats the last step.
func (c *console) do(line string) error {
	if line == "" {
		if c.last == "" {
			return nil
		}
		line = c.last
	}
	if strings.HasPrefix(line, "#") { // a comment in a script
		return nil
	}
	name, args := cutWord(line)
	one, err := find(name)
	if err != nil {
		return err
	}
	if one.usage == "" && !one.step && args != "" {
		return fmt.Errorf("unexpected %q; type %s alone", args, one.name)
	}
	if one.step {
		c.last = line
	}
	return one.do(c, args)
}

// resume notes that the run goes on, unless err says that it does not.
func (c *console) resume(stepping bool, err error) error {
	if err == nil {
		c.paused, c.stepping = false, stepping
	}
	return err
}

func (c *console) quit(string) error {
	c.stop()
	return nil
}

func (c *console) help(name string) error {
	list := commands()
	if name != "" {
		one, err := find(name)
		if err != nil {
			return err
		}
		list = []command{one}
	}
	for _, one := range list {
		names := one.name
		if one.short != "" {
			names += ", " + one.short
		}
		fmt.Fprintf(c.Out, "  %-16s %s\n", names, one.doc)
		if one.usage != "" && name != "" {
			fmt.Fprintf(c.Out, "  %-16s %s %s\n", "", one.name, one.usage)
		}
	}
	if name == "" {
		fmt.Fprintln(c.Out, "An empty line repeats the last step. help COMMAND shows its arguments.\nEXPR is JSONata, such as $.entry.directory. Nodes are ids, or paths such as sizes[].info.")
	}
	return nil
}

// cutWord returns the first word of a text, and the rest.
func cutWord(text string) (word, rest string) {
	i := slices.IndexFunc([]byte(text), func(b byte) bool { return b == ' ' || b == '\t' })
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

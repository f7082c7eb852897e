package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
)

const breakUsage = "type break NODE, break NODE hit N, break NODE when EXPR or break NODE log TEXT"

// setBreakpoint adds a breakpoint, or replaces that of the same node.
func setBreakpoint(c *console, args string) error {
	node, rest := cutWord(args)
	on, list := c.session.Breakpoints()
	switch {
	case node == "":
		return errors.New("missing node; " + breakUsage)
	case node == "failures" && rest != "":
		if rest != "none" && rest != string(debug.BreakOnAny) && rest != string(debug.BreakOnUncaught) {
			return fmt.Errorf("unknown failures %q; type break failures any, uncaught or none", rest)
		}
		on.Failure = debug.FailureMode(rest)
		return c.session.SetBreakpoints(on, list...)
	case node == "tools" && rest != "":
		if rest != "on" && rest != "off" {
			return fmt.Errorf("unexpected %q; type break tools on, or break tools off", rest)
		}
		on.EnterTool = rest == "on"
		return c.session.SetBreakpoints(on, list...)
	}
	b, err := parseBreakpoint(node, rest)
	if err != nil {
		return err
	}
	at := len(list)
	for i, was := range list {
		if was.Node == node {
			at = i
		}
	}
	if list = append(list[:len(list):len(list)], b); at < len(list)-1 {
		list[at] = b
		list = list[:len(list)-1]
	}
	if err := c.session.SetBreakpoints(on, list...); err != nil {
		return breakpointError(err)
	}
	c.say("breakpoint %d: %s", at+1, describeBreakpoint(b))
	return nil
}

// parseBreakpoint reads what stands behind the node.
func parseBreakpoint(node, rest string) (debug.Breakpoint, error) {
	b := debug.Breakpoint{Node: node}
	for rest != "" {
		word, more := cutWord(rest)
		if more == "" {
			return b, fmt.Errorf("missing value behind %q; %s", word, breakUsage)
		}
		switch word {
		case "hit":
			number, left := cutWord(more)
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return b, fmt.Errorf("hit %q is not a number from 1 on; %s", number, breakUsage)
			}
			b.Hits, rest = n, left
		case "when":
			b.When, rest = more, ""
		case "log":
			b.Log, rest = more, ""
		default:
			return b, fmt.Errorf("unexpected %q; %s", word, breakUsage)
		}
	}
	return b, nil
}

// breakpointError leaves out of an error what was just typed.
func breakpointError(err error) error {
	var wrong *debug.BreakpointError
	if !errors.As(err, &wrong) {
		return err
	}
	switch wrong.Field {
	case "node":
		return wrong.Err
	case "when", "log":
		return fmt.Errorf("%s: %w", wrong.Field, wrong.Err)
	}
	return err
}

func describeBreakpoint(b debug.Breakpoint) string {
	text := b.Node
	if b.Hits > 0 {
		text += fmt.Sprintf(" hit %d", b.Hits)
	}
	if b.When != "" {
		text += " when " + b.When
	}
	if b.Log != "" {
		text += " log " + b.Log
	}
	return text
}

func listBreakpoints(c *console, _ string) error {
	on, list := c.session.Breakpoints()
	for i, b := range list {
		c.say("%3d  %s", i+1, describeBreakpoint(b))
	}
	failures := string(on.Failure)
	if on.Failure == debug.BreakOnNone {
		failures = "none"
	}
	c.say("     failures: %s", failures)
	if on.EnterTool {
		c.say("     tools: each that is entered")
	}
	return nil
}

func clearBreakpoint(c *console, what string) error {
	on, list := c.session.Breakpoints()
	n, err := strconv.Atoi(what)
	var left []debug.Breakpoint
	for i, b := range list {
		if what != "all" && what != b.Node && (err != nil || n != i+1) {
			left = append(left, b)
		}
	}
	switch {
	case what == "":
		return errors.New("missing breakpoint; type clear N, clear NODE or clear all")
	case len(list) == 0:
		return errors.New("there are no breakpoints")
	case len(left) == len(list):
		return fmt.Errorf("there is no breakpoint %s; type breakpoints for the list", strings.TrimSpace(what))
	}
	return c.session.SetBreakpoints(on, left...)
}

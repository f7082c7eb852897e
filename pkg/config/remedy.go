package config

import (
	"fmt"
	"strconv"
	"strings"
)

// maxRemedy is how much of a value a remedy repeats, in bytes.
const maxRemedy = 60

// remedies are what to write for a value of the wrong type, by the name of its field.
// They return "" where that is not clear.
var remedies = map[string]func(n *Node) string{
	"transform": func(n *Node) string {
		return short(n, func(text string) string { return "transform: {expr: " + singleQuoted(text) + "}" })
	},
	"retry": func(n *Node) string {
		if n.Value().IsNull() || n.Kind() != Scalar || n.IsString() {
			return ""
		}
		return "write retry: {maxAttempts: " + n.Value().JSON() + "}"
	},
	"catch": func(n *Node) string {
		return short(n, func(text string) string { return "catch: {next: " + text + "}" })
	},
	"next": func(n *Node) string {
		if items := n.Items(); len(items) == 1 {
			return short(items[0], func(text string) string { return "next: " + text })
		}
		return "a node leads to one node: choose with a switch, or run several in a parallel node"
	},
	"conditions": func(*Node) string { return "write conditions: [{…}]; in block style each begins with \"- \"" },
	"tools":      func(*Node) string { return "write tools as a list; each tool begins with \"- name: NAME\"" },
	"nodes":      func(*Node) string { return "write nodes as a list; each node begins with \"- id: NAME\"" },
	"env":        func(*Node) string { return "write env: {NAME: VALUE}" },
	"headers":    func(*Node) string { return "write headers: {NAME: VALUE}" },
	"args": func(n *Node) string {
		if n.Kind() == List {
			return "write args: {NAME: VALUE}"
		}
		return short(n, func(text string) string { return "args: " + quotedWords(strings.Fields(text)) })
	},
}

// missing are what to write for a field that is required, by its name.
var missingRemedies = map[string]string{
	"inputSchema": "write inputSchema: {type: object}, with the arguments under properties",
	"server":      "write server: {name: NAME, version: \"1.0.0\"}",
	"next":        "write next: NODE, the id of the node that follows",
	"transform":   "write transform: {expr: …}",
	"expr":        "write expr: EXPRESSION",
	"rule":        "write rule: {OPERATOR: […]}, such as {\"==\": [{var: NODE.FIELD}, 1]}",
	"items":       "write items: {expr: …}",
	"tool":        "write tool: NAME, the tool to call",
}

// short returns what to write for a string that is not long, or "".
func short(n *Node, write func(text string) string) string {
	text := n.Text().String()
	if !n.IsString() || len(text) > maxRemedy || strings.ContainsAny(text, "\n\r") {
		return ""
	}
	return "write " + write(text)
}

func singleQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quotedWords(words []string) string {
	for i, w := range words {
		words[i] = strconv.Quote(w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// remedy returns what to write for a value of the wrong type, which what names.
func remedy(n *Node, what string) string {
	field := fieldName(what)
	if f := remedies[field]; f != nil {
		return f(n)
	}
	return ""
}

// fieldName returns the last name of the path in quotes with which a text begins.
func fieldName(what string) string {
	_, rest, _ := strings.Cut(what, `"`)
	path, _, _ := strings.Cut(rest, `"`)
	return path[strings.LastIndexByte(path, '.')+1:]
}

// synonyms are names that other programs have for fields.
var synonyms = map[string][]string{
	"arguments": {"args"}, "params": {"args"}, "parameters": {"args", "inputSchema"}, "with": {"args"}, "input": {"args", "inputSchema"},
	"inputs": {"args", "inputSchema"}, "schema": {"inputSchema"}, "outputs": {"outputSchema"}, "expression": {"expr"}, "value": {"expr"},
	"then": {"next"}, "to": {"next"}, "goto": {"next"}, "target": {"next"}, "steps": {"nodes"}, "timeout": {"timeoutMs"},
	"onError": {"catch"}, "on_error": {"catch"}, "if": {"rule"}, "condition": {"rule"}, "when": {"rule"}, "cases": {"conditions"},
	"kind": {"type"}, "action": {"tool"}, "function": {"tool"}, "environment": {"env"}, "cmd": {"command"}, "endpoint": {"url"},
	"expr": {"transform"}, "servers": {"mcpServers"}, "title": {"description"}, "name": {"id"},
}

// synonym returns the field that another program calls by a name, or "".
func synonym(name string, valid []string) string {
	for _, s := range synonyms[name] {
		for _, v := range valid {
			if s == v {
				return s
			}
		}
	}
	return ""
}

// commandLine returns the program and the arguments of a command that is a whole command
// line, and reports false if it is none. A path may have spaces in it.
func commandLine(command string) (program string, args []string, ok bool) {
	words := strings.Fields(command)
	if len(words) < 2 || strings.Contains(words[0], "$") {
		return "", nil, false
	}
	ok = !strings.ContainsAny(words[0], `/\:"'`)
	for _, w := range words[1:] {
		ok = ok || len(w) > 1 && w[0] == '-' && !strings.ContainsAny(words[0], `\:`)
	}
	return words[0], words[1:], ok
}

// commandLineHint returns what to write for a whole command line; more are the
// arguments beside it.
func commandLineHint(program string, args, more []string) string {
	text := fmt.Sprintf("write command: %s, args: %s", program, quotedWords(append(args, more...)))
	if len(text) > 2*maxRemedy {
		return "write the program alone under command, and each argument as an item of args"
	}
	return text
}

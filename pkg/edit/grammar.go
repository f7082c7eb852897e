package edit

import (
	"slices"
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// part is what a value is in a file: it decides in which order the keys of a map
// are written, and where expressions are.
type part uint8

const (
	data           part = iota // anything whose order and contents are left alone
	code                       // data in which a map with the key expr is an expression
	expression                 // JSONata
	configFile                 // the root of a configuration
	serverMap                  // "server"
	entries                    // upstream servers by name
	upstream                   // one of them
	tools                      // a list of tools
	tool                       // one of them
	nodeList                   // nodes of a tool or body
	node                       // one of them
	body                       // nodes with rules for failures
	branches                   // bodies by name
	prompts                    // a list of prompts
	prompt                     // one of them
	arguments                  // a list of arguments of a prompt
	promptArgument             // one of them
	messages                   // a list of messages of a prompt
	promptMessage              // one of them
	resources                  // a list of resources
	resource                   // one of them
	passing                    // a list of what passes
	passed                     // one of them
	testFile                   // the root of a test file
	tests                      // a list of tests
	test                       // one of them
	cases                      // a list of cases
	oneCase                    // one of them
	mocks                      // a list of mocks
	mock                       // one of them
	expectation                // what a test expects
)

// grammar knows the keys of maps in the order of the documentation. It is made of
// the descriptions that the decoders use.
type grammar struct {
	keys   map[part]map[string]int      // rank by key
	fields map[string]map[string]*field // of nodes, by type and key
}

// field is a key of a node.
type field struct {
	rank int
	part part
}

var theGrammar = sync.OnceValue(func() *grammar {
	g := &grammar{keys: map[part]map[string]int{}, fields: map[string]map[string]*field{}}
	top := config.Settings()
	g.keys[serverMap] = ranks(settingNames(fieldsOf(top, "server")))
	g.keys[upstream] = ranks(settingNames(fieldsOf(top, "mcpServers")))
	g.keys[tool] = ranks(settingNames(fieldsOf(top, "tools")))
	g.keys[prompt] = ranks(settingNames(fieldsOf(top, "prompts")))
	g.keys[promptArgument] = ranks(settingNames(fieldsOf(fieldsOf(top, "prompts"), "arguments")))
	g.keys[promptMessage] = ranks(settingNames(fieldsOf(fieldsOf(top, "prompts"), "messages")))
	g.keys[resource] = ranks(settingNames(fieldsOf(top, "resources")))
	g.keys[passed] = ranks(settingNames(fieldsOf(top, "passthrough")))
	testSettings := fieldsOf(suite.Settings(), "tests")
	g.keys[test] = ranks(settingNames(testSettings))
	g.keys[oneCase] = ranks(settingNames(fieldsOf(testSettings, "cases")))
	for _, k := range nodes.All {
		fields := map[string]*field{"id": {0, data}, "type": {1, data}}
		// In the flat layout entry and exit have one more key, in front of the others.
		for _, f := range append(graph.FieldsOf(k, true, false), graph.FieldsOf(k, false, true)...) {
			for _, name := range append([]string{f.Name}, f.Aliases...) {
				if fields[name] == nil {
					fields[name] = &field{len(fields), partOf(f)}
				}
			}
		}
		g.fields[k.Name] = fields
	}
	return g
})

func partOf(f *graph.Field) part {
	switch f.Type {
	case graph.NodesField:
		return nodeList
	case graph.BodyField:
		return body
	case graph.BranchesField:
		return branches
	case graph.ExprField:
		return expression
	case graph.RuleField, graph.SettingField, graph.StringField, graph.EdgeField, graph.ServerField:
		return data
	}
	if f.Name == "schema" {
		return data
	}
	return code
}

func fieldsOf(settings []config.Setting, name string) []config.Setting {
	i := slices.IndexFunc(settings, func(s config.Setting) bool { return s.Name == name })
	return settings[i].Fields
}

func settingNames(settings []config.Setting) []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.Name)
	}
	return names
}

func ranks(names []string) map[string]int {
	m := make(map[string]int, len(names))
	for i, name := range names {
		m[name] = i
	}
	return m
}

// parts of the values of keys, apart from those of nodes.
var parts = map[part]map[string]part{
	configFile:     {"server": serverMap, "mcpServers": entries, "servers": entries, "tools": tools, "nodes": nodeList, "prompts": prompts, "resources": resources, "passthrough": passing},
	tool:           {"nodes": nodeList, "catch": code},
	prompt:         {"arguments": arguments, "messages": messages, "nodes": nodeList, "catch": code},
	resource:       {"complete": code, "nodes": nodeList, "catch": code},
	promptArgument: {"complete": code},
	promptMessage:  {"text": code, "content": code},
	body:           {"nodes": nodeList, "catch": code},
	testFile:       {"tests": tests, "mocks": mocks},
	test:           {"cases": cases, "mocks": mocks, "expect": expectation},
	oneCase:        {"mocks": mocks, "expect": expectation},
	mock:           {"arguments": code, "reply": code, "replies": code},
	expectation: {
		"expr": expression, "result": code, "matches": code, "error": code, "path": code, "calls": code, "outputs": code,
		"attempts": code, "durationMs": code,
	},
}

// child returns what the value of a key of a map is.
func (g *grammar) child(p part, l *config.Layout, key string) part {
	return g.childOf(p, len(l.Items)/2, func() string { return typeOf(l) }, key)
}

// valueChild is child for the value of a map.
func (g *grammar) valueChild(p part, v value.Value, key string) part {
	return g.childOf(p, v.Len(), func() string { return v.Get("type").Str() }, key)
}

// childOf returns what the value of a key is, in a map with some number of keys.
// kind returns the value of its key "type".
func (g *grammar) childOf(p part, keys int, kind func() string, key string) part {
	switch p {
	case entries:
		return upstream
	case branches:
		return body
	case code:
		switch key {
		case "expr":
			if keys == 1 {
				return expression
			}
		case "rule", "is", "schema":
			return data
		}
		return code
	case node:
		if f := g.fields[kind()][key]; f != nil {
			return f.part
		}
		return data
	}
	return parts[p][key]
}

// item returns what the elements of a list are.
func (g *grammar) item(p part) part {
	switch p {
	case tools:
		return tool
	case prompts:
		return prompt
	case arguments:
		return promptArgument
	case messages:
		return promptMessage
	case resources:
		return resource
	case passing:
		return passed
	case nodeList, body:
		return node
	case tests:
		return test
	case cases:
		return oneCase
	case mocks:
		return mock
	case code, expression:
		return p
	}
	return data
}

// rootPart tells a test file from a configuration.
func rootPart(path string, root *config.Layout) part {
	if suite.IsTestFile(path) || find(root, "tests") != nil && find(root, "tools") == nil {
		return testFile
	}
	return configFile
}

func typeOf(l *config.Layout) string {
	if t := find(l, "type"); t != nil && t.Style != config.AliasStyle {
		return t.Text
	}
	return ""
}

// find returns the value of a key that is written in a map, or nil.
func find(l *config.Layout, key string) *config.Layout {
	if l.Kind != config.Map {
		return nil
	}
	for i := 0; i+1 < len(l.Items); i += 2 {
		if k := l.Items[i]; k.Kind == config.Scalar && k.Text == key && k.Style != config.AliasStyle {
			return l.Items[i+1]
		}
	}
	return nil
}

// rank returns the place of a key in the documented order; ok is false if it has
// none.
func (g *grammar) rank(p part, l *config.Layout, key string) (rank int, ok bool) {
	if p == node {
		if f := g.fields[typeOf(l)][key]; f != nil {
			return f.rank, true
		}
		return 0, false
	}
	rank, ok = g.keys[p][key]
	return rank, ok
}

// isOrdered reports whether the order of the keys of a map has no meaning.
func (g *grammar) isOrdered(p part) bool { return p == node || g.keys[p] != nil }

// order returns the indexes of the keys of a map in the documented order, or nil
// if they are in it already. A key that is not documented stays behind the one
// that it follows, and none moves past an anchor, an alias or a merge key.
func (g *grammar) order(l *config.Layout, p part) []int {
	if !g.isOrdered(p) {
		return nil
	}
	n := len(l.Items) / 2
	sorted := make([]int, n)
	rank := make([]int, n)
	last, from, changed := -1, 0, false
	flush := func(to int) {
		segment := sorted[from:to]
		for i := range segment {
			segment[i] = from + i
			changed = changed || i > 0 && rank[from+i] < rank[from+i-1]
		}
		slices.SortStableFunc(segment, func(a, b int) int { return rank[a] - rank[b] })
	}
	for i := range n {
		key, v := l.Items[2*i], l.Items[2*i+1]
		if isPinned(key) || isPinned(v) {
			flush(i)
			sorted[i], from, last = i, i+1, -1
			continue
		}
		if r, ok := g.rank(p, l, key.Text); ok {
			last = r
		}
		rank[i] = last
	}
	flush(n)
	if !changed {
		return nil
	}
	return sorted
}

// isPinned reports whether a value has an anchor, an alias or a merge key.
func isPinned(l *config.Layout) bool {
	if l.HasProperties() || l.Style == config.AliasStyle || l.Style == config.PlainStyle && l.Kind == config.Scalar && l.Text == "<<" {
		return true
	}
	return slices.ContainsFunc(l.Items, isPinned)
}

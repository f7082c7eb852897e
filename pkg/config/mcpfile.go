package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// decodeMCPFiles adds the entries of other files that the nodes name.
func (d *decoder) decodeMCPFiles(files []MCPFile) {
	if len(files) == 0 {
		return
	}
	for _, f := range files {
		_, root, ds := read(f.Path, withoutComments(f.Source), d.meter)
		d.report(ds...)
		if root == nil {
			continue
		}
		if root.Kind() != Map {
			d.report(root.Expected("a file of upstream servers", "a map"))
			continue
		}
		d.path = f.Path
		d.mcpFile(root)
	}
}

// mcpFile adds the entries of another program's file that are wanted: all with
// Options.ServersOnly, else those that the nodes name.
func (d *decoder) mcpFile(root *Node) {
	named := d.namedServers()
	d.inputDefaults, d.foreign = root.Get("inputs"), true
	all := foreignServerMaps(root)
	if len(all) == 0 && len(root.Fields()) > 0 {
		p := root.Problem(diag.CodeMeaningless, "the file has no servers")
		p.End = diag.Pos{}
		p.Hint = "put servers under " + diag.List(serverMapKeys)
		d.report(p)
	}
	for _, entries := range all {
		if entries.Value.Kind() == Scalar && entries.Value.Value().Kind() == value.Null {
			continue
		}
		if entries.Value.Kind() != Map {
			d.report(entries.Value.Expected(fmt.Sprintf("%q", entries.Key.String()), "a map"))
			continue
		}
		d.file.Upstreams = append(d.file.Upstreams, decodeUpstreams(d, entries.Value, func(name string) bool {
			known := func(u *Upstream) bool { return u.Name == name }
			return (d.serversOnly || named[name]) &&
				!slices.ContainsFunc(d.file.Upstreams, known) && !slices.ContainsFunc(d.file.Disabled, known)
		})...)
	}
}

// IsForeign reports whether the text of the file at path is one of another program: it has
// servers, and none of the keys of a configuration.
func IsForeign(path string, text []byte) bool {
	_, root, _ := read(path, withoutComments(text), nil)
	return root != nil && root.Kind() == Map && isForeign(root)
}

// isForeign reports whether a file is another program's: it has servers, and none
// of the keys of a configuration.
func isForeign(root *Node) bool {
	for _, key := range []string{"version", "server", "tools", "nodes", "executionLimits", "prompts", "resources", "passthrough"} {
		if root.Get(key) != nil {
			return false
		}
	}
	return len(foreignServerMaps(root)) > 0
}

// serverMapKeys are the keys under which programs keep entries: most of them,
// VS Code, Zed, and those that follow Codex.
var serverMapKeys = []string{"mcpServers", "servers", "context_servers", "mcp_servers"}

// foreignServerMaps returns the fields of another program's file that hold entries,
// also of "mcp" in the settings of VS Code.
func foreignServerMaps(root *Node) []Field {
	var found []Field
	for _, n := range []*Node{root, root.Get("mcp")} {
		if n == nil || n.Kind() != Map {
			continue
		}
		for _, key := range serverMapKeys {
			if f, ok := n.Field(key); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

// namedServers returns what the nodes, and passthrough, of the file name as "server".
func (d *decoder) namedServers() map[string]bool {
	named := map[string]bool{}
	var add func(nodes []*Node)
	add = func(nodes []*Node) {
		for _, n := range nodes {
			named[n.Get("server").Text().String()] = true
			for _, body := range bodiesOf(n) {
				add(body.Items())
			}
		}
	}
	add(d.file.Nodes)
	for _, t := range d.file.Tools {
		add(t.Nodes)
	}
	for _, p := range d.file.Prompts {
		add(p.Nodes)
	}
	for _, r := range d.file.Resources {
		add(r.Nodes)
	}
	for _, p := range d.file.Passthrough {
		named[p.Server] = true
	}
	return named
}

// bodiesOf returns the lists of nodes inside of a node.
func bodiesOf(n *Node) []*Node {
	bodies := []*Node{n.Get("nodes"), n.Get("body").Get("nodes")}
	for _, f := range n.Get("branches").Fields() {
		bodies = append(bodies, f.Value, f.Value.Get("nodes"))
	}
	return bodies
}

// withoutComments puts spaces where JSON has the comments of JavaScript, which
// editors write into such files and YAML does not know. Every other byte stays
// where it is.
func withoutComments(source []byte) []byte {
	if first := bytes.TrimSpace(source); len(first) == 0 || first[0] != '{' && first[0] != '/' {
		return source // YAML in its own style
	}
	out := bytes.Clone(source)
	for i := 0; i < len(out); i++ {
		end := ""
		switch rest := out[i:]; {
		case out[i] == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
		case i > 0 && !strings.ContainsRune(" \t\r\n,:{}[]\"", rune(out[i-1])):
			// A comment follows a token, not the letters of an address.
		case bytes.HasPrefix(rest, []byte("//")):
			end = "\n"
		case bytes.HasPrefix(rest, []byte("/*")):
			end = "*/"
		}
		if end == "" {
			continue
		}
		length := len(out) - i
		if at := bytes.Index(out[i:], []byte(end)); at >= 0 {
			length = at + len(strings.TrimSpace(end))
		}
		for ; length > 0; length-- {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
			i++
		}
		i--
	}
	return out
}

package config

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// mcpFiles adds the entries of other files that the nodes name.
func (d *decoder) mcpFiles(files []MCPFile) {
	if len(files) == 0 {
		return
	}
	named := d.namedServers()
	for _, f := range files {
		_, root, ds := read(f.Path, withoutComments(f.Source))
		d.report(ds...)
		if root == nil {
			continue
		}
		if root.Kind() != Map {
			d.report(root.Expected("a file of upstream servers", "a map"))
			continue
		}
		entries := d.servers(root)
		if entries == nil {
			m := root.Missing("the file", "mcpServers")
			m.Message = `the file has neither "mcpServers" nor "servers"`
			d.report(m)
			continue
		}
		d.file.Upstreams = append(d.file.Upstreams, d.upstreams(entries, func(name string) bool {
			return named[name] && !slices.ContainsFunc(d.file.Upstreams, func(u *Upstream) bool { return u.Name == name })
		})...)
		// The file is another program's, whose settings are no mistake.
		d.diagnostics = slices.DeleteFunc(d.diagnostics, func(p diag.Diagnostic) bool {
			return p.Code == diag.CodeMeaningless && p.File == f.Path
		})
	}
}

// namedServers gives what the nodes of the file name as "server".
func (d *decoder) namedServers() map[string]bool {
	named := map[string]bool{}
	add := func(nodes []*Node) {
		for _, n := range nodes {
			named[n.Get("server").Text().String()] = true
		}
	}
	add(d.file.Nodes)
	for _, t := range d.file.Tools {
		add(t.Nodes)
	}
	return named
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

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Options are what a file is read with.
type Options struct {
	// Getenv looks up an environment variable; nil means os.LookupEnv.
	Getenv func(name string) (string, bool)
	// MCPFiles are other files with entries of upstream servers, in the form
	// that desktop clients use. Entries that no node names are left out; an
	// entry of the configuration itself, or of an earlier file, wins.
	MCPFiles []MCPFile
}

// MCPFile is a file with a map of upstream servers under "mcpServers" or
// "servers".
type MCPFile struct {
	Path   string
	Source []byte
}

// SupportedVersion is the version of the configuration language.
const SupportedVersion = "1.0"

var topLevel = []string{"version", "server", "mcpServers", "servers", "executionLimits", "tools", "nodes"}

// Parse reads a configuration and reports everything that is wrong with it,
// nodes excepted, sorted by place. The File holds what could be read; it is nil
// where the source is not a single YAML document.
func Parse(path string, source []byte, opts Options) (*File, []diag.Diagnostic) {
	doc, root, ds := read(path, source)
	if root == nil {
		return nil, ds
	}
	if opts.Getenv == nil {
		opts.Getenv = os.LookupEnv
	}
	d := &decoder{getenv: opts.Getenv, diagnostics: ds, file: &File{
		Path: path, Source: doc.source,
		Limits: Limits{DefaultMaxNodeExecutions, DefaultMaxExecutionTime},
	}}
	if root.Kind() != Map {
		d.report(root.Expected("the configuration", "a map"))
		return d.file, d.diagnostics
	}
	d.topLevel(root)
	d.mcpFiles(opts.MCPFiles)
	diag.Sort(d.diagnostics)
	return d.file, d.diagnostics
}

// Load reads a configuration and further files of upstream servers from disk. It
// also gives the contents of all of them, for the lines shown under diagnostics.
// A file that cannot be read is a diagnostic with CodeFile; getenv nil means
// os.LookupEnv.
func Load(path string, mcpFiles []string, getenv func(name string) (string, bool)) (*File, diag.Sources, []diag.Diagnostic) {
	sources := diag.Sources{}
	opts := Options{Getenv: getenv}
	var unreadable []diag.Diagnostic
	for _, p := range append([]string{path}, mcpFiles...) {
		text, err := os.ReadFile(p)
		if err != nil {
			unreadable = append(unreadable, unreadableFile(p, err))
			continue
		}
		sources[p] = text
		if p != path {
			opts.MCPFiles = append(opts.MCPFiles, MCPFile{p, text})
		}
	}
	if sources[path] == nil {
		return nil, sources, unreadable
	}
	f, ds := Parse(path, sources[path], opts)
	return f, sources, append(unreadable, ds...)
}

func unreadableFile(path string, err error) diag.Diagnostic {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return diag.Diagnostic{
		File: path, Severity: diag.SeverityOf(diag.CodeFile), Code: diag.CodeFile,
		Message: fmt.Sprintf("cannot read the file: %v", err),
	}
}

// decoder turns nodes into settings. Its methods report what is wrong and go on.
type decoder struct {
	file        *File
	getenv      func(string) (string, bool)
	diagnostics []diag.Diagnostic
}

func (d *decoder) report(ds ...diag.Diagnostic) { d.diagnostics = append(d.diagnostics, ds...) }

func (d *decoder) topLevel(root *Node) {
	const owner = "the configuration"
	d.report(unknownFields(root, owner, topLevel)...)
	d.version(root)
	if server := d.required(root, owner, "server", Map); server != nil {
		d.server(server)
	}
	if limits := d.optional(root, "executionLimits", Map); limits != nil {
		d.limits(limits)
	}
	d.file.Upstreams = d.upstreams(d.servers(root), nil)
	if nodes, ok := root.Field("nodes"); ok {
		d.file.Flat = true
		d.file.Nodes = d.list(nodes.Value, `"nodes"`)
	}
	if tools := d.required(root, owner, "tools", List); tools != nil {
		d.tools(tools, root)
	}
}

func (d *decoder) version(root *Node) {
	n := root.Get("version")
	switch {
	case n == nil:
		m := root.Missing("the configuration", "version")
		m.Hint = `write version: "1.0"`
		d.report(m)
	case n.Value().Kind() == value.Number:
		e := n.Expected(`"version"`, "a string")
		e.Hint = `write version: "1.0", with the quotes`
		d.report(e)
	case !n.IsString():
		d.report(n.Expected(`"version"`, "a string"))
	case n.Text().String() != SupportedVersion:
		d.file.Version = n.Text().String()
		e := n.Problem(diag.CodeVersion, fmt.Sprintf("version %s of the configuration language is not known", quoted(d.file.Version)))
		e.Hint = `the one that is known is "1.0"`
		d.report(e)
	default:
		d.file.Version = SupportedVersion
	}
}

// required gives a field of a map that has to be there and of a kind; it
// reports what is wrong and then gives nil.
func (d *decoder) required(n *Node, owner, name string, kind Kind) *Node {
	if n.Get(name) == nil {
		d.report(n.Missing(owner, name))
		return nil
	}
	return d.optional(n, name, kind)
}

var kindNames = map[Kind]string{Map: "a map", List: "a list"}

// optional gives a field of a map; nil where it is not there or, which it
// reports, of another kind.
func (d *decoder) optional(n *Node, name string, kind Kind) *Node {
	f := n.Get(name)
	if f != nil && f.Kind() != kind {
		d.report(f.Expected(fmt.Sprintf("%q", name), kindNames[kind]))
		return nil
	}
	return f
}

// list gives the elements of a node that has to be a list.
func (d *decoder) list(n *Node, what string) []*Node {
	if n.Kind() != List {
		d.report(n.Expected(what, "a list"))
		return nil
	}
	return n.Items()
}

// str gives a field that has to be a string where it is there.
func (d *decoder) str(n *Node, name string) string {
	f := n.Get(name)
	if f == nil {
		return ""
	}
	if !f.IsString() {
		d.report(d.notAString(f, name))
		return ""
	}
	return f.Text().String()
}

// notAString tells how to make a string of a number or boolean.
func (d *decoder) notAString(n *Node, name string) diag.Diagnostic {
	e := n.Expected(fmt.Sprintf("%q", name), "a string")
	if k := n.Value().Kind(); k == value.Number || k == value.Bool {
		e.Hint = fmt.Sprintf("put quotes around it: %s: %q", name, n.Text().String())
	}
	return e
}

// name gives a field that has to be a string with something in it.
func (d *decoder) name(n *Node, owner, field string) Text {
	f := n.Get(field)
	switch {
	case f == nil:
		d.report(n.Missing(owner, field))
	case !f.IsString():
		d.report(d.notAString(f, field))
	case f.Text().String() == "":
		d.report(f.Problem(diag.CodeValue, fmt.Sprintf("%q of %s is empty", field, owner)))
	default:
		return f.Text()
	}
	return Text{}
}

// boolean gives a field that has to be true or false where it is there, else
// what it is without.
func (d *decoder) boolean(n *Node, name string, absent bool) bool {
	f := n.Get(name)
	if f == nil {
		return absent
	}
	if f.Value().Kind() != value.Bool {
		d.report(f.Expected(fmt.Sprintf("%q", name), "true or false"))
		return absent
	}
	return f.Value().Bool()
}

// mcpFiles adds the entries of other files that the nodes name.
func (d *decoder) mcpFiles(files []MCPFile) {
	if len(files) == 0 {
		return
	}
	named := d.namedServers()
	for _, f := range files {
		_, root, ds := read(f.Path, f.Source)
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

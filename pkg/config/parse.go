package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Options are what a file is read with.
type Options struct {
	// Getenv looks up an environment variable; nil means os.LookupEnv.
	Getenv func(name string) (string, bool)
	// Inputs are the values of ${input:ID} by ID. What is missing is taken from
	// the environment (InputVariable).
	Inputs map[string]string
	// MCPFiles are other files with entries of upstream servers, in the form
	// that desktop clients use. Entries that no node names are left out; an
	// entry of the configuration itself, or of an earlier file, wins.
	MCPFiles []MCPFile
	// ServersOnly reads upstream servers and nothing else, whether nodes name them
	// or not. The file can then also be one of another program (see MCPFiles).
	ServersOnly bool
	// Serving, with ServersOnly, also reads how the file is served: its "server". What
	// stands where that could be meant, such as a misspelt key, is reported.
	Serving bool
	// AllowUnset keeps a variable that has no value as it is written, without an
	// error. Upstream.Unset has those of a server.
	AllowUnset bool
	// KeepVariables keeps every variable of the environment as it is written, with its
	// default, for a caller that copies entries into another file.
	KeepVariables bool
	// WorkspaceFolder is what ${workspaceFolder} becomes; empty is the path of the
	// folder. A caller that writes entries into another file keeps the variable so.
	WorkspaceFolder string
	// Context stops the reading when it ends, or when its account (see
	// [memory.WithAccount]) has no room for the nodes of the file; nil never does. What
	// is returned is then incomplete, and the context has the cause.
	Context context.Context
}

// MCPFile is a file with a map of upstream servers under one of serverMapKeys.
type MCPFile struct {
	Path   string
	Source []byte
}

// SupportedVersion is the version of the configuration language.
const SupportedVersion = "1.0"

// Parse reads a configuration and reports everything that is wrong with it,
// nodes excepted, sorted by place. The File holds what could be read; it is nil
// where the source is not a single YAML document.
func Parse(path string, source []byte, opts Options) (*File, []diag.Diagnostic) {
	if opts.ServersOnly {
		source = withoutComments(source)
	}
	var meter *memory.Meter
	if opts.Context != nil {
		meter = memory.NewMeter(opts.Context)
	}
	doc, root, ds := read(path, source, meter)
	if root == nil {
		return nil, ds
	}
	if opts.Getenv == nil {
		opts.Getenv = os.LookupEnv
	}
	d := &decoder{
		getenv: opts.Getenv, inputs: opts.Inputs, allowUnset: opts.AllowUnset, keepVariables: opts.KeepVariables,
		serversOnly: opts.ServersOnly, workspaceFolder: opts.WorkspaceFolder,
		meter: meter, path: path, diagnostics: ds,
		file: &File{Path: path, Source: doc.source, Root: root},
	}
	d.file.Limits = decodeLimits(d, nil)
	switch {
	case root.Kind() != Map:
		d.report(root.Expected("the configuration", "a map"))
		return d.file, d.diagnostics
	case !opts.ServersOnly:
		d.topLevel(root)
	case isForeign(root):
		d.mcpFile(root)
	default:
		if opts.Serving {
			d.serving(root)
		}
		d.file.Upstreams = decodeUpstreams(d, decodeServers(d, root), nil)
	}
	d.file.Source = redactTokens(d, doc)
	d.decodeMCPFiles(opts.MCPFiles)
	diag.Sort(d.diagnostics)
	return d.file, d.diagnostics
}

// Load reads a configuration and further files of upstream servers with read. It
// also returns the contents of all of them, for the lines shown under diagnostics.
// A file that cannot be read is a diagnostic with CodeFile. Read nil reads
// from disk, files of up to 64 MiB.
func Load(path string, mcpFiles []string, read func(path string) ([]byte, error), opts Options) (*File, diag.Sources, []diag.Diagnostic) {
	if read == nil {
		read = boundedfile.Read
	}
	sources := diag.Sources{}
	var unreadable []diag.Diagnostic
	for _, p := range append([]string{path}, mcpFiles...) {
		text, err := read(p)
		if err != nil {
			d := unreadableFile(p, err)
			if p == path && errors.Is(err, fs.ErrNotExist) {
				d.Hint = "check the path, or write a first file with `mcpgraph init " + p + "`"
			}
			unreadable = append(unreadable, d)
			continue
		}
		sources[p] = text
		if p != path {
			opts.MCPFiles = append(opts.MCPFiles, MCPFile{p, text})
		}
	}
	if _, ok := sources[path]; !ok {
		return nil, sources, unreadable
	}
	f, ds := Parse(path, sources[path], opts)
	if f != nil {
		sources[path] = f.Source
	}
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
	file            *File
	getenv          func(string) (string, bool)
	inputs          map[string]string
	allowUnset      bool      // Options.AllowUnset
	keepVariables   bool      // Options.KeepVariables
	unset           *[]string // takes the variables without a value of the entry that is read; may be nil
	meter           *memory.Meter
	path            string // of the file that is decoded
	inputDefaults   *Node  // its "inputs"; may be nil
	foreign         bool   // it is another program's
	serversOnly     bool   // Options.ServersOnly
	workspaceFolder string // Options.WorkspaceFolder
	diagnostics     []diag.Diagnostic
	literalTokens   []*Node // of callers, where they are written in the file

	offerNames  map[string][]Text // see namesOfOffers
	scopes      *diag.Names       // see decodeGrantedScopes
	scopesOf    *ServerAuth
	scopesKnown bool
}

func (d *decoder) report(ds ...diag.Diagnostic) { d.diagnostics = append(d.diagnostics, ds...) }

func (d *decoder) topLevel(root *Node) {
	top := d.newSection(root, "the configuration", topSettings, nil)
	d.version(root)
	if server := top.optional("server", Map); server != nil {
		decodeServer(d, server)
	}
	if limits := top.optional("executionLimits", Map); limits != nil {
		d.file.Limits = decodeLimits(d, limits)
	}
	if engine := top.optional("engine", Map); engine != nil {
		decodeEngine(d, engine)
	}
	d.file.Upstreams = decodeUpstreams(d, decodeServers(d, root), nil)
	if nodes, ok := root.Field("nodes"); ok {
		d.file.Flat = true
		d.file.Nodes = d.requiredItems(nodes.Value, `"nodes"`)
	}
	if tools := top.optional("tools", List); tools != nil {
		decodeTools(d, tools, root)
	}
	decodeOffers(d, top)
}

// serving decodes "server" alone.
func (d *decoder) serving(root *Node) {
	d.report(unknownFields(root, "the configuration", names(topSettings))...)
	if server := d.optional(root, "server", Map); server != nil {
		decodeServer(d, server)
	}
}

func (d *decoder) version(root *Node) {
	n := root.Get("version")
	switch {
	case n == nil, n.IsString() && n.Text().String() == "": // reported
	case n.Value().Kind() == value.Number:
		e := n.Expected(`"version"`, "a string")
		e.Hint = `write version: "1.0", with the quotes`
		d.report(e)
	case !n.IsString():
		d.report(n.Expected(`"version"`, "a string"))
	case n.Text().String() != SupportedVersion:
		d.file.Version = n.Text().String()
		e := n.Problem(diag.CodeVersion, fmt.Sprintf("unsupported version %s of the configuration language", quote(d.file.Version)))
		e.Hint = `write version: "1.0"`
		d.report(e)
	default:
		d.file.Version = SupportedVersion
	}
}

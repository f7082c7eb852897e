// Package lock holds what upstream servers offered when a configuration was last
// reviewed: the names of their tools and, of the tools that graphs call, the
// schemas, annotations and descriptions. A [File] is made of what servers list,
// written as JSON that is stable and readable in a review, read again, and
// compared.
package lock

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Path returns where the lock file of a configuration is: beside it, with
// .lock.json in place of its ending.
func Path(config string) string {
	return strings.TrimSuffix(config, filepath.Ext(config)) + ".lock.json"
}

// File is what a lock file says. It is immutable once it is in use, and then safe
// for concurrent use.
type File struct {
	// Servers are sorted by name.
	Servers []*Server
}

// Server is what is locked of one upstream server.
type Server struct {
	// Name is that of the entry in the configuration.
	Name string
	// ServerName and Version are the server's own, Protocol the revision of MCP that
	// it spoke. They say where the rest is from and are not compared.
	ServerName, Version, Protocol string
	// Issuer is the authorization server that the server named when somebody logged in;
	// empty if the configuration names one, or if there is none.
	Issuer string
	// NoTasks is set if a locked tool can only be called as a task, and the server did
	// not announce tasks: calls of the tool fail.
	NoTasks bool
	// ToolNames are the names of all its tools, sorted, as nodes write them: without
	// the namePrefix of the entry.
	ToolNames []string
	// Tools are those that graphs call, sorted by name.
	Tools []*Tool
}

// Tool is one locked tool. A value that the server did not send is undefined. The
// keys of objects are sorted, and so are the names under "required".
type Tool struct {
	Name                                   string // as nodes write it
	Description                            string
	InputSchema, OutputSchema, Annotations value.Value
	// Execution is locked if the tool can only be called as a task.
	Execution value.Value
}

// IsTaskOnly reports whether the member "execution" of a tool says that it can only be
// called as a task (MCP 2025-11-25, ToolExecution).
func IsTaskOnly(execution value.Value) bool { return execution.Get("taskSupport").Str() == "required" }

// Server returns the server with the name of its entry, or nil. A nil File has
// none.
func (f *File) Server(name string) *Server {
	if f == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(f.Servers, name, func(s *Server, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return nil
	}
	return f.Servers[i]
}

// Tool returns a tool that is locked, or nil. A nil File has none.
func (f *File) Tool(server, tool string) *Tool { return f.Server(server).Tool(tool) }

// Tool returns a tool that is locked, or nil. A nil Server has none.
func (s *Server) Tool(name string) *Tool {
	if s == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(s.Tools, name, func(t *Tool, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return nil
	}
	return s.Tools[i]
}

// Has reports whether the server had a tool of this name, locked or not. A nil
// Server had none.
func (s *Server) Has(name string) bool {
	if s == nil {
		return false
	}
	_, ok := slices.BinarySearch(s.ToolNames, name)
	return ok
}

// NewServer returns what is to be locked of a server that listed these tools. prefix
// is the namePrefix of its entry: tools without it cannot be called and are left
// out. called are the tools that graphs call, as they name them; those that are
// not listed are left out.
func NewServer(name, prefix string, tools []value.Value, called []string) *Server {
	s := &Server{Name: name}
	seen, wanted := map[string]bool{}, map[string]bool{}
	for _, tool := range called {
		wanted[tool] = true
	}
	for _, t := range tools {
		own, ok := strings.CutPrefix(t.Get("name").Str(), prefix)
		if !ok || seen[own] {
			continue
		}
		seen[own] = true
		s.ToolNames = append(s.ToolNames, own)
		if wanted[own] {
			s.Tools = append(s.Tools, NewTool(own, t))
		}
	}
	slices.Sort(s.ToolNames)
	sortTools(s.Tools)
	return s
}

// NewTool returns what is to be locked of a tool that a server listed.
func NewTool(name string, listed value.Value) *Tool {
	t := &Tool{
		Name: name, Description: listed.Get("description").Str(),
		InputSchema:  canonical(listed.Get("inputSchema")),
		OutputSchema: canonical(listed.Get("outputSchema")),
		Annotations:  canonical(listed.Get("annotations")),
	}
	if execution := listed.Get("execution"); IsTaskOnly(execution) {
		t.Execution = canonical(execution)
	}
	return t
}

// With returns a file in which s replaces the server of its name, or is added.
func (f *File) With(s *Server) *File {
	out := &File{}
	if f != nil {
		for _, old := range f.Servers {
			if old.Name != s.Name {
				out.Servers = append(out.Servers, old)
			}
		}
	}
	out.Servers = append(out.Servers, s)
	slices.SortFunc(out.Servers, func(a, b *Server) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func sortTools(tools []*Tool) {
	slices.SortFunc(tools, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
}

// canonical returns a value that is the same for values that mean the same: keys
// sorted, and the names under "required", whose order says nothing. It shares no
// text with v.
func canonical(v value.Value) value.Value {
	if v.IsNull() || v.Kind() == value.Object && v.Len() == 0 {
		return value.Undef // both say as little as nothing
	}
	v = sorted(v, 0)
	if v.IsUndefined() {
		return v
	}
	text := v.JSON()
	out, err := value.ParseLazy(text)
	if err != nil {
		return v
	}
	return out
}

// maxDepth is how deep values are sorted, and compared by their parts. Below it they
// stay as they are, and are compared as a whole.
const maxDepth = 100

func sorted(v value.Value, depth int) value.Value {
	if depth > maxDepth {
		return v
	}
	switch v.Kind() {
	case value.Object:
		entries := slices.Clone(v.Entries())
		slices.SortFunc(entries, func(a, b value.Entry) int { return strings.Compare(a.Key, b.Key) })
		for i, e := range entries {
			entries[i].Value = sorted(e.Value, depth+1)
			if e.Key == "required" {
				entries[i].Value = sortedNames(entries[i].Value)
			}
		}
		return value.FromEntries(entries)
	case value.Array:
		elems := slices.Clone(v.Elems())
		for i, e := range elems {
			elems[i] = sorted(e, depth+1)
		}
		return value.FromArray(elems)
	}
	return v
}

// sortedNames sorts a list of strings and leaves everything else as it is.
func sortedNames(v value.Value) value.Value {
	if v.Kind() != value.Array || slices.ContainsFunc(v.Elems(), func(e value.Value) bool { return e.Kind() != value.String }) {
		return v
	}
	elems := slices.Clone(v.Elems())
	slices.SortFunc(elems, func(a, b value.Value) int { return strings.Compare(a.Str(), b.Str()) })
	return value.FromArray(elems)
}

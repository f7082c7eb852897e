// Package config reads the file that describes an MCP server: positioned YAML
// values, the settings of the server, its upstream servers and limits, and the
// tools with their nodes, which it leaves undecoded.
package config

import (
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Defaults of settings that a file leaves out.
const (
	DefaultMaxNodeExecutions  = 1000
	DefaultMaxTotalExecutions = 1_000_000
	DefaultMaxCallDepth       = 16
	DefaultMaxExecutionTime   = 300 * time.Second
	DefaultConnectTimeout     = 30 * time.Second
	DefaultTimeout            = 60 * time.Second
	DefaultMaxMessageBytes    = 64 << 20
	DefaultMaxCallWait        = 30 * time.Second
)

// maxCallDepth is the highest MaxCallDepth of a file.
const maxCallDepth = 1000

// File is a configuration as it was written. It is immutable once Parse has
// returned it.
type File struct {
	Path string
	// Source is the text to show, without a byte order mark. Callers' tokens that
	// are written in it are illegible.
	Source  []byte
	Version string
	Server  Server
	// Upstreams holds the file's own entries in its order, then those of other
	// files that a node names.
	Upstreams []*Upstream
	// Disabled holds the disabled entries. Of their settings only Name, File and
	// Pos are read.
	Disabled []*Upstream
	Limits   Limits
	Engine   *Engine // nil: runs are kept in the process
	Tools    []*Tool
	// Prompts, Resources and Passthrough are what the file offers beside tools.
	Prompts     []*Prompt
	Resources   []*Resource
	Passthrough []Passthrough
	// Variables are the environment variables that the file, and the entries of
	// other files that its nodes name, use without a default.
	Variables []string
	// Nodes is the list that serves all tools in the flat layout; nil in the
	// other, and if there is no list.
	Nodes []*Node
	Flat  bool
	// Root is the whole document as it is written.
	Root *Node
}

// Server is what the server reports to clients, how it authenticates callers
// over HTTP, and how many calls run concurrently.
type Server struct {
	Name, Version, Title, Instructions string

	Auth           *ServerAuth // nil: none
	AllowedHosts   []string    // that requests may name; see IsHost
	AllowedOrigins []string    // of web pages that may come in; see IsOrigin
	// HideUnscopedTools hides the tools from callers over HTTP that lack a scope
	// for them.
	HideUnscopedTools bool

	// MaxConcurrentCalls and MaxConcurrentCallsPerCaller are how many calls of
	// tools run at the same time, 0 for any number; MaxCallWait is how long
	// further ones wait for their turn.
	MaxConcurrentCalls, MaxConcurrentCallsPerCaller int
	MaxCallWait                                     time.Duration

	// Secrets holds the values that came from the environment, and the callers'
	// tokens.
	Secrets []string
}

// Limits bound every run.
type Limits struct {
	// MaxNodeExecutions bounds one walk: that of the tool, of a body, or of a
	// called tool. MaxTotalExecutions bounds all walks of a run together.
	MaxNodeExecutions, MaxTotalExecutions int
	MaxExecutionTime                      time.Duration
	// MaxCallDepth bounds tools that call tools; the call of the client is 1.
	MaxCallDepth int
}

// Tool is one tool with its nodes as they were written. InputSchema and
// OutputSchema are nil where the file has none; Annotations and Icons are
// undefined. Nodes is nil in the flat layout and where the file has no list there.
type Tool struct {
	Name                      Text
	Title, Description        string
	InputSchema, OutputSchema *Node
	Annotations, Icons        value.Value
	RequiredScopes            []string // that a caller over HTTP needs; may be empty
	Private                   bool     // only graphs call the tool
	Task                      string   // forbidden, optional or required; empty is forbidden
	Pos                       diag.Pos
	Nodes                     []*Node
	// Node is the tool as it is written.
	Node *Node
}

package config

import (
	"path"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// Transports of upstream servers.
const (
	Stdio     = "stdio"
	HTTP      = "http" // streamable HTTP
	SSE       = "sse"  // HTTP with server-sent events, of the revision of 2024-11-05
	WebSocket = "websocket"
)

// Upstream is one server that nodes call. Settings that the file leaves out have
// their defaults.
type Upstream struct {
	Name string
	// File and Pos are the place of the entry's name.
	File string
	Pos  diag.Pos
	// Transport is Stdio, HTTP, SSE or WebSocket.
	Transport string

	// Of Stdio.
	Command    string
	Args       []string
	Env        []EnvVar
	InheritEnv Inherit
	Cwd        string // relative to the working directory of this process; empty means it

	// Of the others.
	URL     string
	Headers []Header
	// MayBeSSE reports that the entry has no type: if the server refuses
	// streamable HTTP, mcpgraph uses SSE. Transport is HTTP.
	MayBeSSE bool

	ConnectTimeout  time.Duration
	Timeout         time.Duration // without any sign of life
	MaxCallTime     time.Duration // 0: no limit
	MaxConcurrency  int           // 0: no limit
	MaxMessageBytes int64
	Eager           bool
	Tools           ToolFilter
	NamePrefix      string

	// Nil is off.
	Retry          *Retry
	RetryUnsafe    bool // also calls whose effect on the server is unknown
	CircuitBreaker *CircuitBreaker
	RateLimit      *RateLimit
	Cache          *Cache
	// RequireApproval lists the tools that nodes call only after a person agreed.
	RequireApproval *Approval

	// Of those that are not Stdio.
	ForwardHeaders []Forward
	ForwardMeta    []Forward
	Auth           *Auth    // nil: none
	Session        *Session // nil: memory

	// Secrets holds the values that came from the environment, and those that
	// are written in the file under names of credentials. They must not appear
	// in what the program writes.
	Secrets []string
	// Unset names the variables of the entry that have no value, and ${input:ID} as they
	// are written; see [Options.AllowUnset]. A server whose entry has any is not started.
	Unset []string
}

// EnvVar is one variable of the environment of a child process.
type EnvVar struct{ Name, Value string }

// Setting returns the path of a setting of the entry, as messages name it.
func (u *Upstream) Setting(name string) string { return "mcpServers." + u.Name + "." + name }

// Header is one header of the requests to a server.
type Header struct{ Name, Value string }

// Inherit configures which environment variables of this process a child
// process inherits: all of them, or Names and those that any program needs
// (PATH, HOME, LANG, TMPDIR and the like).
type Inherit struct {
	All   bool
	Names []string
}

// ToolFilter configures which tools of a server may be called. Names are exact
// or globs as path.Match has them, except that * and ? match slashes too.
type ToolFilter struct {
	Allow []string // nil: all
	Deny  []string
}

// Allows reports whether the tool may be called: it matches Allow, if there is
// one, and does not match Deny.
func (f ToolFilter) Allows(name string) bool {
	return (f.Allow == nil || matches(f.Allow, name)) && !matches(f.Deny, name)
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if p == name {
			return true
		}
		// Most patterns of a long list differ in how they begin: that costs nothing.
		literal := strings.IndexAny(p, `*?[\`)
		if literal < 0 || !strings.HasPrefix(name, p[:literal]) {
			continue
		}
		if ok, err := match(p, name); ok && err == nil {
			return true
		}
	}
	return false
}

// match is path.Match without its one rule for slashes, which names of tools may
// hold: a denied "*" has to deny everything.
func match(pattern, name string) (bool, error) {
	const slash = "\x00"
	return path.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(name, "/", slash))
}

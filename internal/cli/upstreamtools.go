package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// upstreamTool is a tool as its server describes it.
type upstreamTool struct {
	name   string      // as nodes call it, without namePrefix
	listed value.Value // the server's own description, secrets redacted
}

// upstreamServer is a server and the tools of it that nodes may call.
type upstreamServer struct {
	mcpgraph.ServerStatus
	tools   []upstreamTool
	keptOut []string // by the settings of the entry
}

// askServers connects to the servers of a file at the same time, or to the named
// one, and returns their tools.
func askServers(ctx context.Context, engine *mcpgraph.Engine, info *callinfo.Info, server string) ([]upstreamServer, error) {
	engine.Upstreams().NoteSecrets(info)
	var found []mcpgraph.ServerStatus
	if server == "" {
		found = engine.Status(ctx, mcpgraph.WithCallInfo(info))
	} else {
		entry, err := entryOf(engine, server)
		if err != nil {
			return nil, err
		}
		limited, cancel := context.WithTimeout(ctx, entry.ConnectTimeout+entry.Timeout)
		defer cancel()
		status, err := engine.Upstreams().Status(limited, info, server)
		found = []mcpgraph.ServerStatus{{Entry: entry, Status: status, Err: err}}
	}
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	servers := make([]upstreamServer, len(found))
	for i, s := range found {
		servers[i] = toolsOf(engine, info, s)
	}
	return servers, nil
}

// toolsOf returns the tools of a server by the names that nodes use.
func toolsOf(engine *mcpgraph.Engine, info *callinfo.Info, s mcpgraph.ServerStatus) upstreamServer {
	out := upstreamServer{ServerStatus: s}
	if s.Err != nil {
		return out
	}
	_, out.keptOut = s.ToolNames()
	for _, listed := range s.Status.Tools {
		name, ok := strings.CutPrefix(listed.Get("name").Str(), s.Entry.NamePrefix)
		if ok && s.Entry.Tools.Allows(name) {
			out.tools = append(out.tools, upstreamTool{name, engine.RedactValue(info, listed)})
		}
	}
	return out
}

// entryOf returns the entry of a server.
func entryOf(engine *mcpgraph.Engine, server string) (*config.Upstream, error) {
	var names []string
	for _, entry := range engine.File().Upstreams {
		if entry.Name == server {
			return entry, nil
		}
		names = append(names, entry.Name)
	}
	if slices.ContainsFunc(engine.File().Disabled, func(u *config.Upstream) bool { return u.Name == server }) {
		return nil, usagef("server %q is disabled; set disabled: false in its entry", server)
	}
	return nil, unknownName(fmt.Sprintf("unknown server %q", server), server, names)
}

// tool returns the tool with this name.
func (s upstreamServer) tool(name string) (upstreamTool, error) {
	var names []string
	for _, t := range s.tools {
		if t.name == name {
			return t, nil
		}
		names = append(names, t.name)
	}
	if slices.Contains(s.keptOut, s.Entry.NamePrefix+name) {
		return upstreamTool{}, usagef("the entry of server %q does not allow tool %q; see %s", s.Entry.Name, name, s.Entry.Setting("tools"))
	}
	if own, ok := strings.CutPrefix(name, s.Entry.NamePrefix); ok && slices.Contains(names, own) {
		return upstreamTool{}, usagef("server %q has no tool %q; write %q: namePrefix puts %q before it", s.Entry.Name, name, own, s.Entry.NamePrefix)
	}
	return upstreamTool{}, unknownName(fmt.Sprintf("server %q has no tool %q", s.Entry.Name, name), name, names)
}

// maxExpected is how many names a message lists.
const maxExpected = 20

// unknownName returns the error for something that does not exist, with the name
// that was probably meant.
func unknownName(problem, name string, names []string) error {
	near, ok := diag.Nearest(name, names)
	switch {
	case ok:
		return usagef("%s; did you mean %q?", problem, near)
	case len(names) == 0:
		return usagef("%s; there is none", problem)
	case len(names) > maxExpected:
		return usagef("%s; `mcpgraph tools` lists the %d that there are", problem, len(names))
	}
	return usagef("%s; expected %s", problem, diag.List(names))
}

func (t upstreamTool) description() string { return t.listed.Get("description").Str() }

func (t upstreamTool) input() value.Value { return t.listed.Get("inputSchema") }

func (t upstreamTool) output() value.Value { return t.listed.Get("outputSchema") }

// readOnly reports whether the server says that the tool changes nothing.
func (t upstreamTool) readOnly() bool {
	return t.listed.Get("annotations").Get("readOnlyHint").Bool()
}

// mark says in a word what the server says of the tool's effects.
func (t upstreamTool) mark() string {
	hints := t.listed.Get("annotations")
	switch {
	case t.readOnly():
		return "read-only"
	case hints.Get("destructiveHint").Bool():
		return "destructive"
	case hints.Get("readOnlyHint").Kind() == value.Bool:
		return "writes"
	}
	return ""
}

// hints says what the server says of the tool, in sentences.
func (t upstreamTool) hints() string {
	hints := t.listed.Get("annotations")
	stated := func(name string) (v, known bool) {
		h := hints.Get(name)
		return h.Bool(), h.Kind() == value.Bool
	}
	var parts []string
	readOnly, known := stated("readOnlyHint")
	switch {
	case readOnly:
		parts = append(parts, "Read-only: it changes nothing.")
	case known:
		parts = append(parts, "It changes things.")
	default:
		parts = append(parts, "The server does not say whether it changes anything.")
	}
	if !readOnly {
		if destructive, known := stated("destructiveHint"); destructive {
			parts = append(parts, "It may destroy or overwrite.")
		} else if known {
			parts = append(parts, "It only adds.")
		}
		if idempotent, _ := stated("idempotentHint"); idempotent {
			parts = append(parts, "A second call with the same arguments changes nothing more.")
		}
	}
	if open, _ := stated("openWorldHint"); open {
		parts = append(parts, "It reaches the world outside the server.")
	}
	return strings.Join(parts, " ")
}

// matches reports whether the name or the description of the tool, or the name of
// an argument, contains every word.
func (t upstreamTool) matches(words []string) bool {
	text := strings.ToLower(t.name + " " + t.listed.Get("title").Str() + " " + t.description())
	for _, f := range schematext.Fields(t.input()) {
		text += " " + strings.ToLower(f.Name)
	}
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, strings.ToLower(word)) })
}

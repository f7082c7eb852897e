package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

type serverInfo struct {
	Name      string    `json:"name"`
	Transport string    `json:"transport"`
	Target    string    `json:"target"` // without secrets
	State     string    `json:"state"`
	Protocol  string    `json:"protocol,omitempty"`
	Info      *peerInfo `json:"info,omitempty"`
	Error     string    `json:"error,omitempty"`
	// Instructions, as the title, are known once the server has been asked.
	Instructions string       `json:"instructions,omitempty"`
	Tools        []serverTool `json:"tools,omitempty"`
	Stats        value.Value  `json:"stats,omitzero"`
}

type peerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Title   string `json:"title,omitempty"`
}

type serverTool struct {
	Name         string      `json:"name"`
	Title        string      `json:"title,omitempty"`
	Description  string      `json:"description,omitempty"`
	InputSchema  value.Value `json:"inputSchema"`
	OutputSchema value.Value `json:"outputSchema,omitzero"`
	Annotations  value.Value `json:"annotations,omitzero"`
	Hidden       bool        `json:"hidden,omitempty"`
}

// servers shows the servers of the file.
type servers struct {
	*current
	told   sync.Mutex
	listed listed
}

// listed is what servers said when they were asked last.
type listed struct {
	pool *upstream.Pool // that asked them
	by   map[string]asked
}

// asked is what a server says of itself.
type asked struct {
	title, instructions string
	tools               []serverTool
}

// upstreams returns the servers of the file and the sessions with them.
func (u *servers) upstreams() (*upstream.Pool, *config.File, error) {
	e, err := u.program()
	if err != nil {
		return nil, nil, err
	}
	pool := e.Upstreams()
	if pool == nil {
		return nil, nil, refused("no_servers", "the servers of the file are not used")
	}
	return pool, e.File(), nil
}

// opening is a time in which calls waited for a server to start.
type opening struct {
	Server string    `json:"server"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
}

// openingsOf returns when the servers of a pool were started last; it may be nil.
func openingsOf(pool *upstream.Pool) []opening {
	list := []opening{}
	if pool != nil {
		for _, o := range pool.Openings() {
			list = append(list, opening{o.Server, o.From.UTC(), o.To.UTC()})
		}
	}
	return list
}

func (u *servers) listServers(w http.ResponseWriter, _ *http.Request) error {
	pool, file, err := u.upstreams()
	if err != nil {
		return err
	}
	list := []serverInfo{}
	for _, entry := range file.Upstreams {
		list = append(list, u.serverInfo(pool, entry))
	}
	respond(w, map[string]any{"servers": list})
	return nil
}

// serverInfo returns what is known of a server without asking it.
func (u *servers) serverInfo(pool *upstream.Pool, entry *config.Upstream) serverInfo {
	info := serverInfo{Name: entry.Name, Transport: entry.Transport, Target: u.target(entry), State: "idle"}
	for _, s := range pool.Stats() {
		if s.Server != entry.Name {
			continue
		}
		info.Transport, info.State, info.Protocol = s.Transport, s.State, s.Protocol
		if s.Name != "" {
			info.Info = &peerInfo{Name: u.redact(s.Name), Version: u.redact(s.Version)}
		}
		if s.Failure != nil {
			info.Error = u.redact(s.Failure.Error())
		}
		if v, err := value.FromAny(s); err == nil {
			info.Stats = u.redactValue(v)
		}
	}
	if len(entry.Unset) > 0 {
		info.State = "missing " + strings.Join(entry.Unset, ", ")
	}
	u.told.Lock()
	defer u.told.Unlock()
	if u.listed.pool == pool {
		last := u.listed.by[entry.Name]
		info.Tools, info.Instructions = last.tools, last.instructions
		if info.Info != nil {
			info.Info.Title = last.title
		}
	}
	return info
}

// target returns what an entry starts or where it connects, without secrets. Header
// values and the environment are not part of it.
func (u *servers) target(entry *config.Upstream) string {
	if entry.Transport == config.Stdio {
		return u.redact(strings.Join(append([]string{entry.Command}, entry.Args...), " "))
	}
	at, err := url.Parse(entry.URL)
	if err != nil {
		return ""
	}
	at.RawQuery, at.Fragment, at.User = "", "", nil
	return u.redact(at.String())
}

// entry returns the entry of a server.
func entryOf(file *config.File, name string) (*config.Upstream, error) {
	for _, entry := range file.Upstreams {
		if entry.Name == name {
			return entry, nil
		}
	}
	return nil, notFound("there is no server %q", name)
}

func (u *servers) checkServer(w http.ResponseWriter, r *http.Request) error {
	if err := decode(w, r, maxCommand, &struct{}{}); err != nil {
		return err
	}
	pool, file, err := u.upstreams()
	if err != nil {
		return err
	}
	entry, err := entryOf(file, r.PathValue("name"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), entry.ConnectTimeout+entry.Timeout)
	defer cancel()
	status, failed := pool.Status(ctx, nil, entry.Name)
	if failed == nil {
		u.list(pool, entry, status)
	}
	info := u.serverInfo(pool, entry)
	if failed != nil {
		info.Error = u.redact(failed.Error())
		if len(entry.Unset) == 0 {
			info.State = "failed"
		}
	}
	respond(w, info)
	return nil
}

// list keeps what a server said when it was asked.
func (u *servers) list(pool *upstream.Pool, entry *config.Upstream, status upstream.Status) {
	list := []serverTool{}
	for _, v := range status.Tools {
		t := u.redactValue(v)
		name, prefixed := strings.CutPrefix(v.Get("name").Str(), entry.NamePrefix)
		list = append(list, serverTool{
			Name: name, Title: t.Get("title").Str(), Description: t.Get("description").Str(), InputSchema: t.Get("inputSchema"),
			OutputSchema: t.Get("outputSchema"), Annotations: t.Get("annotations"), Hidden: !prefixed || !entry.Tools.Allows(name),
		})
	}
	u.told.Lock()
	defer u.told.Unlock()
	if u.listed.pool != pool {
		u.listed = listed{pool, map[string]asked{}}
	}
	u.listed.by[entry.Name] = asked{u.redact(status.Title), u.redact(status.Instructions), list}
}

// tryTool calls a tool of a server once, for a person who wants to see what it does.
func (u *servers) tryTool(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Args value.Value `json:"args"`
	}
	if err := decode(w, r, maxCommand, &body); err != nil {
		return err
	}
	if body.Args.IsUndefined() {
		body.Args = value.FromEntries(nil)
	}
	if body.Args.Kind() != value.Object {
		return badRequest("args is %s; expected an object", graph.Describe(body.Args))
	}
	pool, file, err := u.upstreams()
	if err != nil {
		return err
	}
	entry, err := entryOf(file, r.PathValue("name"))
	if err != nil {
		return err
	}
	tool := r.PathValue("tool")
	if !entry.Tools.Allows(tool) {
		return refused("tool_not_allowed", "the settings of server %q keep the tool %q out", entry.Name, tool)
	}
	began := time.Now()
	result, err := pool.CallTool(r.Context(), nil, entry.Name, tool, body.Args)
	answer := map[string]any{"ms": float64(time.Since(began).Microseconds()) / 1000}
	var failed *upstream.Error
	switch {
	case errors.As(err, &failed):
		answer["error"] = failureOf(nil, err, shower{u.redact})
	case err != nil:
		return err
	default:
		answer["result"] = bounded(shower{u.redact}.whole(result.Value), 0, defaultItems)
	}
	respond(w, answer)
	return nil
}

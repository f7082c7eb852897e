// Package audit writes down who asked a server for what, and whether that was
// allowed: a line of JSON for each request, without arguments, results or tokens.
package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// Decisions of a Record.
const (
	Allowed = "allowed"
	Denied  = "denied"
)

// Record is one line of an audit log.
type Record struct {
	Time   time.Time `json:"time"`             // when the request came
	Caller string    `json:"caller,omitempty"` // who was authenticated
	From   string    `json:"from,omitempty"`   // address over HTTP
	Client *Client   `json:"client,omitempty"` // the program, as it calls itself
	// Method is that of MCP, or for an HTTP request that carries no request of MCP
	// its method and path, such as "GET /mcp".
	Method string `json:"method,omitempty"`
	// Tool is what was called: a tool, "prompts/NAME" or "resources/NAME".
	Tool     string `json:"tool,omitempty"`
	URI      string `json:"uri,omitempty"`    // of a resource
	Decision string `json:"decision"`         // Allowed or Denied
	Reason   string `json:"reason,omitempty"` // why it was denied
	Status   int    `json:"status,omitempty"` // of HTTP, for a request that carries none of MCP
	Run      string `json:"run,omitempty"`    // id of the run of the tool
	// Outcome is what came of a request that was allowed: "ok", "error",
	// "input_required", "cancelled", "interrupted" (for want of memory) or
	// "internal_error".
	Outcome    string  `json:"outcome,omitempty"`
	DurationMS float64 `json:"durationMs"`
}

// Client is the name and version that a client reports in initialize.
type Client struct {
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
}

// Observe starts the record of an MCP request. It returns the function that
// writes the record at the end of the request.
func (l *Log) Observe(r *server.Request) (done func(server.Outcome)) {
	began := time.Now()
	return func(o server.Outcome) {
		rec := Record{
			Time: began, Caller: r.Caller, From: r.From, Method: r.Method, Tool: r.Tool, URI: r.URI, Decision: Allowed,
			Reason: o.Reason, Run: r.RunID, DurationMS: milliseconds(began),
		}
		if r.Client != (server.Client{}) {
			rec.Client = &Client{clip(r.Client.Name), clip(r.Client.Version)}
		}
		switch {
		case o.Reason != "":
			rec.Decision = Denied
		case o.Interrupted:
			rec.Outcome = "interrupted"
		case o.Cancelled:
			rec.Outcome = "cancelled"
		case o.Failed:
			rec.Outcome = "error"
		case o.Code != 0:
			rec.Outcome = "internal_error"
		case o.InputRequired:
			rec.Outcome = "input_required"
		default:
			rec.Outcome = "ok"
		}
		l.write(rec)
	}
}

var _ server.ExchangeFunc = (*Log)(nil).Exchanged

// Exchanged is a [server.ExchangeFunc]. It writes a record of an HTTP request that
// carries no request of MCP, and is refused or is no notification.
func (l *Log) Exchanged(_ context.Context, e server.Exchange) {
	if e.Requests > 0 || e.Reason == "" && e.Method == http.MethodPost {
		return
	}
	rec := Record{
		Time: e.Began, Caller: e.Caller, From: e.From, Method: clip(e.Method) + " " + clip(e.Path), Decision: Allowed,
		Reason: e.Reason, Status: e.Status, DurationMS: milliseconds(e.Began),
	}
	if e.Reason != "" {
		rec.Decision = Denied
	} else {
		rec.Outcome = "ok"
	}
	l.write(rec)
}

// line returns the record as one line.
func (r Record) line() []byte {
	r.Time = r.Time.UTC()
	for _, s := range []*string{&r.Caller, &r.Method, &r.Tool, &r.URI} {
		*s = clip(*s)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(r) // it has texts and numbers alone
	return b.Bytes()
}

// maxText bounds, in bytes, the texts that callers make up.
const maxText = 256

func clip(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// milliseconds returns how long ago something began, to the microsecond.
func milliseconds(began time.Time) float64 {
	return float64(time.Since(began).Microseconds()) / 1000
}

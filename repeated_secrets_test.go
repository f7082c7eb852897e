package mcpgraph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// repeater is a server that repeats the credentials of each request in all that it says of
// itself and of what it has.
type repeater struct{ long string } // what follows its name, version and title

func (s repeater) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if _ = json.NewDecoder(r.Body).Decode(&m); m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	said := r.Header.Get("Authorization") + " " + r.Header.Get("X-Key") + " " + r.Header.Get("X-Token")
	type object = map[string]any
	schema := object{"type": "object", "properties": object{said: object{"type": "string"}, "read": object{
		"type": "string", "description": said, "default": said, "enum": []string{said, "read"}, "pattern": "^read$|" + said,
	}}, "required": []string{"read"}}
	described := func(key, is string) object {
		return object{key: is, "title": said, "description": said, "mimeType": "text/plain", "icons": []object{{"src": said}}, "_meta": object{said: said}}
	}
	tool := described("name", "read_file")
	tool["inputSchema"], tool["outputSchema"], tool["annotations"] = schema, schema, object{"title": said, "readOnlyHint": true}
	named := object{"name": said, "inputSchema": object{"type": "object"}}
	result, ok := map[string]object{
		"initialize": {
			"protocolVersion": "2025-11-25", "capabilities": object{"tools": object{}, "prompts": object{}, "resources": object{}},
			"serverInfo": object{"name": said + s.long, "version": said + s.long, "title": said + s.long}, "instructions": said + s.long,
		},
		"ping":                     {},
		"tools/list":               {"tools": []object{tool, named}},
		"prompts/list":             {"prompts": []object{described("name", "p")}},
		"resources/list":           {"resources": []object{described("uri", "a://b")}},
		"resources/templates/list": {"resourceTemplates": []object{described("uriTemplate", "a://{b}")}},
	}[m.Method]
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":%q}}`, m.ID, said)
		return
	}
	_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

const usesRepeater = `
tools:
  - name: t
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: c}
      - {id: c, type: mcp, server: s, tool: read_file, args: {read: read}, next: exit}
      - {id: exit, type: exit}
`

// TestWhatServersListHasNoSecrets looks for credentials in all ways out of what a server
// says of itself and lists.
func TestWhatServersListHasNoSecrets(t *testing.T) {
	t.Parallel()
	upstream := httptest.NewServer(repeater{strings.Repeat("x", 1<<20)})
	t.Cleanup(upstream.Close)
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"access-of-the-client","token_type":"Bearer"}`)
	}))
	t.Cleanup(tokens.Close)
	environment := map[string]string{"KEY": "key-of-the-file", "TOKEN": "token-of-the-file", "MODE": "read"}
	for name, c := range map[string]struct {
		settings string
		header   http.Header
		secrets  []string
	}{
		"header": {`headers: {X-Key: "${KEY}", X-Token: "literal-token-1"}`, nil, []string{"key-of-the-file", "literal-token-1"}},
		"bearer": {`auth: {type: bearer, token: "${TOKEN}"}`, nil, []string{"token-of-the-file"}},
		"oauth2": {
			`auth: {type: oauth2, flow: clientCredentials, clientId: a, clientSecret: "${TOKEN}", tokenUrl: "` + tokens.URL + `"}`,
			nil, []string{"access-of-the-client"},
		},
		"forwarded": {`forwardHeaders: [{from: X-Token}]`, http.Header{"X-Token": {"Bearer token-of-the-caller"}}, []string{"token-of-the-caller"}},
		// A short value is a word: calls still find the tool, and what it takes.
		"word": {`headers: {X-Key: "${KEY}", X-Mode: "${MODE}"}`, nil, []string{"key-of-the-file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := mustLoad(t, fmt.Sprintf("version: \"1.0\"\nserver: {name: t, version: \"1\"}\nmcpServers:\n  s: {url: %q, %s}%s", upstream.URL, c.settings, usesRepeater),
				mcpgraph.WithGetenv(func(name string) (string, bool) { v, ok := environment[name]; return v, ok }))
			ctx := context.Background()
			carry := func() mcpgraph.CallOption { return mcpgraph.WithCallInfo(&callinfo.Info{Header: c.header}) }
			out := map[string]string{}

			locked, err := e.Lock(ctx, nil, carry())
			if err != nil {
				t.Fatal(err)
			}
			out["lock"] = string(locked.Encode())
			if d := e.CheckLock(locked); len(d) > 0 {
				t.Errorf("the lock does not fit the file: %v", d)
			}
			found := e.Status(ctx, carry())
			for i := range found { // the names of tools are as nodes write them
				found[i].Status.Tools = slices.DeleteFunc(found[i].Status.Tools, func(v value.Value) bool { return v.Get("name").Str() != "read_file" })
				out["tools"] += value.FromArray(found[i].Status.Tools).JSON()
				out["of itself"] += found[i].Status.Title + found[i].Status.Instructions
			}
			out["status"] = mcpgraph.StatusDocument(found).JSON()
			w := httptest.NewRecorder()
			e.StatusPage().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/status", nil))
			out["page"] = w.Body.String()
			for _, d := range e.CheckLive(ctx, carry()) {
				out["live"] += d.Message
			}
			pool := e.Upstreams()
			for what, list := range map[string]func(context.Context, *callinfo.Info, string) ([]value.Value, error){
				"prompts": pool.Prompts, "resources": pool.Resources, "templates": pool.ResourceTemplates, "list": pool.Tools,
			} {
				info := &callinfo.Info{Header: c.header}
				all, err := list(ctx, info, "s")
				if err != nil {
					t.Fatal(err)
				}
				out[what] = all[0].JSON()
			}
			for what, text := range out {
				for _, secret := range c.secrets {
					if strings.Contains(text, secret) {
						t.Errorf("%s has %q: %.600s", what, secret, text)
					}
				}
				if what != "live" && what != "of itself" && !strings.Contains(text, "[redacted]") || len(text) > 20_000 {
					t.Errorf("%s: %d bytes: %.600s", what, len(text), text)
				}
			}
			for _, want := range []string{`"read_file"`, `"read": {`, `"required": [`} {
				if !strings.Contains(out["lock"], want) {
					t.Errorf("the lock has no %s: %s", want, out["lock"])
				}
			}
		})
	}
}

package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// scenarioVariable says which scenario of the conformance suite runs the test
// binary as its client.
const scenarioVariable = "MCP_CONFORMANCE_SCENARIO"

// clientIDs are what a person would configure for some of the scenarios.
var clientIDs = map[string]string{"auth/basic-cimd": "https://conformance-test.local/client-metadata.json"}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func schemaOf(tools []value.Value, name string) value.Value {
	for _, t := range tools {
		if t.Get("name").Str() == name {
			return t.Get("inputSchema")
		}
	}
	return value.Undef
}

// conformanceClient is the client that the suite watches. It calls what the
// server at the address has, as a graph would, and returns the exit code.
func conformanceClient(scenario, address string) int {
	var given struct {
		ClientID     string     `json:"client_id"`
		ClientSecret string     `json:"client_secret"`
		ToolCalls    []toolCall `json:"toolCalls"`
	}
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given) // most scenarios have none
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	u := &config.Upstream{
		Name: "server", Transport: config.HTTP, URL: address, ConnectTimeout: time.Minute, Timeout: time.Minute,
	}
	if filepath.Dir(scenario) == "auth" {
		flow := config.FlowAuthorizationCode
		if scenario == "auth/client-credentials-basic" {
			flow = config.FlowClientCredentials
		}
		u.Auth = &config.Auth{
			Type: config.AuthOAuth2, Flow: flow,
			ClientID: cmp.Or(given.ClientID, clientIDs[scenario]), ClientSecret: given.ClientSecret, Store: filepath.Join(dir, "tokens.json"),
		}
	}
	p := New([]*config.Upstream{u}, Options{
		ClientName: "mcpgraph-conformance", ClientVersion: "1.0.0", OpenBrowser: browse,
		Answers: map[string]Answer{"elicitation/create": acceptDefaults, "sampling/createMessage": sample, "roots/list": roots},
	})
	p.servers["server"].discoverTimeout = testTimeout // the machine may be slow
	ctx := context.Background()
	defer p.Close(ctx)
	tools, err := p.Tools(ctx, nil, "server")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	calls := given.ToolCalls
	for _, t := range tools {
		if given.ToolCalls == nil {
			calls = append(calls, toolCall{t.Get("name").Str(), sampleValue(t.Get("inputSchema"))})
		}
	}
	if scenario == "json-schema-2020-12-preservation" {
		for i, c := range calls { // one tool wants to see what we know of another
			if c.Name != "json_schema_2020_12_tool" {
				calls[i].Arguments = json.RawMessage(`{"schema":` + schemaOf(tools, "json_schema_2020_12_tool").JSON() + `}`)
			}
		}
	}
	code := 0
	for _, c := range calls {
		args, _ := value.Parse(string(c.Arguments))
		r, err := p.CallTool(ctx, nil, "server", c.Name, args)
		fmt.Println(c.Name, args.JSON(), r.Value.JSON(), err)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// browse is a person who agrees to everything.
func browse(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// acceptDefaults accepts a question with the defaults of its schema.
func acceptDefaults(_ context.Context, _ string, params value.Value) (value.Value, error) {
	b := value.NewBuilder(4)
	for _, p := range params.Get("requestedSchema").Get("properties").Entries() {
		if d := p.Value.Get("default"); !d.IsUndefined() {
			b.Set(p.Key, d)
		} else {
			v, _ := value.Parse(string(sampleValue(p.Value)))
			b.Set(p.Key, v)
		}
	}
	return value.FromEntries([]value.Entry{{Key: "action", Value: value.FromString("accept")}, {Key: "content", Value: b.Value()}}), nil
}

func sample(context.Context, string, value.Value) (value.Value, error) {
	return value.Parse(`{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"none","stopReason":"endTurn"}`)
}

func roots(context.Context, string, value.Value) (value.Value, error) {
	return value.Parse(`{"roots":[{"uri":"file:///tmp","name":"tmp"}]}`)
}

// sampleValue makes a value that a schema accepts.
func sampleValue(schema value.Value) json.RawMessage {
	switch {
	case !schema.Get("default").IsUndefined():
		return schema.Get("default").Append(nil)
	case schema.Get("enum").Len() > 0:
		return schema.Get("enum").Elems()[0].Append(nil)
	}
	switch schema.Get("type").Str() {
	case "object":
		b := value.NewBuilder(4)
		for _, p := range schema.Get("properties").Entries() {
			v, _ := value.Parse(string(sampleValue(p.Value)))
			b.Set(p.Key, v)
		}
		return b.Value().Append(nil)
	case "array":
		return json.RawMessage(`[]`)
	case "integer", "number":
		return json.RawMessage(`5`)
	case "boolean":
		return json.RawMessage(`true`)
	}
	return json.RawMessage(`"text"`)
}

// cannotPass are the scenarios that fail, with the reason. All of them are
// optional extensions that the suite does not score.
var cannotPass = map[string]string{
	"auth/client-credentials-jwt":           "private_key_jwt is not offered as a way to authenticate a client",
	"auth/enterprise-managed-authorization": "identity assertion grants need an identity provider that the entry cannot name",
	"auth/dpop":                             "tokens are not bound to keys (RFC 9449)",
	"auth/dpop-nonce":                       "tokens are not bound to keys (RFC 9449)",
	"auth/wif-jwt-bearer":                   "workload identities are not offered as a grant (RFC 7523)",
}

// TestConformance runs the client half of the public conformance suite of MCP
// against a pool. Quick runs have the server half, in cmd/mcpgraph.
func TestConformance(t *testing.T) {
	t.Parallel()
	testscale.OnlyFull(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			mcptest.Conformance(t, "client", revision, cannotPass, "--command", os.Args[0])
		})
	}
}

//lint:file-ignore SA1019 revision 2026-07-28 deprecates sampling and roots, which clients still have

package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	official "github.com/modelcontextprotocol/go-sdk/mcp"
)

// requesters are the clients, and what each cannot do, by method or params.
var requesters = []struct {
	maker, revision string
	quick           string // the transport that is tried on every run
	connect         func(t *testing.T, ctx context.Context, url, revision string) requester
	without         map[string]bool
}{
	{"Go SDK", "2024-11-05", "stdio", requestGoSDK, oldCannot},
	{"Go SDK", "2025-06-18", "", requestGoSDK, nil},
	{"Go SDK", legacyRevision, "http", requestGoSDK, nil},
	{"Go SDK", modernRevision, "stdio", requestGoSDK, nil},
	{"mcp-go", legacyRevision, "stdio", requestMCPGo, nil},
	{"mcp-go", modernRevision, "http", requestMCPGo, nil},
	{"sdk of TypeScript", legacyRevision, "http", requestTypeScript("sdk"), nil},
	{"client of TypeScript", legacyRevision, "", requestTypeScript("client"), nil},
	{"client of TypeScript", modernRevision, "stdio", requestTypeScript("client"), nil},
	{"Inspector", "both revisions", "", requestInspector, inspectorCannot},
}

// The command line of Inspector makes one request, answers nothing and completes
// nothing.
var inspectorCannot = map[string]bool{
	"completion/complete": true, "resources/subscribe": true, "wait": true, "tools/call": true, `{"name":"asks"}`: true,
}

// Revision 2024-11-05 has no elicitation, and another transport than HTTP.
var oldCannot = map[string]bool{"http": true, "tools/call": true, `{"name":"asks"}`: true}

// decoded calls f with the params as its client has them.
func decoded[P, R any](ctx context.Context, params json.RawMessage, f func(context.Context, P) (R, error)) (json.RawMessage, error) {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	r, err := f(ctx, p)
	if err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// method makes one request of a client.
type method func(context.Context, json.RawMessage) (json.RawMessage, error)

// goClient is a client of a Go library: its methods, and how it ends.
type goClient struct {
	methods map[string]method
	end     func() error
}

func (c *goClient) request(ctx context.Context, name string, params json.RawMessage) (json.RawMessage, error) {
	return c.methods[name](ctx, params)
}

func (c *goClient) close() error { return c.end() }

func of[P, R any](f func(context.Context, P) (R, error)) method {
	return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		return decoded(ctx, params, f)
	}
}

// firstChange returns what takes the changes of resources, and the request that
// waits for the first.
func firstChange() (changed func(uri string), wait method) {
	uris := make(chan string, 1)
	changed = func(uri string) {
		select {
		case uris <- uri:
		default:
		}
	}
	return changed, func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		select {
		case uri := <-uris:
			return json.Marshal(map[string]string{"uri": uri})
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func requestGoSDK(t *testing.T, ctx context.Context, url, revision string) requester {
	t.Helper()
	changed, wait := firstChange()
	c := official.NewClient(&official.Implementation{Name: "test", Version: "1"}, &official.ClientOptions{
		ElicitationHandler: func(context.Context, *official.ElicitRequest) (*official.ElicitResult, error) {
			return &official.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
		},
		CreateMessageHandler: func(_ context.Context, r *official.CreateMessageRequest) (*official.CreateMessageResult, error) {
			asked, _ := r.Params.Messages[0].Content.(*official.TextContent)
			return &official.CreateMessageResult{Role: "assistant", Model: "none", Content: &official.TextContent{Text: "so " + asked.Text}}, nil
		},
		ResourceUpdatedHandler: func(_ context.Context, r *official.ResourceUpdatedNotificationRequest) { changed(r.Params.URI) },
	})
	c.AddRoots(&official.Root{URI: "file:///work", Name: "work"})
	var over official.Transport = &official.StreamableClientTransport{Endpoint: url}
	if url == "" {
		over = &official.CommandTransport{Command: exec.Command(binary, "serve", offersFile)}
	}
	s, err := c.Connect(ctx, over, &official.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	return &goClient{end: s.Close, methods: map[string]method{
		"prompts/list": of(s.ListPrompts), "prompts/get": of(s.GetPrompt), "resources/list": of(s.ListResources),
		"resources/templates/list": of(s.ListResourceTemplates), "resources/read": of(s.ReadResource),
		"completion/complete": of(s.Complete), "tools/call": of(s.CallTool), "wait": wait,
		"resources/subscribe": of(func(ctx context.Context, p *official.SubscribeParams) (struct{}, error) {
			if revision != modernRevision {
				return struct{}{}, s.Subscribe(ctx, p)
			}
			go func() { _ = s.Subscribe(ctx, p) }() // returns at the end of the stream
			return struct{}{}, nil
		}),
	}}
}

// answers are the user, the model and the folders of a client of mcp-go.
type answers struct{}

func (answers) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: "accept", Content: map[string]any{"name": "Ann"}}}, nil
}

func (answers) CreateMessage(_ context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	asked, _ := r.Messages[0].Content.(mcp.TextContent)
	if fields, ok := r.Messages[0].Content.(map[string]any); ok {
		asked.Text, _ = fields["text"].(string)
	}
	return &mcp.CreateMessageResult{Model: "none", SamplingMessage: mcp.SamplingMessage{Role: "assistant", Content: mcp.NewTextContent("so " + asked.Text)}}, nil
}

func (answers) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///work", Name: "work"}}}, nil
}

func requestMCPGo(t *testing.T, ctx context.Context, url, revision string) requester {
	t.Helper()
	var over transport.Interface = transport.NewStdioWithOptions(binary, nil, []string{"serve", offersFile})
	if url != "" {
		var opts []transport.StreamableHTTPCOption
		if revision != modernRevision {
			opts = append(opts, transport.WithContinuousListening()) // for what belongs to no request
		}
		web, err := transport.NewStreamableHTTP(url, opts...)
		if err != nil {
			t.Fatal(err)
		}
		over = web
	}
	c := client.NewClient(over, client.WithProtocolVersion(revision),
		client.WithElicitationHandler(answers{}), client.WithSamplingHandler(answers{}), client.WithRootsHandler(answers{}))
	changed, wait := firstChange()
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == mcp.MethodNotificationResourceUpdated {
			uri, _ := n.Params.AdditionalFields["uri"].(string)
			changed(uri)
		}
	})
	if err := c.Start(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = revision
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		t.Fatal(err)
	}
	return &goClient{end: c.Close, methods: map[string]method{
		"prompts/list": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return decoded(ctx, []byte(`{}`), c.ListPrompts)
		},
		"resources/list": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return decoded(ctx, []byte(`{}`), c.ListResources)
		},
		"resources/templates/list": func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return decoded(ctx, []byte(`{}`), c.ListResourceTemplates)
		},
		"prompts/get": inParams(c.GetPrompt), "resources/read": inParams(c.ReadResource),
		"completion/complete": inParams(c.Complete), "tools/call": inParams(c.CallTool), "wait": wait,
		"resources/subscribe": inParams(func(ctx context.Context, r mcp.SubscribeRequest) (struct{}, error) {
			if revision != modernRevision {
				return struct{}{}, c.Subscribe(ctx, r)
			}
			_, err := c.ListenAsync(ctx, mcp.SubscriptionFilter{ResourceSubscriptions: []string{r.Params.URI}}, nil)
			return struct{}{}, err
		}),
	}}
}

// inParams makes a request whose params are a member of what f takes.
func inParams[P, R any](f func(context.Context, P) (R, error)) method {
	return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		return decoded(ctx, slices.Concat([]byte(`{"params":`), params, []byte(`}`)), f)
	}
}

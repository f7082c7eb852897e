package cli

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// headerMap is a JSON object of headers; undefined if there are none.
func headerMap(h http.Header) value.Value {
	if len(h) == 0 {
		return value.Undef
	}
	var names []string
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	b := value.NewBuilder(len(names))
	for _, name := range names {
		b.Set(name, value.FromString(strings.Join(h[name], ", ")))
	}
	return b.Value()
}

// bearer takes the token out of an Authorization header, where it is one.
func bearer(h http.Header) (string, bool) {
	scheme, token, ok := strings.Cut(h.Get("Authorization"), " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}

// errOnlyBearer is for programs that send a bearer token and nothing else.
func errOnlyBearer(program string) error {
	return usagef("%s sends only the header \"Authorization: Bearer TOKEN\"", program)
}

// local is the entry that starts the server, url the one that connects to it.
func (x *exported) local(fields ...any) value.Value {
	return object(append(fields, "command", value.FromString(x.command), "args", texts(x.args))...)
}

func (x *exported) remote(fields ...any) value.Value {
	return object(append(fields, "url", value.FromString(x.url), "headers", headerMap(x.headers))...)
}

func (x *exported) named(key string, entry value.Value) value.Value {
	return object(key, object(x.name, entry))
}

func claudeEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", x.remote("type", value.FromString("http"))), nil
	}
	return x.named("mcpServers", x.local()), nil
}

func cursorEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", x.remote()), nil
	}
	return x.named("mcpServers", x.local()), nil
}

func vscodeEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("servers", x.remote("type", value.FromString("http"))), nil
	}
	return x.named("servers", x.local("type", value.FromString("stdio"))), nil
}

func windsurfEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", object("serverUrl", value.FromString(x.url), "headers", headerMap(x.headers))), nil
	}
	return x.named("mcpServers", x.local()), nil
}

func geminiEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", object("httpUrl", value.FromString(x.url), "headers", headerMap(x.headers))), nil
	}
	return x.named("mcpServers", x.local()), nil
}

func zedEntry(x *exported) (value.Value, error) {
	source := value.FromString("custom")
	if x.url != "" {
		return x.named("context_servers", x.remote("source", source)), nil
	}
	return x.named("context_servers", x.local("source", source)), nil
}

// openaiTool is an element of "tools" in a request to OpenAI's Responses API.
func openaiTool(x *exported) (value.Value, error) {
	approval := value.FromString(x.approval)
	if x.approval == approveWrites {
		approval = object("never", object("tool_names", texts(x.readOnly)))
	}
	description := value.Undef
	if x.description != "" {
		description = value.FromString(x.description)
	}
	return object(
		"type", value.FromString("mcp"), "server_label", value.FromString(x.name), "server_description", description,
		"server_url", value.FromString(x.url), "headers", headerMap(x.headers),
		"allowed_tools", texts(x.tools), "require_approval", approval,
	), nil
}

// azureTool is an element of "tools" in a request to Azure OpenAI's Responses
// API, or of an agent of Azure AI Foundry, which keeps credentials in
// connections.
func azureTool(x *exported) (value.Value, error) {
	approval := value.FromString(x.approval)
	connection := value.Undef
	if x.connection != "" {
		connection = value.FromString(x.connection)
	}
	if x.approval == approveWrites {
		approval = object("never", object("tool_names", texts(x.readOnly)))
		if x.connection != "" {
			approval = object("never", texts(x.readOnly))
		}
	}
	return object(
		"type", value.FromString("mcp"), "server_label", value.FromString(x.name),
		"server_url", value.FromString(x.url), "headers", headerMap(x.headers),
		"allowed_tools", texts(x.tools), "require_approval", approval, "project_connection_id", connection,
	), nil
}

// anthropicRequest is the part of a request to Anthropic's Messages API (beta
// mcp-client-2025-11-20) that brings the server in. It has no approval mode.
func anthropicRequest(x *exported) (value.Value, error) {
	token := value.Undef
	if len(x.headers) > 0 {
		t, ok := bearer(x.headers)
		if !ok || len(x.headers) > 1 {
			return value.Undef, errOnlyBearer("the Messages API")
		}
		token = value.FromString(t)
	}
	configs := value.NewBuilder(len(x.tools))
	for _, name := range x.tools {
		configs.Set(name, object("enabled", value.True))
	}
	return object(
		"mcp_servers", value.FromArray([]value.Value{object(
			"type", value.FromString("url"), "url", value.FromString(x.url), "name", value.FromString(x.name),
			"authorization_token", token)}),
		"tools", value.FromArray([]value.Value{object(
			"type", value.FromString("mcp_toolset"), "mcp_server_name", value.FromString(x.name),
			"default_config", object("enabled", value.False), "configs", configs.Value())}),
	), nil
}

// object returns an object of keys and values that take turns; what is
// undefined is left out.
func object(pairs ...any) value.Value {
	b := value.NewBuilder(len(pairs) / 2)
	for i := 0; i < len(pairs); i += 2 {
		if v := pairs[i+1].(value.Value); !v.IsUndefined() {
			b.Set(pairs[i].(string), v)
		}
	}
	return b.Value()
}

func texts(list []string) value.Value {
	values := make([]value.Value, len(list))
	for i, s := range list {
		values[i] = value.FromString(s)
	}
	return value.FromArray(values)
}

package cli

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
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
// variable is how the program's settings name a variable of its own environment.
func (x *exported) local(variable func(name string) string, fields ...any) value.Value {
	return value.ObjectOf(append(fields, "command", value.FromString(x.command), "args", texts(x.args), "env", x.environment(variable))...)
}

func (x *exported) remote(fields ...any) value.Value {
	return value.ObjectOf(append(fields, "url", value.FromString(x.url), "headers", headerMap(x.headers))...)
}

func (x *exported) named(key string, entry value.Value) value.Value {
	return value.ObjectOf(key, value.ObjectOf(x.name, entry))
}

// environment is a JSON object of the variables, undefined if there are none. With
// variable nil, those without a value are left out.
func (x *exported) environment(variable func(name string) string) value.Value {
	b := value.NewBuilder(len(x.env))
	for _, v := range x.env {
		switch {
		case v.value != "":
			b.Set(v.name, value.FromString(v.value))
		case variable != nil:
			b.Set(v.name, value.FromString(variable(v.name)))
		}
	}
	return unlessEmpty(b.Value())
}

// Variables in the settings of programs.
func shellVariable(name string) string    { return "${" + name + "}" }
func editorVariable(name string) string   { return "${env:" + name + "}" }
func opencodeVariable(name string) string { return "{env:" + name + "}" }
func continueSecret(name string) string   { return "${{ secrets." + name + " }}" }

func claudeEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", x.remote("type", value.FromString("http"))), nil
	}
	return x.named("mcpServers", x.local(shellVariable)), nil
}

func claudeDesktopEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return value.Undef, usagef("Claude Desktop takes addresses as connectors, in its settings; its file has programs only")
	}
	return x.named("mcpServers", x.local(config.Placeholder)), nil
}

func cursorEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", x.remote()), nil
	}
	return x.named("mcpServers", x.local(editorVariable)), nil
}

func lmstudioEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", x.remote()), nil
	}
	return x.named("mcpServers", x.local(config.Placeholder)), nil
}

func vscodeEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("servers", x.remote("type", value.FromString("http"))), nil
	}
	return x.named("servers", x.local(editorVariable, "type", value.FromString("stdio"))), nil
}

func windsurfEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", value.ObjectOf("serverUrl", value.FromString(x.url), "headers", headerMap(x.headers))), nil
	}
	return x.named("mcpServers", x.local(editorVariable)), nil
}

func geminiEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcpServers", value.ObjectOf("httpUrl", value.FromString(x.url), "headers", headerMap(x.headers))), nil
	}
	return x.named("mcpServers", x.local(shellVariable)), nil
}

func zedEntry(x *exported) (value.Value, error) {
	source := value.FromString("custom")
	if x.url != "" {
		return x.named("context_servers", x.remote("source", source)), nil
	}
	return x.named("context_servers", x.local(config.Placeholder, "source", source)), nil
}

// copilotEntry is for GitHub Copilot's command line, which wants to know the tools, too.
func copilotEntry(x *exported) (value.Value, error) {
	kind, tools := value.FromString("stdio"), texts([]string{"*"})
	if x.url != "" {
		return x.named("mcpServers", x.remote("type", value.FromString("http"), "tools", tools)), nil
	}
	return x.named("mcpServers", x.local(shellVariable, "type", kind, "tools", tools)), nil
}

// opencodeEntry has the form that both major versions of opencode read.
func opencodeEntry(x *exported) (value.Value, error) {
	entry := x.remote("type", value.FromString("remote"), "enabled", value.True)
	if x.url == "" {
		entry = value.ObjectOf("type", value.FromString("local"), "enabled", value.True,
			"command", texts(append([]string{x.command}, x.args...)), "environment", x.environment(opencodeVariable))
	}
	return x.named("mcp", entry), nil
}

// codexEntry names the variables that Codex passes on from its own environment.
func codexEntry(x *exported) (value.Value, error) {
	if x.url != "" {
		return x.named("mcp_servers", value.ObjectOf("url", value.FromString(x.url), "http_headers", headerMap(x.headers))), nil
	}
	return x.named("mcp_servers", value.ObjectOf("command", value.FromString(x.command), "args", texts(x.args),
		"env_vars", unlessEmpty(texts(x.unfilled())), "env", x.environment(nil))), nil
}

// continueEntry is a file of its own in .continue/mcpServers.
func continueEntry(x *exported) (value.Value, error) {
	entry := x.local(continueSecret, "name", value.FromString(x.name), "type", value.FromString("stdio"))
	if x.url != "" {
		options := value.Undef
		if len(x.headers) > 0 {
			options = value.ObjectOf("headers", headerMap(x.headers))
		}
		entry = value.ObjectOf("name", value.FromString(x.name), "type", value.FromString("streamable-http"),
			"url", value.FromString(x.url), "requestOptions", options)
	}
	return value.ObjectOf("name", value.FromString(x.name), "version", value.FromString("0.0.1"), "schema", value.FromString("v1"),
		"mcpServers", value.FromArray([]value.Value{entry})), nil
}

// gooseEntry names the variables that goose takes from its secrets. goose lets no
// extension set the PATH, so env does.
func gooseEntry(x *exported) (value.Value, error) {
	description := value.FromString(x.description)
	const timeout = 300 // seconds, as goose configure proposes
	common := []any{"enabled", value.True, "name", value.FromString(x.name), "description", description, "timeout", value.FromFloat(timeout)}
	if x.url != "" {
		return x.named("extensions", value.ObjectOf(append(common, "type", value.FromString("streamable_http"),
			"uri", value.FromString(x.url), "headers", headerMap(x.headers))...)), nil
	}
	command, args := x.command, x.args
	given := value.NewBuilder(len(x.env))
	for _, v := range x.env {
		switch {
		case v.name == "PATH":
			command, args = "/usr/bin/env", append([]string{"PATH=" + v.value, command}, args...)
		case v.value != "":
			given.Set(v.name, value.FromString(v.value))
		}
	}
	return x.named("extensions", value.ObjectOf(append(common, "type", value.FromString("stdio"), "cmd", value.FromString(command), "args", texts(args),
		"envs", given.Value(), "env_keys", texts(x.unfilled()))...)), nil
}

// openaiTool is an element of "tools" in a request to OpenAI's Responses API.
func openaiTool(x *exported) (value.Value, error) {
	approval := value.FromString(x.approval)
	if x.approval == approveWrites {
		approval = value.ObjectOf("never", value.ObjectOf("tool_names", texts(x.readOnly)))
	}
	description := value.Undef
	if x.description != "" {
		description = value.FromString(x.description)
	}
	return value.ObjectOf(
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
		approval = value.ObjectOf("never", value.ObjectOf("tool_names", texts(x.readOnly)))
		if x.connection != "" {
			approval = value.ObjectOf("never", texts(x.readOnly))
		}
	}
	return value.ObjectOf(
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
		configs.Set(name, value.ObjectOf("enabled", value.True))
	}
	return value.ObjectOf(
		"mcp_servers", value.FromArray([]value.Value{value.ObjectOf(
			"type", value.FromString("url"), "url", value.FromString(x.url), "name", value.FromString(x.name),
			"authorization_token", token)}),
		"tools", value.FromArray([]value.Value{value.ObjectOf(
			"type", value.FromString("mcp_toolset"), "mcp_server_name", value.FromString(x.name),
			"default_config", value.ObjectOf("enabled", value.False), "configs", configs.Value())}),
	), nil
}

func texts(list []string) value.Value {
	values := make([]value.Value, len(list))
	for i, s := range list {
		values[i] = value.FromString(s)
	}
	return value.FromArray(values)
}

package nodes_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// A section is a file with one of the maps that have settings.
type section struct {
	settings string // the way to the description of its settings
	path     string // the way to the map in the file
	kinds    string // the values of "type" and "flow" in the map
	members  string // what the map has
}

var sections = []section{
	{"", "", "", ""},
	{"server", "server", "", `"name":"n","version":"v"`},
	{"server auth", "server auth", "bearer", `"type":"bearer","tokensFile":"f"`},
	{"server auth", "server auth", "oauth", `"type":"oauth","issuer":"https://i.example","audience":"https://a.example"`},
	{"server auth introspection", "server auth introspection", "", `"url":"https://i.example","clientId":"i","clientSecret":"s"`},
	{"executionLimits", "executionLimits", "", ""},
	{"mcpServers", "mcpServers s", "process", `"command":"x"`},
	{"mcpServers", "mcpServers s", "remote", `"url":"http://x.example"`},
	{"mcpServers tools", "mcpServers s tools", "", ""},
	{"mcpServers retry", "mcpServers s retry", "", ""},
	{"mcpServers circuitBreaker", "mcpServers s circuitBreaker", "", ""},
	{"mcpServers rateLimit", "mcpServers s rateLimit", "", `"limit":1,"periodMs":1`},
	{"mcpServers rateLimit perTool", "mcpServers s rateLimit perTool t", "", `"limit":1,"periodMs":1`},
	{"mcpServers cache", "mcpServers s cache", "", `"tools":["t"]`},
	{"mcpServers auth", "mcpServers s auth", "bearer", `"type":"bearer","token":"t"`},
	{"mcpServers auth", "mcpServers s auth", "oauth2 clientCredentials", `"type":"oauth2","flow":"clientCredentials","clientId":"i","clientSecret":"s","issuer":"https://i.example"`},
	{"mcpServers auth", "mcpServers s auth", "oauth2 refreshToken", `"type":"oauth2","flow":"refreshToken","clientId":"i","refreshToken":"s","issuer":"https://i.example"`},
	{"mcpServers auth", "mcpServers s auth", "oauth2 authorizationCode", `"type":"oauth2","flow":"authorizationCode","tokenUrl":"https://i.example","authorizationUrl":"https://i.example"`},
	{"mcpServers auth", "mcpServers s auth", "tokenExchange", `"type":"tokenExchange","issuer":"https://i.example"`},
	{"mcpServers forwardHeaders", "mcpServers s forwardHeaders 0", "", `"from":"X-A"`},
	{"mcpServers forwardMeta", "mcpServers s forwardMeta 0", "", `"from":"a","to":"X-A"`},
	{"tools", "tools 0", "", `"name":"t","description":"d","inputSchema":{},"nodes":[]`},
	{"tools annotations", "tools 0 annotations", "", ""},
	{"tools icons", "tools 0 icons 0", "", `"src":"s"`},
}

// described returns the settings of the section that apply to it.
func (s section) described() []config.Setting {
	list := config.Settings()
	for _, name := range strings.Fields(s.settings) {
		list = list[slices.IndexFunc(list, func(f config.Setting) bool { return f.Name == name })].Fields
	}
	return slices.DeleteFunc(slices.Clone(list), func(f config.Setting) bool {
		isKind := func(k string) bool { return slices.Contains(strings.Fields(s.kinds), k) }
		switch {
		case s.kinds == "process": // settings of a server on the network have no effect
			return slices.Contains([]string{"url", "httpUrl", "serverUrl", "headers", "requestInit", "auth", "forwardHeaders", "forwardMeta", "session", "type", "transport"}, f.Name)
		case s.kinds == "remote":
			return slices.Contains([]string{"command", "args", "env", "inheritEnv", "cwd", "envFile", "type", "transport", "httpUrl", "serverUrl"}, f.Name)
		}
		return f.For != nil && !slices.ContainsFunc(f.For, isKind)
	})
}

// file returns a file whose section has the member, as JSON; an empty one adds
// none.
func (s section) file(t *testing.T, name, text string) []byte {
	t.Helper()
	base := `{"version":"1.0","server":{"name":"n","version":"v"}}`
	members := s.members
	if s.path == "" {
		base, members = "{}", `"version":"1.0","server":{"name":"n","version":"v"}`
	}
	own, err := value.Parse("{" + members + "}")
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		v, err := value.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		own = with(own, name, v)
	}
	root, err := value.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return put(root, strings.Fields(s.path), own).Append(nil)
}

// with returns the object with a member, in the place of one of that name.
func with(v value.Value, name string, member value.Value) value.Value {
	entries := slices.DeleteFunc(slices.Clone(v.Entries()), func(e value.Entry) bool { return e.Key == name })
	return value.FromEntries(append(entries, value.Entry{Key: name, Value: member}))
}

// put returns v with own at the path, and what else the maps on the way need.
func put(v value.Value, path []string, own value.Value) value.Value {
	if len(path) == 0 {
		if v.Kind() != value.Object {
			return own
		}
		for _, e := range own.Entries() {
			v = with(v, e.Key, e.Value)
		}
		return v
	}
	if _, err := strconv.Atoi(path[0]); err == nil {
		return value.FromArray([]value.Value{put(value.Undef, path[1:], own)})
	}
	if v.Kind() != value.Object {
		v = value.FromEntries(nil)
	}
	inner := put(v.Get(path[0]), path[1:], own)
	needs := map[string]string{
		"s": `{"url":"http://x.example"}`, "rateLimit": `{"perTool":{}}`,
		"introspection": "{}", "annotations": `{}`, "icons": `[]`,
	}
	for name, text := range needs {
		if path[0] == name && inner.Kind() == value.Object && !inner.Has("command") && !inner.Has("limit") {
			extra, _ := value.Parse(text)
			for _, e := range extra.Entries() {
				if !inner.Has(e.Key) {
					inner = with(inner, e.Key, e.Value)
				}
			}
		}
	}
	v = with(v, path[0], inner)
	switch path[0] {
	case "introspection":
		v = with(with(with(v, "type", value.FromString("oauth")), "issuer", value.FromString("https://i.example")), "audience", value.FromString("https://a.example"))
	case "annotations", "icons":
		extra, _ := value.Parse(`{"name":"t","description":"d","inputSchema":{},"nodes":[]}`)
		for _, e := range extra.Entries() {
			v = with(v, e.Key, e.Value)
		}
	}
	return v
}

// candidates are values of every type.
var candidates = []string{
	`"text"`, `""`, `"https://x.example"`, "true", "false", "null", "0", "1", "-1", "1.5", "70000", "3000000000", "1e300",
	"[]", `["a"]`, "[1]", "[[]]", `[{}]`, "{}", `{"a":"b"}`, `{"a":1}`, `{"a":[]}`,
}

// dependent are values that decoders refuse because of other settings, which
// the schema does not describe.
var dependent = []string{
	"rateLimit {}", // needs a limit of all tools, or of one
	"maxDelayMs 1", // is less than initialDelayMs
}

// TestDecodersAndEditorSchemaAgreeOnEverySetting gives each setting values of
// every type. The schema refuses those, and only those, that the decoder
// refuses because of their type or range.
func TestDecodersAndEditorSchemaAgreeOnEverySetting(t *testing.T) {
	schema := editorSchema(t)
	wrongShape := []string{diag.CodeType, diag.CodeLimit, diag.CodeMissing, diag.CodeMisspelt, diag.CodeDuplicateKey}
	for _, s := range sections {
		for _, field := range s.described() {
			if field.Name == "nodes" || field.Name == "catch" {
				continue // package graph reads them
			}
			refused := 0
			for _, text := range candidates {
				if slices.Contains(dependent, field.Name+" "+text) {
					continue
				}
				source := s.file(t, field.Name, text)
				_, ds := config.Parse("x.yaml", source, config.Options{})
				errs := slices.DeleteFunc(slices.Clone(ds), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
				byShape := slices.ContainsFunc(errs, func(d diag.Diagnostic) bool { return slices.Contains(wrongShape, d.Code) })
				if byShape {
					refused++
				}
				err := schema.Validate(anyYAML(t, source))
				switch {
				case len(errs) == 0 && err != nil && !slices.ContainsFunc(ds, func(d diag.Diagnostic) bool {
					return d.Code == diag.CodeUnknownField || d.Code == diag.CodeMeaningless
				}):
					t.Errorf("%s %s: %s: the decoder accepts %s, the schema does not: %v", s.path, s.kinds, field.Name, text, err)
				case byShape && err == nil:
					t.Errorf("%s %s: %s: the schema accepts %s, the decoder does not: %v", s.path, s.kinds, field.Name, text, errs)
				}
			}
			if refused == 0 {
				t.Errorf("%s %s: the decoder does not read %s", s.path, s.kinds, field.Name)
			}
		}
	}
}

// TestDefaultsOfSettingsAreThoseOfTheDecoders decodes each setting with its
// documented default and without.
func TestDefaultsOfSettingsAreThoseOfTheDecoders(t *testing.T) {
	decoded := func(source []byte) string {
		f, ds := config.Parse("x.yaml", source, config.Options{})
		if f == nil || diag.HasErrors(ds) {
			t.Fatalf("%s: %v", source, ds)
		}
		for _, u := range f.Upstreams {
			u.Pos = diag.Pos{}
			for i := range u.ForwardHeaders {
				u.ForwardHeaders[i].Pos = diag.Pos{}
			}
			for i := range u.ForwardMeta {
				u.ForwardMeta[i].Pos = diag.Pos{}
			}
		}
		var b strings.Builder
		for _, v := range []any{f.Server, f.Limits} {
			fmt.Fprintf(&b, "%+v\n", v)
		}
		for _, u := range f.Upstreams {
			describe(&b, reflect.ValueOf(*u))
		}
		return b.String()
	}
	tested := 0
	for _, s := range sections {
		for _, field := range s.described() {
			if field.Default == "" || field.Name == "session" {
				continue // a session in memory is no session setting at all
			}
			tested++
			if got, want := decoded(s.file(t, field.Name, field.Default)), decoded(s.file(t, "", "")); got != want {
				t.Errorf("%s: with %s: %s the file is\n%s\nwithout it\n%s", s.path, field.Name, field.Default, got, want)
			}
		}
	}
	if tested < 25 {
		t.Errorf("only %d settings have defaults", tested)
	}
}

// describe prints a value, with what its pointers point to.
func describe(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			describe(b, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fmt.Fprintf(b, "%s:", v.Type().Field(i).Name)
			describe(b, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			describe(b, v.Index(i))
		}
	default:
		fmt.Fprintf(b, "%v ", v)
	}
}

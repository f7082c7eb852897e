package cli

import (
	"regexp"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// yamlOf encodes an entry for programs whose settings are YAML.
func yamlOf(v value.Value) []byte { return []byte(suite.YAML(v)) }

// tomlOf encodes an entry for programs whose settings are TOML (1.0): a map of maps of
// servers, whose fields are texts, lists of texts, and maps of texts.
func tomlOf(v value.Value) []byte {
	var b strings.Builder
	for _, table := range v.Entries() {
		for _, server := range table.Value.Entries() {
			b.WriteString("[" + tomlKey(table.Key) + "." + tomlKey(server.Key) + "]\n")
			for _, field := range server.Value.Entries() {
				b.WriteString(tomlKey(field.Key) + " = " + tomlValue(field.Value) + "\n")
			}
		}
	}
	return []byte(b.String())
}

var bareTOMLKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func tomlKey(key string) string {
	if bareTOMLKey.MatchString(key) {
		return key
	}
	return tomlText(key)
}

func tomlValue(v value.Value) string {
	var parts []string
	switch v.Kind() {
	case value.Object:
		for _, e := range v.Entries() {
			parts = append(parts, tomlKey(e.Key)+" = "+tomlValue(e.Value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case value.Array:
		for _, e := range v.Elems() {
			parts = append(parts, tomlValue(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case value.String:
		return tomlText(v.Str())
	}
	return v.JSON()
}

// tomlText returns a basic string. It has the escapes of JSON, which leaves one
// character as it is that TOML does not.
func tomlText(s string) string {
	return strings.ReplaceAll(value.FromString(s).JSON(), "\x7f", `\u007f`)
}

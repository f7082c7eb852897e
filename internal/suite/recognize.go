package suite

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Kind is what a YAML file is.
type Kind uint8

const (
	// Foreign is a file of another program.
	Foreign Kind = iota
	// Configuration is a file of tools.
	Configuration
	// Tests is a test file.
	Tests
)

var (
	topKey     = regexp.MustCompile(`(?m)^["']?([A-Za-z$][\w$-]*)["']?[ \t]*:`)
	schemaLine = regexp.MustCompile(`(?m)^[ \t]*#[^\n]*\$schema=[^\n]*mcpgraph`)
)

// maxTopKeys bounds the keys that are looked at.
const maxTopKeys = 64

// KindOf returns what a file is, by its name and its outermost keys, even if it does not
// parse. A configuration has version and another key of the language, or any two of
// its keys; a test file is named as one and has a key of test files. A line that names
// our JSON Schema is enough for both. Every command and the language server use this
// rule.
func KindOf(path string, text []byte) Kind {
	head := text[:min(len(text), 2000)]
	ours := schemaLine.Match(head)
	if IsTestFile(path) {
		if ours || slices.ContainsFunc(TopKeys(text), func(key string) bool { return isSetting(fileSettings, key) }) {
			return Tests
		}
		return Foreign
	}
	known := 0
	for _, key := range TopKeys(text) {
		if isSetting(config.Settings(), key) {
			known++
		}
	}
	if ours || known >= 2 {
		return Configuration
	}
	return Foreign
}

func isSetting(settings []config.Setting, key string) bool {
	return slices.ContainsFunc(settings, func(s config.Setting) bool { return s.Name == key })
}

// TopKeys returns the outermost keys of a YAML file, each once, even if it does not
// parse.
func TopKeys(text []byte) []string {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var keys []string
	if first := bytes.TrimSpace(text); len(first) > 0 && first[0] == '{' {
		root, _ := config.ParseYAML("", text)
		for _, f := range root.Fields() {
			keys = append(keys, f.Key.String())
		}
		return keys
	}
	for _, m := range topKey.FindAllSubmatch(text, maxTopKeys) {
		if key := string(m[1]); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

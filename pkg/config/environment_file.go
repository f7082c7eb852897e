package config

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// maxEnvFile is the largest size of an envFile in bytes.
const maxEnvFile = 1 << 20

// decodeEnvFile returns the variables of the file that "envFile" names, whose values
// are secrets.
func decodeEnvFile(s *section) []EnvVar {
	n := s.node.Get("envFile")
	path := s.string("envFile")
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.workspace(), path)
	}
	text, err := boundedfile.ReadUpTo(path, maxEnvFile)
	if err != nil {
		d := unreadableFile(path, err)
		p := n.Problem(diag.CodeValue, fmt.Sprintf(`"envFile" of %s: %s`, s.owner, d.Message))
		p.Hint = "relative paths start at " + quote(s.workspace())
		s.decoder.report(p)
		return nil
	}
	var out []EnvVar
	for i, line := range strings.Split(string(bytes.TrimPrefix(text, []byte("\ufeff"))), "\n") {
		v, ok := parseVariable(line)
		switch {
		case !ok:
			s.decoder.report(n.Problem(diag.CodeValue, fmt.Sprintf(`"envFile" of %s: line %d is not NAME=VALUE`, s.owner, i+1)))
		case v.Name != "":
			s.addSecret(v.Value)
			out = append(out, v)
		}
	}
	return out
}

// parseVariable parses one line of an envFile: NAME=VALUE, optionally with
// "export " before it and quotes around the value. It returns an empty name for
// blank lines and comments.
func parseVariable(line string) (EnvVar, bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return EnvVar{}, true
	}
	name, val, found := strings.Cut(strings.TrimPrefix(line, "export "), "=")
	name, val = strings.TrimSpace(name), strings.TrimSpace(val)
	if !found || !variableName.MatchString(name) {
		return EnvVar{}, false
	}
	if val == "" {
		return EnvVar{name, ""}, true
	}
	if q := val[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(val[1:], q)
		if end < 0 {
			return EnvVar{}, false
		}
		val = val[1 : end+1]
		if q == '"' {
			val = strings.ReplaceAll(val, `\n`, "\n")
		}
		return EnvVar{name, val}, true
	}
	if at := strings.Index(val, " #"); at >= 0 {
		val = strings.TrimSpace(val[:at])
	}
	return EnvVar{name, val}, true
}

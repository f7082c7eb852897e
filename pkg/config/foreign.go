package config

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// foreignSettings are fields that other programs write and that mean something
// here, too.
var foreignSettings = []Setting{
	{Name: "disabled", Doc: "Leave the server out; a node that calls it is an error", Shape: BoolShape, Default: "false"},
	{Name: "enabled", Doc: "The opposite of disabled", Shape: BoolShape, Default: "true"},
	{Name: "envFile", Doc: "File with variables for the program, one NAME=VALUE a line; env wins over it"},
	{Name: "transport", Doc: "Another program's spelling of type", Values: transportNames()},
	{Name: "serverUrl", Doc: "Another program's spelling of url"},
	{Name: "httpUrl", Doc: "Another program's spelling of url, for streamable HTTP"},
	{Name: "timeout", Doc: "Another program's timeoutMs: in seconds below 1000 and in entries with autoApprove or alwaysAllow, else in milliseconds", Shape: CountShape},
	{Name: "includeTools", Doc: "Another program's spelling of tools.allow", Shape: StringsShape},
	{Name: "excludeTools", Doc: "Another program's spelling of tools.deny", Shape: StringsShape},
	{Name: "disabledTools", Doc: "Another program's spelling of tools.deny", Shape: StringsShape},
}

// isDisabled reports whether the entry is to be left out.
func (e *entry) isDisabled() bool {
	return e.decoder.boolean(e.n, "disabled", false) || !e.decoder.boolean(e.n, "enabled", true)
}

// addressNames are the names of the field with the server's address, the strongest
// first.
var addressNames = []string{"httpUrl", "url", "serverUrl"}

// address returns the field with the server's address under any of its names;
// nil where there is none.
func (e *entry) address() *Field {
	for _, name := range addressNames {
		if f, ok := e.n.Field(name); ok {
			return &f
		}
	}
	return nil
}

// typeNode returns how the entry says that the server is reached, under either
// of its names; nil where it does not say.
func (e *entry) typeNode() *Node {
	if f := e.n.Get("type"); f != nil {
		return f
	}
	return e.n.Get("transport")
}

// program returns the node with "command", "args" and "env": the entry, or in
// Zed's older form the map under "command", whose command is its "path".
func (e *entry) program() (n *Node, command string) {
	if inner := e.n.Get("command"); inner != nil && inner.Kind() == Map {
		return inner, "path"
	}
	return e.n, "command"
}

// foreignAuth reports whether "auth" is Cursor's, which has no type.
func (e *entry) foreignAuth() bool {
	f := e.n.Get("auth")
	return e.decoder.foreign && f != nil && f.Get("type") == nil
}

// timeout returns the time of a call: timeoutMs, else what other programs write
// as timeout.
func (e *entry) timeout() time.Duration {
	const limit = 1000 // no program's time in seconds is longer without saying so
	d := e.decoder
	if e.n.Get("timeout") == nil || e.n.Get("timeoutMs") != nil {
		return d.milliseconds(e.n, "timeoutMs", DefaultTimeout)
	}
	unit := time.Millisecond
	n := d.whole(e.n, "timeout", 1, maxMilliseconds/1000, int64(DefaultTimeout/time.Millisecond))
	if n < limit || e.n.Get("autoApprove") != nil || e.n.Get("alwaysAllow") != nil {
		unit = time.Second
	}
	return time.Duration(n) * unit
}

// foreignFilter adds what other programs write to a filter of tools.
func (e *entry) foreignFilter(f *ToolFilter) {
	for name, list := range map[string]*[]string{"includeTools": &f.Allow, "excludeTools": &f.Deny, "disabledTools": &f.Deny} {
		if n := e.decoder.optional(e.n, name, List); n != nil {
			*list = append(slices.Clip(*list), e.globs(n, name)...)
			if *list == nil {
				*list = []string{}
			}
		}
	}
}

// maxEnvFile bounds the bytes of an envFile.
const maxEnvFile = 1 << 20

// envFile returns the variables of the file that "envFile" names. They are
// secrets.
func (e *entry) envFile() []EnvVar {
	n := e.n.Get("envFile")
	path := e.string("envFile")
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.workspace(), path)
	}
	text, err := readBounded(path, maxEnvFile)
	if err != nil {
		d := unreadableFile(path, err)
		p := n.Problem(diag.CodeValue, fmt.Sprintf(`"envFile" of %s: %s`, e.owner, d.Message))
		p.Hint = "relative paths begin at " + quoted(e.workspace())
		e.decoder.report(p)
		return nil
	}
	var out []EnvVar
	for i, line := range strings.Split(string(bytes.TrimPrefix(text, []byte("\ufeff"))), "\n") {
		v, ok := parseVariable(line)
		switch {
		case !ok:
			e.decoder.report(n.Problem(diag.CodeValue, fmt.Sprintf(`"envFile" of %s: line %d is not NAME=VALUE`, e.owner, i+1)))
		case v.Name != "":
			e.keep(v.Value)
			out = append(out, v)
		}
	}
	return out
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it is longer than %d bytes", limit)
	}
	return text, err
}

// parseVariable reads one line of an envFile: NAME=VALUE, with "export " before
// it and quotes around the value or not. Blank lines and comments have no name.
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

// editorFolders are where editors keep their settings in a workspace.
var editorFolders = []string{".vscode", ".cursor", ".zed", ".gemini", ".windsurf", ".roo"}

// workspace returns the folder that ${workspaceFolder} stands for: that of the
// file, or the one above where an editor keeps the file in a folder of its own.
func (e *environment) workspace() string {
	dir := filepath.Dir(e.decoder.path)
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	if slices.Contains(editorFolders, filepath.Base(dir)) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// editorVariable returns what a variable of an editor stands for, and whether
// it is one.
func (e *environment) editorVariable(name string) (string, bool) {
	switch name {
	case "workspaceFolder":
		return e.workspace(), true
	case "workspaceFolderBasename":
		return filepath.Base(e.workspace()), true
	case "userHome":
		home, err := os.UserHomeDir()
		if v, ok := e.decoder.getenv("HOME"); ok && v != "" {
			home, err = v, nil
		}
		return home, err == nil
	case "pathSeparator", "/":
		return string(filepath.Separator), true
	}
	return "", false
}

// InputVariable returns the environment variable that answers ${input:id}.
func InputVariable(id string) string {
	return "MCPGRAPH_INPUT_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, id)
}

// input returns what ${input:id} stands for: what the caller of Parse gave, a
// variable, or the default of the file's own "inputs".
func (e *environment) input(id string) (string, bool) {
	if v, ok := e.decoder.inputs[id]; ok {
		return v, true
	}
	if v, ok := e.decoder.getenv(InputVariable(id)); ok {
		return v, true
	}
	if e.decoder.declared == nil || e.decoder.declared.Kind() != List {
		return "", false
	}
	for _, n := range e.decoder.declared.Items() {
		if n.Kind() == Map && n.Get("id").Text().String() == id {
			if d := n.Get("default"); d != nil && d.Value().Kind() == value.String {
				return d.Text().String(), true
			}
		}
	}
	return "", false
}

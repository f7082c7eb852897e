package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// editorFolders are where editors keep their settings in a workspace.
var editorFolders = []string{".vscode", ".cursor", ".zed", ".gemini", ".windsurf", ".roo"}

// workspace returns the folder that ${workspaceFolder} stands for.
func (e *environment) workspace() string { return WorkspaceFolder(e.decoder.path) }

// WorkspaceFolder returns the folder that ${workspaceFolder} stands for in a file:
// that of the file, or the one above where an editor keeps the file in a folder of
// its own.
func WorkspaceFolder(path string) string {
	dir := filepath.Dir(path)
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
		if e.decoder.workspaceFolder != "" {
			return e.decoder.workspaceFolder, true
		}
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

// inputValue returns what ${input:id} stands for: what the caller of Parse gave, a
// variable, or the default of the file's own "inputs".
func (e *environment) inputValue(id string) (string, bool) {
	if v, ok := e.decoder.inputs[id]; ok {
		return v, true
	}
	if v, ok := e.decoder.getenv(InputVariable(id)); ok && !e.isUnfilled(v, InputVariable(id)) {
		return v, true
	}
	return e.inputDefault(id)
}

// inputDefault returns the default that the file's own "inputs" have.
func (e *environment) inputDefault(id string) (string, bool) {
	if e.decoder.inputDefaults == nil || e.decoder.inputDefaults.Kind() != List {
		return "", false
	}
	for _, n := range e.decoder.inputDefaults.Items() {
		if n.Kind() == Map && n.Get("id").Text().String() == id {
			if d := n.Get("default"); d != nil && d.Value().Kind() == value.String {
				return d.Text().String(), true
			}
		}
	}
	return "", false
}

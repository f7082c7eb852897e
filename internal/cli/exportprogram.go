package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// exportedVariable is a variable of the environment in which a program starts the
// server. Without a value it is for a person to set.
type exportedVariable struct{ name, value string }

// inheritedVariables are those that programs pass on to every server: the list of the
// MCP SDKs.
var inheritedVariables = []string{
	"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER",
	"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP",
	"USERNAME", "USERPROFILE", "PROGRAMFILES",
}

// standardFolders are on the PATH of every program, also of those that a desktop starts.
var standardFolders = []string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"}

// startedBy sets how another program starts the server: it does so in a folder of its
// own, with few variables and a short PATH.
func startedBy(a *app, x *exported, o exportOptions, file *config.File) (err error) {
	if x.command == "" {
		if x.command, err = ownProgram(a); err != nil {
			return failed(err)
		}
	}
	x.args = []string{"serve"}
	if o.toolkit {
		x.args = []string{"toolkit", "--graph"}
	}
	for i, path := range append([]string{o.config}, o.mcpFiles...) {
		if path, err = filepath.Abs(path); err != nil {
			return failed(err)
		}
		if i > 0 {
			x.args = append(x.args, "--mcp")
		}
		x.args = append(x.args, path)
	}
	if path := pathFor(a, file.Upstreams); path != "" {
		x.env = append(x.env, exportedVariable{"PATH", path})
	}
	given := map[string]string{}
	for id, v := range a.inputs {
		given[config.InputVariable(id)] = v
	}
	for _, name := range file.Variables {
		if !slices.Contains(inheritedVariables, name) {
			x.env = append(x.env, exportedVariable{name, given[name]})
		}
	}
	return nil
}

// ownProgram returns the absolute path of this program. A link to it that was called is
// kept: it stays the same when a package manager installs the next version.
func ownProgram(a *app) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if called, err := exec.LookPath(os.Args[0]); err == nil {
		if called, err = filepath.Abs(called); err == nil && sameFile(called, path) {
			path = called
		}
	}
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		fmt.Fprintf(a.stderr, "mcpgraph: go run removes %s; run go install ./cmd/mcpgraph and export again, or set --command\n", path)
	}
	return path, nil
}

func sameFile(one, other string) bool {
	first, err := os.Stat(one)
	if err != nil {
		return false
	}
	second, err := os.Stat(other)
	return err == nil && os.SameFile(first, second)
}

// pathFor returns the PATH with which the programs of servers are found, empty if the
// one that every program has is enough.
func pathFor(a *app, upstreams []*config.Upstream) string {
	if runtime.GOOS == "windows" {
		return "" // programs of the desktop have the whole PATH
	}
	var folders []string
	for _, u := range upstreams {
		programs := []string{u.Command}
		switch u.Command {
		case "": // of another transport
			continue
		case "npx", "npm", "pnpm", "yarn", "bunx":
			programs = append(programs, "node")
		}
		for i, program := range programs {
			if strings.ContainsRune(program, filepath.Separator) || strings.Contains(program, "${") {
				continue
			}
			folder, ok := folderOf(a, program)
			switch {
			case ok && !slices.Contains(standardFolders, folder) && !slices.Contains(folders, folder):
				folders = append(folders, folder)
			case !ok && i == 0:
				fmt.Fprintf(a.stderr, "mcpgraph: %s, the program of server %q, is not on the PATH\n", visible(program), u.Name)
			}
		}
	}
	if folders == nil {
		return ""
	}
	return strings.Join(slices.Concat(folders, []string{"/usr/local/bin"}, standardFolders), ":")
}

// folderOf returns the folder of the PATH that has a program.
func folderOf(a *app, program string) (string, bool) {
	for _, folder := range filepath.SplitList(a.environ["PATH"]) {
		info, err := os.Stat(filepath.Join(folder, program))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.IsAbs(folder) {
			return filepath.Clean(folder), true
		}
	}
	return "", false
}

// unfilled returns the names of the variables that a person has to set.
func (x *exported) unfilled() []string {
	var names []string
	for _, v := range x.env {
		if v.value == "" {
			names = append(names, v.name)
		}
	}
	return names
}

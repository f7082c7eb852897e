package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// runners start a package or program that their first argument without a dash names.
var runners = []string{"npx", "npm", "pnpm", "yarn", "bunx", "bun", "deno", "uvx", "uv", "pipx", "go", "docker", "podman"}

// portable returns an entry of mcpServers as file has it: paths that depend on the
// working directory of this process start at the folder of the file. Clients start
// mcpgraph in other folders.
func portable(entry value.Value, file string) value.Value {
	command := entry.Get("command").Str()
	if command == "" {
		return entry // a server at an address, or no entry
	}
	out := value.NewBuilder(entry.Len())
	for _, e := range entry.Entries() {
		switch {
		case e.Key == "cwd" && !filepath.IsAbs(e.Value.Str()) && !strings.HasPrefix(e.Value.Str(), "${"):
			e.Value = value.FromString(portablePath(e.Value.Str(), file))
		case !entry.Get("cwd").IsUndefined():
		case e.Key == "command" && config.RelativeProgram(command) && !strings.HasPrefix(command, "${"):
			e.Value = value.FromString(portablePath(command, file))
		case e.Key == "args":
			e.Value = texts(portableArguments(command, e.Value, file))
		}
		out.Set(e.Key, e.Value)
	}
	return out.Value()
}

func portableArguments(command string, args value.Value, file string) []string {
	var out []string
	named := !slices.Contains(runners, filepath.Base(command))
	for i, v := range args.Elems() {
		arg := v.Str()
		start, ok := config.RelativePath(arg)
		if !ok && i == 0 {
			ok = config.RelativeScript(command, arg)
		}
		if !ok && named {
			// A name that exists here is a path, whatever it looks like.
			ok = isThere(arg)
		}
		if !strings.HasPrefix(arg, "-") {
			named = true
		}
		if ok {
			arg = arg[:start] + portablePath(arg[start:], file)
		}
		out = append(out, arg)
	}
	return out
}

// isThere reports whether a relative path names a file or folder.
func isThere(path string) bool {
	if path == "" || strings.HasPrefix(path, "-") || filepath.IsAbs(path) {
		return false
	}
	_, err := os.Stat(path)
	return err == nil
}

// portablePath returns a path by ${workspaceFolder} of the file, or the absolute one if
// there is no way from one to the other.
func portablePath(path, file string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	way, err := filepath.Rel(config.WorkspaceFolder(file), absolute)
	if err != nil {
		return absolute
	}
	if way == "." {
		return "${workspaceFolder}"
	}
	return "${workspaceFolder}/" + filepath.ToSlash(way)
}

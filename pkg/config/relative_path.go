package config

import (
	"fmt"
	slashpath "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

var (
	// flagValue is what stands before the value of a flag or setting in one argument:
	// --root=./data.
	flagValue = regexp.MustCompile(`^-*[A-Za-z0-9][A-Za-z0-9_-]*=`)
	// firstVariable is a variable with which a text begins.
	firstVariable = regexp.MustCompile(`^\$\{([^}]*)\}`)
	// interpreters run the file that their first argument names.
	interpreters = []string{"node", "bun", "python", "python3", "ruby", "perl", "php", "bash", "sh", "tsx"}
)

// RelativePath reports whether an argument of a program certainly is a path that
// depends on the working directory, or ends in one, as --root=./data does. start is
// where the path begins, in bytes. Names such as a.b, *.md and owner/repo may be
// anything, so they are no such paths.
func RelativePath(argument string) (start int, ok bool) {
	start = len(flagValue.FindString(argument))
	switch path := strings.ReplaceAll(argument[start:], `\`, "/"); {
	case path == ".", path == "..", strings.HasPrefix(path, "./"), strings.HasPrefix(path, "../"):
		return start, true
	}
	return 0, false
}

// RelativeProgram reports whether a command is a path that depends on the working
// directory. A name without a slash is looked up on the PATH.
func RelativeProgram(command string) bool {
	return strings.ContainsAny(command, `/\`) && !isAbsolute(command)
}

// RelativeScript reports whether the first argument of a command is the file that it
// runs, by a path that depends on the working directory: node server.js.
func RelativeScript(command, argument string) bool {
	return slices.Contains(interpreters, strings.TrimSuffix(filepath.Base(command), ".exe")) &&
		!strings.HasPrefix(argument, "-") && !isAbsolute(argument) && strings.ContainsAny(argument, `./\`)
}

// isAbsolute reports whether a path is absolute on any system: files move between them.
func isAbsolute(path string) bool {
	return filepath.IsAbs(path) || strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) ||
		len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\')
}

// reportRelativePaths reports the paths of an entry that depend on the folder in which
// somebody starts mcpgraph. program holds "args" and, under the name command, the
// program.
func reportRelativePaths(s *section, program *Node, command string) {
	if s.decoder.foreign && s.decoder.serversOnly {
		return // who only looks at another program's file cannot change it
	}
	if cwd := s.node.Get("cwd"); cwd.IsString() && cwd.Text().String() != "" {
		if path := constantPath(cwd.Text().String()); path != "" && !isAbsolute(path) {
			reportRelativePath(s, cwd, "cwd", path, "")
		}
		return // the others start there
	}
	written := program.Get(command)
	name := constantPath(written.Text().String())
	if line, args, ok := commandLine(name); ok && written.IsString() {
		var more []string
		for _, n := range program.Get("args").Items() {
			more = append(more, n.Text().String())
		}
		p := written.Problem(diag.CodeCommandLine, fmt.Sprintf("%q of %s is a whole command line, but no shell reads it", command, s.owner))
		p.Hint = commandLineHint(line, args, more)
		s.decoder.report(p)
		return
	}
	if written.IsString() && RelativeProgram(name) {
		reportRelativePath(s, written, command, name, "")
	}
	for i, n := range program.Get("args").Items() {
		if !n.IsString() {
			continue
		}
		argument := n.Text().String()
		flag := flagValue.FindString(argument)
		path := constantPath(argument[len(flag):])
		if _, ok := RelativePath(path); ok || i == 0 && path != "" && RelativeScript(name, path) {
			reportRelativePath(s, n, "args", path, flag)
		}
	}
}

// constantPath returns a path as far as the file alone determines it: a variable at
// its beginning has its default, and without one the path is unknown, which is empty.
func constantPath(written string) string {
	m := firstVariable.FindStringSubmatch(written)
	if m == nil {
		return written
	}
	_, fallback, ok := strings.Cut(m[1], ":-")
	if !ok || fallback == "" {
		return ""
	}
	return fallback + written[len(m[0]):]
}

// reportRelativePath reports one path of the field.
func reportRelativePath(s *section, n *Node, field, path, flag string) {
	p := n.Problem(diag.CodeRelativePath, fmt.Sprintf("%q of %s has the relative path %s; clients start mcpgraph in other folders", field, s.owner, quote(path)))
	from := "${workspaceFolder}"
	if clean := slashpath.Clean(strings.ReplaceAll(path, `\`, "/")); clean != "." {
		from += "/" + clean
	}
	switch {
	case s.decoder.foreign:
		p.Hint = "write an absolute path"
	case path == "~" || strings.HasPrefix(path, "~/"):
		p.Hint = fmt.Sprintf("write %s: no shell reads ~ here", quote(flag+"${userHome}"+path[1:]))
	case firstVariable.MatchString(n.Text().String()[len(flag):]):
		// A default cannot have a variable in it.
		p.Hint = "set cwd: ${workspaceFolder}, the folder of this file"
	case field == "cwd":
		p.Hint = fmt.Sprintf("write %s; ${workspaceFolder} is the folder of this file", quote(from))
	default:
		p.Hint = fmt.Sprintf("write %s, or set cwd; ${workspaceFolder} is the folder of this file", quote(flag+from))
	}
	s.decoder.report(p)
}

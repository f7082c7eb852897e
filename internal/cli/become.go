package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/project"
)

// temporalProgram is the program that links Temporal and is this one otherwise.
const temporalProgram = "mcpgraph-temporal"

// becomeVariable tells a program of which version the one is that became it. Nothing that
// it starts sees the variable.
const becomeVariable = "MCPGRAPH_BECOME"

// needTemporal returns nil if this program links Temporal. If not, it becomes the program
// that does, with the same arguments, streams and environment, and returns only to say
// why it could not, or with the exit code. A command calls it before it opens anything
// and before it reads stdin, of which a configuration, or a file of --mcp, alone may have been read.
func needTemporal(a *app) error {
	if a.linked != nil {
		return nil
	}
	path := findTemporal()
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		return failedf("durable runs need the program %s, which is neither beside %s nor in PATH; %s", temporalProgram, self, getTemporal())
	}
	return become(a, path, append(os.Environ(), becomeVariable+"="+mcpgraph.Version()))
}

// findTemporal returns the path of the program that links Temporal: beside this one, or
// else in PATH; empty if there is none.
func findTemporal() string {
	name := temporalProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		places := []string{self}
		if real, err := filepath.EvalSymlinks(self); err == nil && real != self {
			places = append(places, real)
		}
		for _, place := range places {
			if path, err := exec.LookPath(filepath.Join(filepath.Dir(place), name)); err == nil {
				return path
			}
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

// getTemporal says how to get the program that links Temporal.
func getTemporal() string {
	version := mcpgraph.Version()
	if project.Released(version, "") == "" {
		return fmt.Sprintf("make build makes it, and so does go install ./cmd/%s", temporalProgram)
	}
	return fmt.Sprintf("it is in the archive of the release, or run go install %s/cmd/%s@%s", project.Module, temporalProgram, version)
}

// wasBecome checks, if another program became this one, that this one is what that needs.
func wasBecome(a *app) error {
	version, ok := a.environ[becomeVariable]
	if !ok {
		return nil
	}
	delete(a.environ, becomeVariable)
	if err := os.Unsetenv(becomeVariable); err != nil {
		return failed(err)
	}
	switch own := mcpgraph.Version(); {
	case a.linked == nil:
		return failedf("%s is not %s, although it has its name; %s", os.Args[0], temporalProgram, getTemporal())
	case own != version:
		return failedf("%s is version %s, and mcpgraph is version %s; install the same version of both", os.Args[0], own, version)
	}
	return nil
}

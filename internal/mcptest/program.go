package mcptest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// Program returns the path of the program fakeserver, whose main function is [Run].
// It starts several times as fast as a test binary. Its name is "fakeserver".
var Program = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	return goTool(root, "fakeserver")
})

// UseProgram makes commands of scripts start [Program] in place of the test binary,
// for packages that start many. It must come before the first of them.
func UseProgram() error {
	path, err := Program()
	scriptProgram = path
	return err
}

// scriptProgram is what commands of scripts start; empty is the test binary.
var scriptProgram string

// goTool returns the path of a tool of the module in a folder. The go command builds
// it where it has to, and keeps it in its cache.
func goTool(folder, name string) (string, error) {
	cmd := exec.Command("go", "tool", "-n", name)
	cmd.Dir = folder
	// The tools are not what is tested, and may take minutes to build for the race detector.
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", ""))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cannot build %s in %s: %w\n%s", name, folder, err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

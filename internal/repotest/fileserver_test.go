package repotest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

// fileServer is the server that the examples start with go run.
const fileServer = "./examples/servers/files"

// built is the folder that goOnce makes.
var built string

// goOnce makes a folder with a program "go" that starts fileServer as it was built
// once: go run checks for a tenth of a second whether it has to build.
var goOnce = sync.OnceValue(func() error {
	real, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	if built, err = os.MkdirTemp("", "repotest"); err != nil {
		return err
	}
	server := filepath.Join(built, "files")
	if out, err := exec.Command(real, "build", "-ldflags=-s -w", "-o", server, fileServer).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	script := "#!/bin/sh\n[ \"$1 $2\" = 'run " + fileServer + "' ] || exec '" + real + "' \"$@\"\nshift 2\nexec '" + server + "' \"$@\"\n"
	return os.WriteFile(filepath.Join(built, "go"), []byte(script), 0o700)
})

// examplesEnv returns the environment of commands that run examples. If every case
// is asked for, go is go.
func examplesEnv(t *testing.T) []string {
	t.Helper()
	if testscale.Full() {
		return os.Environ()
	}
	if err := goOnce(); err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "PATH="+built+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// removeBuilt removes what goOnce has made.
func removeBuilt() {
	if built != "" {
		os.RemoveAll(built)
	}
}

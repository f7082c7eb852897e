// Package e2e tests the page in a real browser. driver.mjs runs the checks of the
// folder checks in one Chromium; each is a subtest of TestPage. CONTRIBUTING.md
// says what has to be installed.
package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// atOnce is how many checks run side by side: each has processes and a page.
const atOnce = 2

func TestPage(t *testing.T) {
	d := startDriver(t)
	turns := make(chan struct{}, atOnce)
	var mu sync.Mutex
	passed, began := 0, time.Now()
	t.Cleanup(func() {
		fmt.Printf("%d of %d checks of the page passed in %d s\n", passed, len(d.checks), int(time.Since(began).Seconds()))
	})
	for _, name := range d.checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns <- struct{}{}
			defer func() { <-turns }()
			if err := d.run(name); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			passed++
			mu.Unlock()
		})
	}
}

// driver is the running driver.mjs.
type driver struct {
	checks []string

	mu      sync.Mutex
	in      io.Writer
	last    int
	waiting map[int]chan error
	ended   error // set when it has ended
}

// answer is a line that driver.mjs writes.
type answer struct {
	ID     int      `json:"id"`
	Error  string   `json:"error"`
	Checks []string `json:"checks"`
}

// startDriver starts the browser and its driver, which end with the test. The test
// is skipped unless MCPGRAPH_E2E is "1", and if something is not installed; if CI is
// "true", it fails then.
func startDriver(t *testing.T) *driver {
	t.Helper()
	if os.Getenv("MCPGRAPH_E2E") != "1" {
		t.Skip("the tests in the browser run with make e2e")
	}
	node := program(t, "node")
	chromium := program(t, "chromium", "chromium-browser", "google-chrome")
	if _, err := os.Stat(filepath.Join("node_modules", "playwright-core")); err != nil {
		missing(t, "playwright-core is not installed: run npm ci --ignore-scripts in e2e")
	}
	cmd := exec.Command(node, "driver.mjs")
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium, "MCPGRAPH_BINARY="+binary(t, "../cmd/mcpgraph", "../cmd/mcpgraph-temporal"), "DURABLE_BINARY="+binary(t, "./testdata/durable"))
	cmd.Stderr = os.Stderr
	in, out := mcptest.Pipes(t, cmd)
	lines := bufio.NewReader(out)
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	d := &driver{in: in, waiting: map[int]chan error{}}
	first, err := read(lines)
	if err != nil {
		t.Fatal("the driver of the browser did not start: ", err)
	}
	if d.checks = first.Checks; len(d.checks) == 0 {
		t.Fatal("the driver of the browser has no checks")
	}
	go d.listen(lines)
	return d
}

// program returns the path of the first of the programs that is installed.
func program(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, names[0]+" is not installed")
	return ""
}

// missing skips a test because of something that is not installed; if CI is
// "true", it fails.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip("NO TESTS IN THE BROWSER: " + what)
}

// binary builds a program, with others beside it, and returns its path.
func binary(t *testing.T, folder string, beside ...string) string {
	t.Helper()
	into := t.TempDir() + string(filepath.Separator)
	if out, err := exec.Command("go", append([]string{"build", "-o", into, folder}, beside...)...).CombinedOutput(); err != nil {
		t.Fatalf("cannot build %s: %v\n%s", folder, err, out)
	}
	return into + filepath.Base(folder)
}

func read(lines *bufio.Reader) (answer, error) {
	var a answer
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(line, &a)
}

// listen hands the answers to those who wait for them.
func (d *driver) listen(lines *bufio.Reader) {
	for {
		a, err := read(lines)
		d.mu.Lock()
		if err != nil {
			d.ended = fmt.Errorf("the driver of the browser has ended: %w", err)
			for _, w := range d.waiting {
				w <- d.ended
			}
			d.mu.Unlock()
			return
		}
		w := d.waiting[a.ID]
		delete(d.waiting, a.ID)
		d.mu.Unlock()
		switch {
		case w == nil:
		case a.Error != "":
			w <- errors.New(a.Error)
		default:
			w <- nil
		}
	}
}

// run runs one check and returns why it failed, or nil.
func (d *driver) run(check string) error {
	d.mu.Lock()
	if d.ended != nil {
		d.mu.Unlock()
		return d.ended
	}
	d.last++
	done := make(chan error, 1)
	d.waiting[d.last] = done
	line, err := json.Marshal(map[string]any{"id": d.last, "check": check})
	if err == nil {
		_, err = d.in.Write(append(line, '\n'))
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return <-done
}

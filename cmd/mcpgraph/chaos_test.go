package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// chaosVariable lets the tests run that kill workers and measure them; `make chaos`
// sets it.
const chaosVariable = "MCPGRAPH_CHAOS"

const chaosFile = `version: "1.0"
server: {name: chaos, version: "1"}
mcpServers: {counter: {url: %q, headers: {Worker: "${WORKER:-none}"}}}
tools:
`

// manyCalls is a tool with a name that calls a tool of the counter.
const manyCalls = `  - name: %s
    description: Makes calls
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: each}
      - id: each
        type: map
        items: {expr: "[1..$.entry.calls]"}
        maxConcurrency: 5
        body:
          nodes:
            - {id: say, type: mcp, server: counter, tool: %s, args: {run: {expr: $.entry.run}, n: {expr: $item}}}
            - {id: lost, type: transform, transform: {expr: "'unknown'"}}
          catch: {errors: [unknown], next: lost}
        next: exit
      - {id: exit, type: exit}
`

// deployment is a file, and the processes that work on it.
type deployment struct {
	t              *testing.T
	temporal, file string
	env            []string // of workers

	mu      sync.Mutex
	workers []*exec.Cmd // the oldest first
	started atomic.Int64
}

// deploy writes a file whose runs call a tool of the counter.
func deploy(t *testing.T, temporal, tool string, c *counter) *deployment {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tools.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, chaosFile+manyCalls, c.url, "many", tool), 0o600); err != nil {
		t.Fatal(err)
	}
	return deployed(t, temporal, file)
}

// deployed returns a file that nobody works on. Its processes are killed at the end of
// the test.
func deployed(t *testing.T, temporal, file string) *deployment {
	t.Helper()
	d := &deployment{t: t, temporal: temporal, file: file}
	t.Cleanup(d.stop)
	return d
}

// stop kills all workers.
func (d *deployment) stop() {
	for len(d.workers) > 0 {
		d.kill()
	}
}

// work starts a worker.
func (d *deployment) work(args ...string) {
	cmd := exec.Command(binary, append([]string{"worker", d.file, "--temporal", d.temporal, "--log-level", "error"}, args...)...)
	cmd.Env = append(append(os.Environ(), fmt.Sprint("WORKER=", d.started.Add(1))), d.env...)
	if err := cmd.Start(); err != nil {
		d.t.Error(err)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.workers = append(d.workers, cmd)
}

// kill ends the oldest worker with SIGKILL.
func (d *deployment) kill() {
	d.mu.Lock()
	oldest := d.workers[0]
	d.workers = d.workers[1:]
	d.mu.Unlock()
	if err := oldest.Process.Kill(); err != nil {
		d.t.Errorf("a worker ended by itself: %v", err)
	}
	_ = oldest.Wait()
}

// change writes the file.
func (d *deployment) change(text string) {
	d.t.Helper()
	if err := os.WriteFile(d.file, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// command returns a command with the flags and variables of the deployment.
func (d *deployment) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(d.t.Context(), binary, append(args, "--engine", "temporal", "--temporal", d.temporal)...)
	cmd.Env = append(os.Environ(), d.env...)
	return cmd
}

// run makes a run and returns its result.
func (d *deployment) run(run, calls int) (items []any, err error) {
	ctx, cancel := context.WithTimeout(d.t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "run", d.file, "many", "--engine", "temporal", "--temporal", d.temporal,
		"--args", fmt.Sprintf(`{"run": %d, "calls": %d}`, run, calls))
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderrOf(err))
	}
	return items, json.Unmarshal(out, &items)
}

// runs makes so many runs at once and returns their results; that of a failed one is nil.
func (d *deployment) runs(runs, calls int) [][]any {
	results := make([][]any, runs)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			var err error
			if results[i], err = d.run(i, calls); err != nil {
				d.t.Errorf("run %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	return results
}

// TestKilledWorkersLoseNothing kills a worker each second while 20 runs make 30 calls
// each. A tool that may be repeated is called until it has answered. One that may not
// is called once at most, and its node fails with "unknown" if that call was lost.
func TestKilledWorkersLoseNothing(t *testing.T) {
	temporal := temporalServer(t)
	const runs, calls, mostKills = 20, 30, 30
	for _, tool := range []string{repeatable, single} {
		t.Run(tool, func(t *testing.T) {
			c := newCounter(t, 200*time.Millisecond)
			d := deploy(t, temporal, tool, c)
			d.work()
			d.work()
			over, stopped := make(chan struct{}), make(chan struct{})
			kills := 0
			go func() {
				defer close(stopped)
				tick := time.NewTicker(time.Second)
				defer tick.Stop()
				for kills < mostKills {
					select {
					case <-over:
						return
					case <-tick.C:
						d.kill()
						d.work()
						kills++
					}
				}
			}()
			results := d.runs(runs, calls)
			close(over)
			<-stopped
			s := c.check(t, results, calls)
			t.Logf("tool %s: runs %d calls %d lost %d repeated %d unknown %d, with %d kills", tool, runs, runs*calls, s.lost, s.repeated, s.unknown, kills)
			if kills == 0 || s.lost > 0 {
				t.Errorf("%d calls are lost after %d kills", s.lost, kills)
			}
			if tool == repeatable && (s.repeated == 0 || s.unknown > 0) {
				t.Errorf("%d calls were made again and %d are unknown; some must have been lost, and all of them made again", s.repeated, s.unknown)
			}
			if tool == single && (s.repeated > 0 || s.unknown == 0) {
				t.Errorf("%d calls were made again and %d are unknown; some must have been lost, and none of them made again", s.repeated, s.unknown)
			}
		})
	}
}

// TestTwoWorkersAreTwiceAsFast compares how fast one worker and two make calls of 50 ms,
// two at the same time each. The best of three measurements counts, as others may use
// the machine.
func TestTwoWorkersAreTwiceAsFast(t *testing.T) {
	temporal := temporalServer(t)
	var best [3]float64 // by the number of workers
	for range 3 {
		for workers := 1; workers <= 2; workers++ {
			best[workers] = max(best[workers], measured(t, temporal, workers))
		}
	}
	ratio := best[2] / best[1]
	t.Logf("one worker %.1f calls a second, two workers %.1f, ratio %.2f", best[1], best[2], ratio)
	if ratio < 1.8 {
		t.Errorf("two workers are %.2f times as fast as one, want 1.8", ratio)
	}
}

// measured returns how many calls a second so many workers make.
func measured(t *testing.T, temporal string, workers int) float64 {
	t.Helper()
	const runs, calls = 4, 30
	c := newCounter(t, 50*time.Millisecond)
	d := deploy(t, temporal, repeatable, c)
	for range workers {
		d.work("--max-calls", "2")
		defer d.kill()
	}
	for try := 0; c.workers() < workers; try++ { // until all work
		if _, err := d.run(-1, 16); err != nil || try == 20 {
			t.Fatalf("%d of %d workers make calls: %v", c.workers(), workers, err)
		}
	}
	c.forget()
	for i, items := range d.runs(runs, calls) {
		if len(items) != calls || slices.Contains(items, any("unknown")) {
			t.Errorf("run %d ended with %v", i, items)
		}
	}
	return c.rate()
}

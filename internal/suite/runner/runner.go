// Package runner runs the tests of test files: each on a clock of its own, through the
// real engine and the real policies of upstream servers, with mocks in the place of the
// servers.
package runner

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/internal/virtualtime"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// Options are the settings of a run of tests.
type Options struct {
	Getenv   func(string) (string, bool) // required
	Inputs   map[string]string           // of ${input:ID}
	MCPFiles []string                    // further files with servers
	// Read reads test files, configurations and MCPFiles; nil: from disk.
	Read func(path string) ([]byte, error)
	// LockFile is the lock file of all configurations; empty: the one beside each, if it
	// is there. LockRequired makes its absence an error.
	LockFile     string
	LockRequired bool
	// Match selects tests by their name; nil: all.
	Match func(name string) bool
	// Parallel is how many tests run at the same time; 0: as many as there are processors.
	Parallel int
	// FailFast begins no further test after one has failed.
	FailFast bool
	// Strict makes mocks that nobody called a failure.
	Strict bool
	// Update writes snapshots that are new or have changed.
	Update bool
	// Live calls the real servers, in real time; mocks do not answer. Tools that are not
	// marked readOnlyHint are called only with AllowWrites.
	Live, AllowWrites bool
	// Record runs the tests that name a cassette like Live, and writes what went over.
	Record bool
	// Verbose lets results of tests that passed have their walks, too.
	Verbose bool
	// Done is called when a test has ended, by one goroutine at a time, in the order of
	// the files. It may be nil.
	Done func(*Result)

	// DraftPath is where the test file of a draft will be; empty: beside its cassette.
	DraftPath string

	tape *cassette.Cassette // one that need not be saved; nil without
}

func (o Options) read(path string) ([]byte, error) {
	if o.Read != nil {
		return o.Read(path)
	}
	return boundedfile.Read(path)
}

// Loaded are test files that can be run.
type Loaded struct {
	files   []*File
	configs map[string]*config
	lock    string // the path of the lock file; empty: beside each configuration
}

// Load reads test files and compiles their configurations, each once. If ctx ends, the
// rest of them are not read.
func Load(ctx context.Context, paths []string, o Options) *Loaded {
	l := &loader{ctx: ctx, options: o, configs: map[string]*config{}}
	all := &Loaded{configs: l.configs, lock: o.LockFile}
	for _, path := range paths {
		if ctx.Err() != nil {
			break
		}
		all.files = append(all.files, l.load(path))
	}
	return all
}

// Sources returns the texts of all files.
func (l *Loaded) Sources() diag.Sources {
	all := diag.Sources{}
	for _, f := range l.files {
		maps.Copy(all, f.sources)
	}
	return all
}

// Paths returns the paths of the files that decide how the tests end: test files,
// configurations and their lock files, cassettes and snapshots. Not all need to be there.
func (l *Loaded) Paths() []string {
	var paths []string
	for _, f := range l.files {
		paths = append(paths, f.Path)
		if f.file == nil {
			continue
		}
		others := []string{f.snapshots.path}
		for _, t := range f.file.Tests {
			if t.Cassette != "" && !slices.Contains(others, t.Cassette) {
				others = append(others, t.Cassette)
			}
		}
		paths = append(paths, others...)
	}
	for path := range l.configs {
		paths = append(paths, path, cmp.Or(l.lock, lock.Path(path)))
	}
	return paths
}

// Run runs the tests once and returns what came of them. It returns soon after ctx is
// done; tests that have not ended then are not in the report.
func (l *Loaded) Run(ctx context.Context, o Options) *Report {
	began := time.Now()
	r := &Report{Files: l.files, Sources: l.Sources()}
	var all []*job
	for _, f := range l.files {
		if f.failed() {
			continue
		}
		for _, t := range f.file.Tests {
			if (o.Match == nil || o.Match(t.Name)) && (!o.Record || t.Cassette != "") {
				all = append(all, &job{file: f, test: t, done: make(chan *Result, 1)})
			} else {
				f.partial = true
			}
		}
	}
	perform(ctx, all, o, r)
	for _, f := range r.Files {
		f.finish(o)
		if o.Record && ctx.Err() == nil {
			f.Diagnostics = append(f.Diagnostics, f.writeTapes(r.Results)...)
		}
	}
	for _, c := range l.configs {
		if c.engine != nil {
			_ = c.engine.Close() // it has connected to nothing
		}
	}
	r.Elapsed = time.Since(began)
	return r
}

// job is a test to be run.
type job struct {
	file   *File
	test   *suite.Test
	drafts bool         // only to learn what to expect
	done   chan *Result // gets nil if the test was not run
}

// perform runs the jobs side by side and reports them in their order.
func perform(ctx context.Context, jobs []*job, o Options, r *Report) {
	parallel := o.Parallel
	if parallel <= 0 {
		parallel = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var failed atomic.Bool
	var wait sync.WaitGroup
	for range min(parallel, len(jobs)) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				j := jobs[i]
				if ctx.Err() != nil || o.FailFast && failed.Load() {
					j.done <- nil
					continue
				}
				result := j.run(ctx, o)
				if result != nil && result.Status == Failed {
					failed.Store(true)
				}
				j.done <- result
			}
		})
	}
	for _, j := range jobs {
		result := <-j.done
		if result == nil {
			j.file.partial = true
			continue
		}
		j.file.settle(result, o)
		r.add(result)
		if o.Done != nil {
			o.Done(result)
		}
	}
	wait.Wait()
}

// errInterrupted ends tests when the command ends.
var errInterrupted = errors.New("interrupted")

// grace is how long a test may take to stop when its time is over.
const grace = 3 * time.Second

// run runs one test, whatever it does. It returns nil if ctx ended the test.
func (j *job) run(ctx context.Context, o Options) *Result {
	result := &Result{File: j.file.Path, Config: j.file.file.Config, Of: j.file, Test: j.test}
	if j.test.Skip != "" {
		result.Status = Skipped
		return result
	}
	began := time.Now()
	p := &play{job: j, options: o}
	watchdog := time.AfterFunc(j.test.Timeout, func() { p.stop(errTimeout) })
	defer watchdog.Stop()
	unwatch := context.AfterFunc(ctx, func() { p.stop(errInterrupted) })
	defer unwatch()
	ended := make(chan error, 1)
	if o.Live || o.Record {
		live, cancel := context.WithTimeoutCause(ctx, j.test.Timeout, errTimeout)
		defer cancel()
		go func() { p.live(live); ended <- nil }()
	} else {
		go func() { ended <- virtualtime.Run(p.run) }()
	}
	abandon := time.NewTimer(j.test.Timeout + grace)
	defer abandon.Stop()
	select {
	case err := <-ended:
		if result.Outcome = p.outcome; len(result.Problems) > 0 {
			result.Status = Failed
		}
		if err != nil {
			result.fail(j.broken(err))
		}
	case <-abandon.C:
		result.fail(p.timedOut())
	}
	if cause := p.stopped.Load(); cause != nil && errors.Is(*cause, errInterrupted) {
		return nil
	}
	result.Elapsed = time.Since(began)
	return result
}

// broken is the problem of a test that ended without an outcome.
func (j *job) broken(err error) Problem {
	message := "the test was stopped: " + err.Error()
	var panicked *virtualtime.PanicError
	detail := ""
	if errors.As(err, &panicked) {
		message, detail = "the test stopped with an "+err.Error()+"; please report it", string(panicked.Stack)
	}
	return Problem{Diagnostic: j.test.Node.Get("name").Problem(CodeTestFailed, message), Detail: detail}
}

// quiet drops the log records of runs.
var quiet = slog.New(slog.DiscardHandler)

// compile returns the engine of a configuration. It never connects to a server.
func compile(ctx context.Context, path string, o Options) (*engine.Engine, error) {
	e, err := engine.New(ctx, path, engine.Options{
		Getenv: o.Getenv, Inputs: o.Inputs, MCPFiles: o.MCPFiles, Read: o.read,
		Lock: engine.LockOptions{Path: o.LockFile, Required: o.LockRequired},
		Log:  quiet, Runs: runs.New(runs.Limits{Count: runs.None}), AllowUnset: !o.Live && !o.Record,
	})
	if err != nil {
		return nil, err
	}
	// What a delay varies by at random would make each run of a test another one.
	for _, u := range e.Current().Set().File.Upstreams {
		if u.Retry != nil && u.Retry.Jitter {
			steady := *u.Retry
			steady.Jitter = false
			u.Retry = &steady
		}
	}
	return e, nil
}

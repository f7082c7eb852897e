package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// memoryLimit bounds what one test may hold, in bytes.
const memoryLimit = 1 << 30

// errTimeout ends a test that takes too long.
var errTimeout = errors.New("the test took longer than its timeoutMs")

// play is one run of a test. All but stopped and outcome belongs to its bubble.
type play struct {
	*job
	options Options
	// stopped is why the test must end; it is set from outside of the bubble. In the
	// bubble, each step checks it, because a context of the bubble must not be ended from outside.
	stopped atomic.Pointer[error]
	outcome Outcome

	ctx    context.Context
	cancel context.CancelCauseFunc
	real   bool          // no bubble: real servers and real time
	busy   atomic.Bool   // somebody was called or asked
	turn   chan struct{} // held by the task that waits until all others wait
	stage  *stage
	walk   *walk
}

// stop makes the test end for a cause.
func (p *play) stop(cause error) { p.stopped.CompareAndSwap(nil, &cause) }

// check ends the test if it has to end.
func (p *play) check() error {
	if cause := p.stopped.Load(); cause != nil {
		p.cancel(*cause)
		return *cause
	}
	return nil
}

// timedOut is the problem of a test that took too long.
func (p *play) timedOut() Problem {
	return Problem{Diagnostic: p.test.Node.Get("name").Problem(CodeTestFailed,
		fmt.Sprintf("the test took longer than %v of real time (timeoutMs)", p.test.Timeout))}
}

// processor looks while expressions compute whether the test has to end.
type processor struct{ *play }

var _ expr.Processor = processor{}

func (p processor) Yield(context.Context) { _ = p.check() }

func (processor) Release() {}

func (processor) Acquire(context.Context) (end func()) { return func() {} }

// gate makes tasks that are ready at the same time begin in an order that is always the
// same: each begins when everything else waits.
func (p *play) gate(_ context.Context, _ *executor.Run, t executor.Task) error {
	if !p.busy.Load() {
		n := t.Node()
		p.busy.Store(n.Server != "" || n.Kind.Asks != "")
		return p.check() // one goroutine alone does tasks before the first call
	}
	p.turn <- struct{}{}
	synctest.Wait()
	<-p.turn
	return p.check()
}

// run runs the test in its bubble.
func (p *play) run() {
	t := p.test
	time.Sleep(time.Until(t.Now))
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	defer p.cancel(nil)
	p.turn = make(chan struct{}, 1)
	p.stage, p.walk = newStage(p), newWalk(p.file.config.engine.Current().Set())
	program := p.file.config.engine.Current()
	e := program.Fork(engine.Options{
		Getenv: func(string) (string, bool) { return "", false }, Log: quiet,
		Runs: runs.New(runs.Limits{Count: runs.None}), Memory: memory.New(memoryLimit), Intercept: p.stage.exchange,
		Repeatable: func(server, tool string) bool { return repeatable(program, server, tool) },
	})
	defer e.Close()
	if tape := p.file.tapes[t]; tape != nil {
		p.stage.player = tape.cassette.Play(t.Name, tape.paths, e.Redact)
	}
	p.perform(e.Current())
}

// repeatable reports whether the lock file of a configuration says that a tool may be
// called twice, as its server does in service.
func repeatable(program *engine.Program, server, tool string) bool {
	locked := program.Lock().Tool(server, tool)
	if locked == nil {
		return false
	}
	return locked.Annotations.Get("readOnlyHint").Bool() || locked.Annotations.Get("idempotentHint").Bool()
}

// perform makes the call and compares what came of it.
func (p *play) perform(program *engine.Program) {
	began := time.Now()
	result, err := p.call(program)
	p.outcome.Duration = time.Since(began)
	p.finish(result, err)
}

func (p *play) call(program *engine.Program) (value.Value, error) {
	t := p.test
	if err := p.checkScopes(program); err != nil {
		return value.Undef, err
	}
	info := &callinfo.Info{Meta: t.Meta}
	if t.Caller != nil {
		info.Caller = t.Caller.Name
	}
	for _, h := range t.Headers {
		if info.Header == nil {
			info.Header = http.Header{}
		}
		info.Header.Add(h.Name, h.Value)
	}
	o := engine.CallOptions{
		Hooks: []executor.Hooks{p.walk.hooks()}, Ask: p.stage.ask, Seed: &t.Seed,
		Processor: func() expr.Processor { return processor{p} },
	}
	if !p.real {
		o.Gate = p.gate
	}
	result, err := program.Call(p.ctx, info, t.Tool, t.Arguments, o)
	if result == nil {
		return value.Undef, err
	}
	return result.Value, err
}

// checkScopes refuses the call as a server does if the caller lacks a scope.
func (p *play) checkScopes(program *engine.Program) error {
	g, err := program.Graph(p.test.Tool)
	if err != nil || p.test.Caller == nil || p.test.Caller.Scopes == nil {
		return err
	}
	var missing []string
	for _, scope := range g.RequiredScopes {
		if !slices.Contains(p.test.Caller.Scopes, scope) {
			missing = append(missing, scope)
		}
	}
	if missing == nil {
		return nil
	}
	return &graph.Failure{Name: insufficientScope, Message: fmt.Sprintf("tool %q needs the scope %s", g.Name, strings.Join(missing, " "))}
}

// insufficientScope names the failure of a call without the scopes of its tool, as in
// RFC 6750, section 3.1.
const insufficientScope = "insufficient_scope"

// evaluation is what the expressions of the test are evaluated with.
func (p *play) evaluation() suite.Evaluation { return suite.Evaluation{Processor: processor{p}} }

// stage is what stands for the world around the run: mocks and people.
type stage struct {
	play   *play
	player *cassette.Player           // nil without a cassette
	engine *engine.Engine             // of a live test
	safe   map[string]map[string]bool // tools that only read, by server

	mu         sync.Mutex
	calls      []value.Value  // upstream calls in their order
	dropped    int            // calls that are not kept
	used       []int          // how often each mock was called
	answered   map[string]int // questions, by node
	unanswered []Problem
	wakes      map[time.Time]bool // instants at which a reply comes
}

// maxCalls bounds the upstream calls of a test that are kept to be compared.
const maxCalls = 100_000

func newStage(p *play) *stage {
	return &stage{play: p, used: make([]int, len(p.test.Mocks)), answered: map[string]int{}, wakes: map[time.Time]bool{}, safe: map[string]map[string]bool{}}
}

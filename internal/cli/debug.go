package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/console"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// debugTool runs a tool under the debugger on the terminal.
func debugTool(a *app, o runOptions) (err error) {
	ctx, stop := a.untilOneOf(syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	r, err := newToolRunner(a, o)
	if err != nil {
		return err
	}
	defer r.end(&err)
	result, err := debugRun(ctx, r)
	if err != nil {
		return err
	}
	return failed(writeAll(a.stdout, append(result.Append(nil), '\n')))
}

// errStopped is the error of a run that was stopped in the debugger.
var errStopped = errors.New("the run was stopped")

func debugRun(ctx context.Context, r *toolRunner) (value.Value, error) {
	p, err := r.prepare(ctx)
	if err != nil {
		return value.Undef, err
	}
	interrupts, ended := interrupts(r.app)
	defer ended()
	s, err := r.engine.Debug(ctx, r.tool, p.args, mcpgraph.WithCallInfo(p.info), mcpgraph.WithDebug(debug.Options{
		StartPaused: true, BreakOn: debug.BreakOn{Failure: debug.BreakOnUncaught},
	}))
	if err != nil {
		return value.Undef, r.explained(ctx, err)
	}
	_, sources := r.engine.Diagnostics()
	err = console.Run(ctx, s, console.Options{
		In: r.stdin, Out: r.stderr, Interactive: newPrompt(r.app).possible(), Width: r.width(r.stderr),
		Interrupts: interrupts, Sources: sources, Clean: visible, Answer: p.questions.answer,
	})
	result, wrong := s.Wait(context.WithoutCancel(ctx))
	switch {
	case interrupted(ctx) != nil:
		return value.Undef, interrupted(ctx)
	case err != nil:
		return value.Undef, failed(err)
	case s.State().Status == debug.StatusStopped:
		return value.Undef, &exitError{exitProblems, errStopped}
	}
	if r.recorder != nil {
		if err := keepRecording(ctx, r, p.info, p.args); err != nil {
			return value.Undef, err
		}
	}
	return result, r.explained(ctx, wrong)
}

// answer answers a question from --answer, or else at the prompt of the debugger.
func (s *answers) answer(ctx context.Context, q executor.Question, line func(context.Context, string) (string, error)) (value.Value, error) {
	own := &answers{app: s.app, given: s.given, prompt: promptOf(line)}
	return own.ask(ctx, q)
}

// promptOf is a lineReader that somebody answers.
type promptOf func(context.Context, string) (string, error)

func (promptOf) possible() bool { return true }

func (f promptOf) line(ctx context.Context, question string) (string, error) { return f(ctx, question) }

// interrupts returns what tells of Ctrl-C. If nobody takes note of it, or after ended
// was called, it ends the process.
func interrupts(a *app) (interrupts <-chan struct{}, ended func()) {
	signals, told := make(chan os.Signal, 1), make(chan struct{}, 2)
	var over atomic.Bool
	signal.Notify(signals, os.Interrupt)
	go func() {
		for s := range signals {
			select {
			case told <- struct{}{}:
				if !over.Load() {
					continue
				}
			default:
			}
			fmt.Fprintln(a.stderr)
			Exit(killedBy(s))
		}
	}()
	return told, func() { over.Store(true) }
}

package serving

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// reports returns hooks that report each node as it finishes to the client of a
// call, as progress and log messages; nil if the client asked for neither.
func reports(p *engine.Program, of *server.Request) []executor.Hooks {
	r := of.Reporter()
	progress, level := r.WantsProgress(), r.LogLevel()
	if !progress && level == "" {
		return nil
	}
	var known atomic.Bool
	return []executor.Hooks{{
		NodeStart: func(ctx context.Context, run *executor.Run, _ executor.Task) (context.Context, error) {
			if progress && !known.Swap(true) {
				r.Doing(func() string { return waitsFor(run) })
			}
			return ctx, nil
		},
		NodeDone: func(_ context.Context, run *executor.Run, rec executor.Record) {
			switch {
			case !progress:
			case rec.Frame == "":
				r.Step(stepsLeft(run.Graph(), rec), progressMessage(rec))
			case rec.Edge == graph.NoEdge && !strings.Contains(rec.Frame, "/"):
				// A node counts once, whatever runs in it. This was the end of a body.
				if ended, all := run.Bodies(); all > 0 {
					r.Progress("bodies", float64(min(ended+1, all)), float64(all), progressMessage(rec))
				}
			}
			if rec.Err != nil || level == "debug" {
				r.Log(logMessage(p, &of.Info, run.Graph().Name, rec))
			}
		},
	}}
}

// stepsLeft returns how many executions will follow one of g; -1 if that is not
// known.
func stepsLeft(g *graph.Graph, rec executor.Record) int {
	switch {
	case rec.Err != nil:
		return -1
	case rec.Edge == graph.NoEdge:
		return 0
	}
	if way := g.Node(rec.Node).Way(rec.Edge); !way.Catch && way.To.Steps > 0 {
		return way.To.Steps
	}
	return -1
}

// waitsFor says what a run waits for now.
func waitsFor(run *executor.Run) string {
	const most = 100
	active := run.Active(most)
	if len(active) == 0 {
		return "still at work"
	}
	a := active[len(active)-1] // what is innermost
	node := fmt.Sprintf("node %q (%s)", a.Path, a.Kind)
	if a.Tool != "" {
		node = fmt.Sprintf("node %q (%s, tool %q of server %q)", a.Path, a.Kind, a.Tool, a.Server)
	}
	if a.State == "asking" {
		return "waiting for an answer to " + node
	}
	return "waiting for " + node
}

func progressMessage(rec executor.Record) string {
	text := fmt.Sprintf("node %q (%s)", rec.NodePath(), rec.Kind)
	if rec.Err != nil {
		text += " failed"
	}
	return text
}

// logMessage returns the parameters of the log message about an execution: of
// level error if it failed, else debug.
func logMessage(p *engine.Program, info *callinfo.Info, tool string, rec executor.Record) value.Value {
	data := value.NewBuilder(6)
	data.Set("tool", value.FromString(tool))
	data.Set("node", value.FromString(rec.Node))
	if rec.Path != "" {
		data.Set("path", value.FromString(rec.NodePath()))
	}
	data.Set("type", value.FromString(rec.Kind))
	data.Set("execution", value.FromFloat(float64(rec.Index)))
	data.Set("milliseconds", value.FromFloat(float64(rec.End.Sub(rec.Start).Round(time.Microsecond))/float64(time.Millisecond)))
	level := "debug"
	if rec.Err != nil {
		level = "error"
		data.Set("error", value.FromString(p.Redact(info, rec.Err.Error())))
	}
	message := value.NewBuilder(3)
	message.Set("level", value.FromString(level))
	message.Set("logger", value.FromString("mcpgraph"))
	message.Set("data", data.Value())
	return message.Value()
}

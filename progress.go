package mcpgraph

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// tell gives what tells the client of a call of each node as it finishes, with
// progress and log messages; nil where the client asked for neither.
func (p *program) tell(r *server.Reporter) []CallOption {
	progress, level := r.WantsProgress(), r.LogLevel()
	if !progress && level == "" {
		return nil
	}
	return []CallOption{WithCallHooks(executor.Hooks{
		NodeDone: func(ctx context.Context, run *executor.Run, rec executor.Record) {
			if progress {
				r.Step(stepsLeft(run.Graph(), rec), progressMessage(rec))
			}
			if rec.Err != nil || level == "debug" {
				r.Log(p.logMessage(ctx, run.Graph().Name, rec))
			}
		},
	})}
}

// stepsLeft says how many executions will follow one of g; -1 where that is not
// known.
func stepsLeft(g *graph.Graph, rec executor.Record) int {
	switch {
	case rec.Err != nil:
		return -1
	case rec.Edge == graph.NoEdge:
		return 0
	}
	if steps := g.Node(rec.Node).Edges[rec.Edge].To.Steps; steps > 0 {
		return steps
	}
	return -1
}

func progressMessage(rec executor.Record) string {
	text := fmt.Sprintf("node %q (%s)", rec.Node, rec.Kind)
	if rec.Err != nil {
		text += " failed"
	}
	return text
}

// logMessage gives the parameters of the log message about an execution: of
// level error where it failed, else debug.
func (p *program) logMessage(ctx context.Context, tool string, rec executor.Record) value.Value {
	data := value.NewBuilder(6)
	data.Set("tool", value.FromString(tool))
	data.Set("node", value.FromString(rec.Node))
	data.Set("type", value.FromString(rec.Kind))
	data.Set("execution", value.FromFloat(float64(rec.Index)))
	data.Set("milliseconds", value.FromFloat(float64(rec.End.Sub(rec.Start).Round(time.Microsecond))/float64(time.Millisecond)))
	level := "debug"
	if rec.Err != nil {
		level = "error"
		data.Set("error", value.FromString(p.clean(ctx, rec.Err.Error())))
	}
	message := value.NewBuilder(3)
	message.Set("level", value.FromString(level))
	message.Set("logger", value.FromString("mcpgraph"))
	message.Set("data", data.Value())
	return message.Value()
}

package executor

import (
	"fmt"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// LimitError is returned if a run exceeded one of its limits; the fields of the
// other limits are zero.
type LimitError struct {
	// MaxExecutions is the limit of one walk, MaxTotal that of all.
	MaxExecutions, MaxTotal, Executions int
	MaxTime, Elapsed                    time.Duration
	MaxDepth                            int
}

func (e *LimitError) Error() string {
	const exceeded = "Execution limit exceeded: "
	switch {
	case e.MaxTime > 0:
		return fmt.Sprintf(exceeded+"maximum execution time (%dms) reached. Elapsed time: %dms",
			e.MaxTime.Milliseconds(), e.Elapsed.Milliseconds())
	case e.MaxTotal > 0:
		return fmt.Sprintf(exceeded+"maximum total executions (%d) reached. Current execution count: %d", e.MaxTotal, e.Executions)
	case e.MaxDepth > 0:
		return fmt.Sprintf(exceeded+"maximum depth of called tools (%d) reached", e.MaxDepth)
	}
	return fmt.Sprintf(exceeded+"maximum node executions (%d) reached. Current execution count: %d",
		e.MaxExecutions, e.Executions)
}

// FailureName returns the name of the failure, which nothing handles.
func (e *LimitError) FailureName() string { return graph.FailLimit }

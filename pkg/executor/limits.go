package executor

import (
	"fmt"
	"time"
)

// LimitError says that a run exceeded one of its limits; the fields of the
// other are zero.
type LimitError struct {
	MaxExecutions, Executions int
	MaxTime, Elapsed          time.Duration
}

func (e *LimitError) Error() string {
	if e.MaxTime > 0 {
		return fmt.Sprintf("Execution limit exceeded: maximum execution time (%dms) reached. Elapsed time: %dms",
			e.MaxTime.Milliseconds(), e.Elapsed.Milliseconds())
	}
	return fmt.Sprintf("Execution limit exceeded: maximum node executions (%d) reached. Current execution count: %d",
		e.MaxExecutions, e.Executions)
}

package scheduler_test

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/scheduler"
)

func ExampleScheduler_Task() {
	task := scheduler.New().Task("ann")
	defer task.Release()
	for range 3 {
		// Here goes a part of the work; then others may have their turn.
		task.Yield(context.Background())
	}
	fmt.Println("done")
	// Output: done
}

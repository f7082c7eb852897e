package exporters_test

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/telemetry/exporters"
)

func ExampleFromEnvironment() {
	out, err := exporters.FromEnvironment(context.Background(), exporters.Options{Version: "1", Prometheus: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer out.Shutdown(context.Background())
	fmt.Println("a page of metrics:", out.Page != nil)
	// Output: a page of metrics: true
}

package upstream_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func ExamplePool_CallTool() {
	pool := upstream.New([]*config.Upstream{{Name: "files", Transport: config.Stdio, Command: "no-such-program"}}, upstream.Options{})
	defer pool.Close(context.Background())
	result, err := pool.CallTool(context.Background(), nil, "files", "list", value.FromEntries(nil))
	var failed *upstream.Error
	if errors.As(err, &failed) {
		fmt.Printf("%s of server %q failed\n", failed.Op, failed.Server)
		return
	}
	fmt.Println(result.Value.JSON())
	// Output: start of server "files" failed
}

package expr_test

import (
	"context"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func ExampleCompileJSONata() {
	program, err := expr.CompileJSONata(`$.count.n + $executionCount("count")`)
	if err != nil {
		panic(err)
	}
	for _, ref := range program.Refs() {
		fmt.Println("reads", ref.Node)
	}
	// Output:
	// reads count
	// reads count
}

func ExampleCompileLogic() {
	rule, err := value.Parse(`{">": [{"+": [2, 3]}, 4]}`)
	if err != nil {
		panic(err)
	}
	program, errs := expr.CompileLogic(rule)
	if len(errs) > 0 {
		panic(errs[0])
	}
	fmt.Println(program.Test(context.Background(), nil))
	// Output: true <nil>
}

package jsonata_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func Example() {
	expr, err := jsonata.Compile(`items[price > 2].{"name": name, "total": price * count}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	order, err := value.Parse(`{"items": [{"name": "tea", "price": 3.5, "count": 2}, {"name": "cup", "price": 1, "count": 4}]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := expr.Eval(context.Background(), order, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.JSON())
	// Output: {"name":"tea","total":7}
}

func ExampleWithFunctions() {
	greet := jsonata.Function{
		Name:      "greet",
		Signature: "<s:s>",
		Call: func(_ *jsonata.Call, args []value.Value) (value.Value, error) {
			return value.FromString("Hello, " + args[0].Str() + "!"), nil
		},
	}
	expr, err := jsonata.Compile(`names ~> $map($greet)`, jsonata.WithFunctions(greet))
	if err != nil {
		fmt.Println(err)
		return
	}
	names, err := value.FromAny(map[string]any{"names": []any{"Ann", "Bob"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := expr.Eval(context.Background(), names, nil)
	fmt.Println(result.JSON(), err)
	// Output: ["Hello, Ann!","Hello, Bob!"] <nil>
}

func ExampleOptions() {
	expr, err := jsonata.Compile(`$price * 1.2`)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := expr.Eval(context.Background(), value.Undef, &jsonata.Options{
		Vars:   []value.Entry{{Key: "price", Value: value.FromFloat(10)}},
		Limits: jsonata.Limits{Steps: 1000},
	})
	fmt.Println(result.JSON(), err)
	// Output: 12 <nil>
}

func ExampleError() {
	_, err := jsonata.Compile(`items[price >]`)
	var e *jsonata.Error
	if errors.As(err, &e) {
		fmt.Printf("%s at byte %d: %s\n", e.Code, e.Offset, e.Message)
	}
	// Output: S0211 at byte 13: expected a value, found ]
}

func ExampleExpr_Refs() {
	expr, err := jsonata.Compile(`$.order.lines.price ~> $sum`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ref := range expr.Refs() {
		if ref.Kind == jsonata.PathRef {
			fmt.Println(ref.Path)
		}
	}
	// Output: [order lines price]
}

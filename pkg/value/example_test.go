package value_test

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func ExampleParse() {
	v, err := value.Parse(`{"b": 12345678901234567890, "a": [1, null]}`)
	if err != nil {
		panic(err)
	}
	fmt.Println(v.Get("a").Len(), v.Get("none").IsUndefined())
	fmt.Println(v.JSON()) // keys in their order, integers exact
	// Output:
	// 2 true
	// {"b":12345678901234567890,"a":[1,null]}
}

func ExampleValue_Preview() {
	fmt.Println(value.FromString("a long text").Preview(7))
	// Output: "a long … (cut)
}

package graph_test

import (
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func BenchmarkValidate(b *testing.B) {
	for _, c := range []struct{ name, schema, value string }{
		{"small", `{type: object, properties: {directory: {type: string}}, required: [directory]}`, `{"directory":"/data"}`},
		{"any", `{type: object}`, `{"directory":"/data","list":[1,2,3]}`},
	} {
		s := schema(b, c.schema)
		v, err := value.Parse(c.value)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Validate(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

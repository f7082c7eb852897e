package scaffold

import (
	"math"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// maxSample bounds the depth of a sample.
const maxSample = 6

// maxSampleText is how long the text of a sample may be, in bytes.
const maxSampleText = 200

// sample returns a value that probably fits a schema: required properties, and with
// all also the others. What it cannot tell is a simple value of the right type.
func sample(schema value.Value, all bool) value.Value {
	s := &sampler{root: schema, all: all}
	if v := s.value(schema, 0); !all || fits(schema, v) {
		return v
	}
	s.all = false
	return s.value(schema, 0)
}

type sampler struct {
	root value.Value
	all  bool
}

func (s *sampler) value(schema value.Value, depth int) value.Value {
	schema = schematext.Resolve(s.root, schema)
	for _, key := range []string{"const", "default"} {
		if v := schema.Get(key); !v.IsUndefined() {
			return v
		}
	}
	for _, key := range []string{"enum", "examples"} {
		if list := schema.Get(key).Elems(); len(list) > 0 {
			return list[0]
		}
	}
	kind := ""
	for _, t := range schematext.Types(s.root, schema) {
		if kind == "" || kind == "null" {
			kind = t
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		for _, one := range schema.Get(key).Elems() {
			if one = schematext.Resolve(s.root, one); schema.Get("type").IsUndefined() && one.Get("type").Str() != "null" && depth < maxSample {
				return s.value(one, depth+1)
			}
		}
	}
	switch kind {
	case "string":
		return value.FromString(sampleText(schema))
	case "integer", "number":
		return sampleNumber(schema, kind == "integer")
	case "boolean":
		return value.True
	case "array":
		return s.list(schema, depth)
	case "null":
		return value.NullValue
	case "object":
		return s.object(schema, depth)
	}
	if !schema.Get("properties").IsUndefined() {
		return s.object(schema, depth)
	}
	return value.FromString("text")
}

func (s *sampler) list(schema value.Value, depth int) value.Value {
	n := 0
	if low := schema.Get("minItems"); low.Kind() == value.Number {
		n = int(math.Min(low.Float(), 10))
	}
	if s.all && depth < maxSample {
		n = max(n, 1)
	}
	var list []value.Value
	for range n {
		list = append(list, s.value(schema.Get("items"), depth+1))
	}
	return value.FromArray(list)
}

func (s *sampler) object(schema value.Value, depth int) value.Value {
	b := value.NewBuilder(4)
	required := map[string]bool{}
	for _, name := range schema.Get("required").Elems() {
		required[name.Str()] = true
	}
	for _, p := range schema.Get("properties").Entries() {
		if depth < maxSample && (required[p.Key] || s.all && depth < 3) {
			b.Set(p.Key, s.value(p.Value, depth+1))
		}
	}
	return b.Value()
}

var formats = map[string]string{
	"date-time": "2026-01-01T00:00:00Z", "date": "2026-01-01", "time": "00:00:00Z", "duration": "PT1S",
	"uri": "https://example.com", "url": "https://example.com", "email": "someone@example.com",
	"hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uuid": "00000000-0000-4000-8000-000000000000",
}

func sampleText(schema value.Value) string {
	text := "text"
	if known := formats[schema.Get("format").Str()]; known != "" {
		return known
	}
	if low := schema.Get("minLength"); low.Kind() == value.Number && low.Float() > float64(len(text)) {
		text = strings.Repeat("x", int(math.Min(low.Float(), maxSampleText)))
	}
	if high := schema.Get("maxLength"); high.Kind() == value.Number && high.Float() >= 0 && high.Float() < float64(len(text)) {
		text = text[:int(high.Float())]
	}
	return text
}

func sampleNumber(schema value.Value, whole bool) value.Value {
	n := 1.0
	for _, bound := range []struct {
		key  string
		step float64
	}{{"minimum", 0}, {"exclusiveMinimum", 1}} {
		if low := schema.Get(bound.key); low.Kind() == value.Number {
			n = math.Max(n, low.Float()+bound.step)
		}
	}
	for _, bound := range []struct {
		key  string
		step float64
	}{{"maximum", 0}, {"exclusiveMaximum", 1}} {
		if high := schema.Get(bound.key); high.Kind() == value.Number {
			n = math.Min(n, high.Float()-bound.step)
		}
	}
	if step := schema.Get("multipleOf"); step.Kind() == value.Number && step.Float() > 0 {
		n = math.Ceil(n/step.Float()) * step.Float()
	}
	if whole {
		n = math.Round(n)
	}
	return value.FromFloat(n)
}

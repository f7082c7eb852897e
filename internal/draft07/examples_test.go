package draft07_test

import (
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/draft07"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestExamplesAreTakenFromSamples(t *testing.T) {
	inner := draft07.NewMap()
	inner.Add("depth", nil, true, draft07.Described("How deep", draft07.Type("integer")))
	inner.Add("again", nil, false, draft07.Described("Once more", draft07.Pointer("inner")))
	root := draft07.NewMap()
	root.Add("name", []string{"title"}, false, draft07.Described("Its name", draft07.Type("string")))
	root.Add("one", nil, false, draft07.Described("One or a list", draft07.AnyOf(draft07.Pointer("inner"), draft07.List(draft07.Pointer("inner")))))
	root.Add("other", nil, false, draft07.Described("Entries", draft07.Entries(draft07.Pointer("innerToo"))))
	definitions := value.NewBuilder(2)
	definitions.Set("inner", inner.Schema())
	definitions.Set("innerToo", inner.Schema())
	schema := draft07.Document("https://example.com/s.json", "a title", root.Schema(), definitions)
	samples := []value.Value{
		parse(t, `{"name":"a","one":{"depth":1,"again":{"depth":2}}}`),
		parse(t, `{"name":"a","title":"b","one":[{"depth":3},{"depth":4}],"unknown":1}`),
		parse(t, `{"other":{"x":{"depth":9}}}`),
	}
	alike := func(string) string { return "inner" }
	got := draft07.WithExamples(schema, samples, alike)
	for place, want := range map[string]string{
		"name":     `["a"]`,
		"title":    `["b"]`,
		"one":      `[{"depth":1,"again":{"depth":2}},[{"depth":3},{"depth":4}]]`,
		"other":    `[{"x":{"depth":9}}]`,
		"notThere": ``,
	} {
		if examples := got.Get("properties").Get(place).Get("examples"); examples.JSON() != want && (want != "" || !examples.IsUndefined()) {
			t.Errorf("examples of %s are %s, want %s", place, examples.JSON(), want)
		}
	}
	for definition, want := range map[string]string{
		"inner":    `{"depth":[1,2,3],"again":[{"depth":2}]}`,
		"innerToo": `{"depth":[9],"again":[{"depth":2}]}`, // from the definition that is alike
	} {
		properties := got.Get("definitions").Get(definition).Get("properties")
		has := value.ObjectOf("depth", properties.Get("depth").Get("examples"), "again", properties.Get("again").Get("examples"))
		if has.JSON() != want {
			t.Errorf("examples of %s are %s, want %s", definition, has.JSON(), want)
		}
	}
	if got.Get("$id").Str() != "https://example.com/s.json" {
		t.Errorf("$id is %s", got.Get("$id").JSON())
	}
}

func TestLongExamplesAreTheLastResort(t *testing.T) {
	long := `"` + strings.Repeat("0123456789", 10) + `"`
	root := draft07.NewMap()
	root.Add("a", nil, false, draft07.Type("string"))
	root.Add("b", nil, false, draft07.Type("string"))
	schema := draft07.Document("https://example.com/s.json", "a title", root.Schema(), value.NewBuilder(0))
	got := draft07.WithExamples(schema, []value.Value{
		parse(t, `{"a":`+long+`,"b":`+long+`}`), parse(t, `{"a":"short"}`),
	}, func(d string) string { return d })
	properties := got.Get("properties")
	if a, b := properties.Get("a").Get("examples").JSON(), properties.Get("b").Get("examples").JSON(); a != `["short"]` || b != "["+long+"]" {
		t.Errorf("examples are %s and %s", a, b)
	}
}

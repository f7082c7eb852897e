package graph

import (
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestCallsAreFoundByTheirArguments(t *testing.T) {
	t.Parallel()
	parse := func(text string) value.Value {
		v, err := value.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	calls := &toolCalls{}
	for i, args := range []string{`{"n": 9007199254740993}`, `{"n": 1, "t": "a"}`, `{"n": 2, "t": "a"}`} {
		calls.args, calls.results = append(calls.args, parse(args)), append(calls.results, value.FromInt(int64(i)))
	}
	for _, c := range []struct{ args, want string }{
		{`{"n": 9007199254740993}`, "0"}, {`{"t": "a", "n": 1}`, "1"}, {`{"n": 2, "t": "a"}`, "2"}, {`{"n": 1, "t": "a"}`, "1"},
		{`{"n": 9007199254740992}`, "none"}, {`{"n": 3, "t": "a"}`, "none"}, {`{"n": 9007199254740993}`, "0"},
	} {
		got := "none"
		if v, ok := calls.find(parse(c.args)); ok {
			got = v.JSON()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.args, got, c.want)
		}
	}
}

package serving

import (
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func question(id, node, method string, approval bool) runs.Question {
	return runs.Question{ID: id, Method: method, Node: node, Approval: approval}
}

func TestQuestionsAreNamedByTheirNodes(t *testing.T) {
	for _, test := range []struct{ ids, nodes, want []string }{
		{[]string{":1"}, []string{"name"}, []string{"name"}},
		{[]string{"1.0:0", "1.1:0", ":2"}, []string{"each", "each", "one"}, []string{"1.0:0", "1.1:0", "one"}},
		{[]string{":1", "1.0:0"}, []string{"1.0:0", "b"}, []string{":1", "b"}},
	} {
		var all []runs.Question
		for i, id := range test.ids {
			all = append(all, question(id, test.nodes[i], graph.AskPerson, false))
		}
		if got := namesOf(all); !slices.Equal(got, test.want) {
			t.Errorf("%q %q: %q, want %q", test.ids, test.nodes, got, test.want)
		}
	}
}

func TestAnswersOfTheFirstCallAreForOneQuestionEach(t *testing.T) {
	responses, err := value.Parse(`{"sure":{"action":"accept"},"think":{"content":{"type":"text","text":"a"}},"where":7}`)
	if err != nil {
		t.Fatal(err)
	}
	given := newAnswers(responses)
	for i, test := range []struct {
		q     runs.Question
		taken bool
	}{
		{question("1", "sure", graph.AskPerson, true), false}, // nobody has seen the arguments
		{question("1", "sure", graph.AskPerson, false), true},
		{question("2", "sure", graph.AskPerson, false), false}, // it was used
		{question("3", "think", graph.AskRoots, false), false},
		{question("3", "think", graph.AskModel, false), true},
		{question("4", "where", graph.AskRoots, false), false}, // it has another form
		{question("5", "other", graph.AskPerson, false), false},
	} {
		if _, taken := given.take(test.q.Node, test.q); taken != test.taken {
			t.Errorf("question %d: %v", i, taken)
		}
	}
	if _, taken := newAnswers(value.Undef).take("sure", question("1", "sure", graph.AskPerson, false)); taken {
		t.Error("an answer out of nothing")
	}
}

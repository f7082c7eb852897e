package serving

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// answers are answers by the name of the question, each for one use.
type answers map[string]value.Value

func newAnswers(responses value.Value) answers {
	if responses.Len() == 0 {
		return nil
	}
	given := answers{}
	for _, e := range responses.Entries() {
		given[e.Key] = e.Value
	}
	return given
}

// take returns the answer to a question, if there is one that can be its answer.
// Nobody approves a call whose arguments are not known yet.
func (a answers) take(name string, q runs.Question) (value.Value, bool) {
	v, ok := a[name]
	if !ok || q.Approval || graph.CheckAnswer(q.Method, v) != nil {
		return value.Undef, false
	}
	delete(a, name)
	return v, true
}

// maxRequests bounds the questions of one answer, in bytes. Further ones are asked
// once these are answered.
const maxRequests = 4 << 20

// requestsOf returns the requests that ask the questions, as clients get them.
func requestsOf(questions []runs.Question, names []string) value.Value {
	b, size := value.NewBuilder(len(questions)), 0
	for i, q := range questions {
		if size += q.Params.TextSize(); size > maxRequests && i > 0 {
			break
		}
		request := value.NewBuilder(2)
		request.Set("method", value.FromString(q.Method))
		request.Set("params", q.Params)
		b.Set(names[i], request.Value())
	}
	return b.Value()
}

// namesOf returns the names of questions as the client sees them: the id of the node
// or, where a node asks several questions, what tells them apart.
func namesOf(questions []runs.Question) []string {
	times := map[string]int{}
	for _, q := range questions {
		times[q.Node]++
		times[q.ID]++
	}
	names := make([]string, len(questions))
	for i, q := range questions {
		if names[i] = q.ID; times[q.Node] == 1 {
			names[i] = q.Node
		}
	}
	return names
}

// uniqueNamesOf returns names of questions that no other question of the run has: who
// can answer twice must not answer the next question.
func uniqueNamesOf(questions []runs.Question) []string {
	names := make([]string, len(questions))
	for i, q := range questions {
		if names[i] = q.Node + q.ID; !strings.HasPrefix(q.ID, ":") {
			names[i] = q.Node + "@" + q.ID
		}
	}
	return names
}

// MaxInput bounds the answers of one request, in bytes.
const MaxInput = 1 << 20

// checkSize returns a *server.InvalidParamsError if the answers of one request are
// longer together than MaxInput.
func checkSize(responses value.Value) error {
	if !responses.LongerThan(MaxInput) {
		return nil
	}
	return &server.InvalidParamsError{Message: fmt.Sprintf("inputResponses have %d bytes; at most %d are accepted", responses.TextSize(), MaxInput)}
}

// responses returns the answers of a call, undefined if it has none. They outlive the
// request, whose memory is given back.
func responses(r *server.Request) (value.Value, error) {
	v := r.Responses()
	if v.IsUndefined() {
		return v, nil
	}
	if err := checkSize(v); err != nil {
		return value.Undef, err
	}
	return v.Apart(), nil
}

// checked returns an answer, or the failure of one that has not the form of an answer.
func checked(q runs.Question, answer value.Value) (value.Value, error) {
	if wrong := graph.CheckAnswer(q.Method, answer); wrong != nil {
		return value.Undef, wrong
	}
	return answer, nil
}

// digestOfQuestions returns what tells questions from all others of their run.
func digestOfQuestions(questions []runs.Question) string {
	var ids strings.Builder
	for _, q := range questions {
		fmt.Fprintf(&ids, "%s#%d ", q.ID, q.Try)
	}
	return digestOf(ids.String())[:digits]
}

// digestOfAnswers returns what tells answers from others; the order of members does not
// count.
func digestOfAnswers(given value.Value) string { return digestOf(sorted(given).JSON()) }

func sorted(v value.Value) value.Value {
	switch v.Kind() {
	case value.Object:
		entries := slices.Clone(v.Entries())
		slices.SortFunc(entries, func(a, b value.Entry) int { return strings.Compare(a.Key, b.Key) })
		for i := range entries {
			entries[i].Value = sorted(entries[i].Value)
		}
		return value.FromEntries(entries)
	case value.Array:
		list := slices.Clone(v.Elems())
		for i := range list {
			list[i] = sorted(list[i])
		}
		return value.FromArray(list)
	}
	return v
}

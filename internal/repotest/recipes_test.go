package repotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const recipesPage = "docs/recipes.md"

// A recipe is one section of the page: a file, and a table of what its first
// tool returns.
type recipe struct {
	title, file string
	rows        []recipeRow
}

// A recipeRow is a row of such a table. Result is JSON, or "error NAME: MESSAGE".
type recipeRow struct{ when, args, result string }

var recipeTable = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([^`]+)` \\| `([^`]+)` \\|$")

// recipes returns the recipes of the page in their order.
func recipes(t *testing.T) []recipe {
	t.Helper()
	text, err := os.ReadFile(recipesPage)
	if err != nil {
		t.Fatal(err)
	}
	var found []recipe
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		r := recipe{}
		r.title, _, _ = strings.Cut(section, "\n")
		for _, m := range fence.FindAllStringSubmatch(section, -1) {
			if m[1] == "yaml" && strings.HasPrefix(m[2], "version:") {
				r.file += m[2]
			}
		}
		for _, m := range recipeTable.FindAllStringSubmatch(section, -1) {
			r.rows = append(r.rows, recipeRow{m[1], m[2], m[3]})
		}
		found = append(found, r)
	}
	return found
}

// A scene says what the world around a recipe does in one row of its table.
type scene struct {
	// replies are the replies to each call, "SERVER.TOOL ARGUMENTS", in their
	// order; all of them have to be fetched. A reply is one of
	//
	//	JSON            the structured content
	//	isError TEXT    an answer with isError
	//	fail NAME CODE  a failure without an answer; CODE may be left out
	//	hang            no answer until the call is cancelled
	//
	// and may begin with a duration, such as "20ms ".
	replies map[string][]string
	// asked is the message of the question to the person, or the beginning of those
	// to the model. answer is what the person does and fills in, such as `accept
	// {"reason": "late"}`, or the model says: `says {}`. Without an answer nobody can
	// be asked.
	asked, answer string
	// took is how long the call takes, 0 for no time at all.
	took time.Duration
}

// anyTime is the time of a scene whose delays are random.
const anyTime time.Duration = -1

// scenes are the scenes of all recipes, by title and row.
var scenes = map[string]map[string]scene{
	"Fall back to another server": {
		"the main server answers": {replies: map[string][]string{
			`main.forecast {"city":"Oslo"}`: {`{"celsius": 4}`},
		}},
		"it does not answer within 3 seconds": {took: 3 * time.Second, replies: map[string][]string{
			`main.forecast {"city":"Oslo"}`:    {"hang"},
			`backup.tomorrow {"place":"Oslo"}`: {`{"fahrenheit": 41}`},
		}},
		"it does not know the city": {replies: map[string][]string{
			`main.forecast {"city":"Atlantis"}`: {"isError no such city"},
		}},
	},
	"Search several servers at the same time": {
		"all servers answer": {took: 30 * time.Millisecond, replies: map[string][]string{
			`wiki.search {"text":"refund"}`:  {`30ms {"results": [{"title": "How to refund"}]}`},
			`tickets.find {"q":"refund"}`:    {`20ms {"tickets": [{"summary": "Refund twice"}]}`},
			`code.grep {"pattern":"refund"}`: {`10ms {"matches": [{"file": "pay/refund.go"}]}`},
		}},
		"the tickets do not answer": {took: 5 * time.Second, replies: map[string][]string{
			`wiki.search {"text":"refund"}`:  {`{"results": [{"title": "How to refund"}]}`},
			`tickets.find {"q":"refund"}`:    {"hang"},
			`code.grep {"pattern":"refund"}`: {`{"matches": [{"file": "pay/refund.go"}]}`},
		}},
	},
	"Read all pages of a list": {
		"the list has three pages": {replies: map[string][]string{
			`crm.customers {}`:              {`{"customers": [{"name": "Ada"}, {"name": "Ben"}], "nextCursor": "p2"}`},
			`crm.customers {"cursor":"p2"}`: {`{"customers": [{"name": "Cleo"}, {"name": "Dan"}], "nextCursor": "p3"}`},
			`crm.customers {"cursor":"p3"}`: {`{"customers": [{"name": "Eve"}]}`},
		}},
		"the list is empty": {replies: map[string][]string{
			`crm.customers {}`: {`{"customers": []}`},
		}},
		"the list has more pages than wanted": {replies: map[string][]string{
			`crm.customers {}`:              {`{"customers": [{"name": "Ada"}, {"name": "Ben"}], "nextCursor": "p2"}`},
			`crm.customers {"cursor":"p2"}`: {`{"customers": [{"name": "Cleo"}, {"name": "Dan"}], "nextCursor": "p3"}`},
		}},
	},
	"Poll until a job is done": {
		"the third look finds the file": {took: 7 * time.Second, replies: map[string][]string{
			`warehouse.start_export {"table":"orders"}`: {`{"job": 17}`},
			`warehouse.export_status {"job":17}`: {
				`{"status": "waiting"}`, `{"status": "running"}`, `{"status": "done", "url": "https://files.example.com/17.csv"}`,
			},
		}},
		"the export fails": {took: time.Second, replies: map[string][]string{
			`warehouse.start_export {"table":"orders"}`: {`{"job": 17}`},
			`warehouse.export_status {"job":17}`:        {`{"status": "failed", "reason": "no space left"}`},
		}},
		"it is not ready after ten looks": {took: 75 * time.Second, replies: map[string][]string{
			`warehouse.start_export {"table":"orders"}`: {`{"job": 17}`},
			`warehouse.export_status {"job":17}`:        slices.Repeat([]string{`{"status": "running"}`}, 10),
		}},
	},
	"Ask before a write": {
		"the amount is small": {replies: map[string][]string{
			`payments.refund {"order":"A7","amount":20}`: {`{"paid": 20}`},
		}},
		"the user agrees": {
			asked: "Pay back 250 for order A7?", answer: `accept {"reason": "arrived broken"}`,
			replies: map[string][]string{
				`payments.refund {"order":"A7","amount":250,"note":"arrived broken"}`: {`{"paid": 250}`},
			},
		},
		"the user declines":              {asked: "Pay back 250 for order A7?", answer: "decline"},
		"the client cannot ask its user": {},
	},
	"Let the model of the client decide": {
		"the model answers": {
			asked: "Which team is this ticket for?", answer: `says {"team": "billing", "urgent": true}`,
			replies: map[string][]string{
				`desk.ticket {"id":7}`:                                {`{"text": "I paid twice!"}`},
				`desk.assign {"id":7,"team":"billing","urgent":true}`: {`{"team": "billing"}`},
			},
		},
		"the model does not answer with JSON": {
			asked:  "Which team is this ticket for?This answer cannot be used: the answer of the model: not JSON at byte 0: expected a value. Answer again, with JSON alone that fits the JSON Schema.",
			answer: "says Ask billing.",
			replies: map[string][]string{
				`desk.ticket {"id":7}`:                               {`{"text": "I paid twice!"}`},
				`desk.assign {"id":7,"team":"other","urgent":false}`: {`{"team": "other"}`},
			},
		},
		"the client has no model": {replies: map[string][]string{
			`desk.ticket {"id":7}`:                               {`{"text": "I paid twice!"}`},
			`desk.assign {"id":7,"team":"other","urgent":false}`: {`{"team": "other"}`},
		}},
	},
	"Enrich each item of a list": {
		"all customers are known": {took: 20 * time.Millisecond, replies: map[string][]string{
			`shop.orders {"status":"open"}`: {`{"orders": [{"id": 1, "customer": "c1"}, {"id": 2, "customer": "c2"}]}`},
			`crm.customer {"id":"c1"}`:      {`20ms {"name": "Ada"}`},
			`crm.customer {"id":"c2"}`:      {`10ms {"name": "Ben"}`},
		}},
		"a customer was deleted": {replies: map[string][]string{
			`shop.orders {"status":"open"}`: {`{"orders": [{"id": 1, "customer": "c1"}, {"id": 2, "customer": "c2"}]}`},
			`crm.customer {"id":"c1"}`:      {`{"name": "Ada"}`},
			`crm.customer {"id":"c2"}`:      {"isError no such customer"},
		}},
		"there are no orders": {replies: map[string][]string{
			`shop.orders {"status":"open"}`: {`{"orders": []}`},
		}},
	},
	"Take the first answer": {
		"the west is faster": {took: 10 * time.Millisecond, replies: map[string][]string{
			`east.translate {"text":"Hei"}`: {`20ms {"text": "Hello"}`},
			`west.translate {"text":"Hei"}`: {`10ms {"text": "Hi"}`},
		}},
		"the faster one fails": {took: 20 * time.Millisecond, replies: map[string][]string{
			`east.translate {"text":"Hei"}`: {`20ms {"text": "Hello"}`},
			`west.translate {"text":"Hei"}`: {`10ms isError out of quota`},
		}},
		"both are down": {replies: map[string][]string{
			`east.translate {"text":"Hei"}`: {"fail connect"},
			`west.translate {"text":"Hei"}`: {"fail connect"},
		}},
	},
	"Undo earlier steps after a failure": {
		"all works": {replies: map[string][]string{
			`flights.book {"city":"Oslo","date":"2026-05-04"}`: {`{"id": "F1", "price": 200}`},
			`hotels.book {"city":"Oslo","date":"2026-05-04"}`:  {`{"id": "H1", "price": 100}`},
			`payments.pay {"amount":300}`:                      {`{"paid": true}`},
		}},
		"the hotel is full": {replies: map[string][]string{
			`flights.book {"city":"Oslo","date":"2026-05-04"}`: {`{"id": "F1", "price": 200}`},
			`hotels.book {"city":"Oslo","date":"2026-05-04"}`:  {"isError no room is free"},
			`flights.cancel {"id":"F1"}`:                       {`{"cancelled": true}`},
		}},
		"the payment is refused": {replies: map[string][]string{
			`flights.book {"city":"Oslo","date":"2026-05-04"}`: {`{"id": "F1", "price": 200}`},
			`hotels.book {"city":"Oslo","date":"2026-05-04"}`:  {`{"id": "H1", "price": 100}`},
			`payments.pay {"amount":300}`:                      {"isError the card has expired"},
			`hotels.cancel {"id":"H1"}`:                        {`{"cancelled": true}`},
			`flights.cancel {"id":"F1"}`:                       {`{"cancelled": true}`},
		}},
		"the flight cannot be cancelled": {took: anyTime, replies: map[string][]string{
			`flights.book {"city":"Oslo","date":"2026-05-04"}`: {`{"id": "F1", "price": 200}`},
			`hotels.book {"city":"Oslo","date":"2026-05-04"}`:  {"isError no room is free"},
			`flights.cancel {"id":"F1"}`:                       slices.Repeat([]string{"fail closed"}, 5),
		}},
	},
	"Retry with a budget": {
		"the third attempt works": {took: 1500 * time.Millisecond, replies: map[string][]string{
			`market.quote {"symbol":"ACME"}`: {"fail protocol 503", "fail busy", `{"price": 12.5}`},
		}},
		"all attempts get HTTP 503": {took: 7500 * time.Millisecond, replies: map[string][]string{
			`market.quote {"symbol":"ACME"}`: slices.Repeat([]string{"fail protocol 503"}, 5),
		}},
		"the server never answers": {took: 20 * time.Second, replies: map[string][]string{
			`market.quote {"symbol":"ACME"}`: {"hang", "hang", "hang"},
		}},
		"the share does not exist": {replies: map[string][]string{
			`market.quote {"symbol":"NONE"}`: {"isError unknown symbol"},
		}},
	},
	"Report partial results": {
		"one of three fails": {replies: map[string][]string{
			`mail.send {"to":"ada","text":"Hi"}`: {`{}`},
			`mail.send {"to":"bob","text":"Hi"}`: {"isError mailbox full"},
			`mail.send {"to":"eve","text":"Hi"}`: {`{}`},
		}},
		"all get it": {replies: map[string][]string{
			`mail.send {"to":"ada","text":"Hi"}`: {`{}`},
		}},
		"two of three fail": {took: 20 * time.Millisecond, replies: map[string][]string{
			`mail.send {"to":"ada","text":"Hi"}`: {`{}`},
			`mail.send {"to":"bob","text":"Hi"}`: {"10ms isError mailbox full"},
			`mail.send {"to":"eve","text":"Hi"}`: {"20ms isError no such mailbox"},
		}},
	},
	"Split a large task into private tools": {
		"both weeks have sales": {replies: map[string][]string{
			`shop.orders {"week":20}`: {`{"orders": [{"amount": 70}, {"amount": 30, "returned": true}, {"amount": 50}]}`},
			`shop.orders {"week":19}`: {`{"orders": [{"amount": 80}]}`},
		}},
		"one week has no sales": {replies: map[string][]string{
			`shop.orders {"week":20}`: {`{"orders": [{"amount": 120}]}`},
			`shop.orders {"week":52}`: {`{"orders": []}`},
		}},
	},
	"Merge, deduplicate and sort": {
		"two feeds share an entry": {replies: map[string][]string{
			`web.read_feed {"url":"f1"}`: {`{"entries": [{"link": "/a", "date": "2026-03-01"}, {"link": "/b", "date": "2026-03-02"}]}`},
			`web.read_feed {"url":"f2"}`: {`{"entries": [{"link": "/b", "date": "2026-03-02"}, {"link": "/c", "date": "2026-03-03"}]}`},
		}},
		"a feed cannot be read": {took: 10 * time.Second, replies: map[string][]string{
			`web.read_feed {"url":"f1"}`: {`{"entries": [{"link": "/a", "date": "2026-03-01"}, {"link": "/b", "date": "2026-03-02"}]}`},
			`web.read_feed {"url":"f3"}`: {"hang"},
		}},
		"no feed can be read": {replies: map[string][]string{
			`web.read_feed {"url":"f3"}`: {"isError not found"},
		}},
	},
}

// A stage plays a scene.
type stage struct {
	t       *testing.T
	mu      sync.Mutex
	replies map[string][]string
}

// CallTool fetches the next reply to the call. It implements graph.Caller.
func (s *stage) CallTool(ctx context.Context, _ *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	call := server + "." + tool + " " + args.JSON()
	s.mu.Lock()
	left := s.replies[call]
	if len(left) > 0 {
		s.replies[call] = left[1:]
	}
	s.mu.Unlock()
	if len(left) == 0 {
		s.t.Errorf("unexpected call: %s", call)
		return graph.ToolResult{}, errors.New("unexpected call")
	}
	reply := left[0]
	if first, rest, ok := strings.Cut(reply, " "); ok {
		if d, err := time.ParseDuration(first); err == nil {
			reply = rest
			select {
			case <-time.After(d):
			case <-ctx.Done():
				return graph.ToolResult{Attempts: 1}, context.Cause(ctx)
			}
		}
	}
	kind, rest, _ := strings.Cut(reply, " ")
	switch kind {
	case "hang":
		<-ctx.Done()
		return graph.ToolResult{Attempts: 1}, context.Cause(ctx)
	case "fail":
		name, code, _ := strings.Cut(rest, " ")
		return graph.ToolResult{Attempts: 1}, &graph.Failure{Name: name, Code: code, Message: "the server is down"}
	case "isError":
		reply = fmt.Sprintf(`{"isError":true,"content":[{"type":"text","text":%q}]}`, rest)
	default:
		reply = fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"structuredContent":%s}`, reply, reply)
	}
	v, err := value.Parse(reply)
	return graph.ToolResult{Reply: v, Attempts: 1}, err
}

// TestRecipesReturnWhatTheyShow runs each row of each table of the page, in
// virtual time, with the file that stands above it.
func TestRecipesReturnWhatTheyShow(t *testing.T) {
	t.Parallel()
	found := recipes(t)
	if len(found) != len(scenes) {
		t.Errorf("%d recipes and %d scenes", len(found), len(scenes))
	}
	for _, r := range found {
		if len(r.rows) != len(scenes[r.title]) {
			t.Errorf("%s: %d rows and %d scenes", r.title, len(r.rows), len(scenes[r.title]))
		}
		for _, row := range r.rows {
			t.Run(r.title+"/"+row.when, func(t *testing.T) {
				s, ok := scenes[r.title][row.when]
				if !ok {
					t.Fatal("no scene has this name")
				}
				synctest.Test(t, func(t *testing.T) { s.play(t, r.file, row) })
			})
		}
	}
}

func (s scene) play(t *testing.T, file string, row recipeRow) {
	st := &stage{t: t, replies: map[string][]string{}}
	for call, replies := range s.replies {
		st.replies[call] = replies
	}
	engine, err := mcpgraph.LoadBytes("recipe.yaml", []byte(file), mcpgraph.WithCaller(st))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	args, err := value.Parse(row.args)
	if err != nil {
		t.Fatalf("%v in %s", err, row.args)
	}
	asked := ""
	var opts []mcpgraph.CallOption
	ask := func(_ context.Context, q executor.Question) (value.Value, error) {
		text, _, _ := strings.Cut(q.Text(), "\n")
		asked += text
		action, content, _ := strings.Cut(s.answer, " ")
		if action == "says" {
			return mcpgraph.ModelAnswer(content, "m"), nil
		}
		if content == "" {
			return mcpgraph.Answer(action, value.Undef), nil
		}
		v, err := value.Parse(content)
		return mcpgraph.Answer(action, v), err
	}
	if s.answer != "" {
		opts = append(opts, mcpgraph.WithAsk(ask))
	}
	begin := time.Now()
	result, err := engine.Call(t.Context(), engine.Tools()[0].Name, args, opts...)
	took := time.Since(begin)

	var got string
	if err == nil {
		got = string(result.JSON())
	} else {
		f := executor.FailureOf(err)
		got = "error " + f.Name + ": " + f.Message
	}
	want := row.result
	if v, err := value.Parse(want); err == nil {
		want = v.JSON()
	}
	if got != want {
		t.Errorf("got  %s\nwant %s\n(%v)", got, want, err)
	}
	if s.took != anyTime && took != s.took {
		t.Errorf("took %s, want %s", took, s.took)
	}
	if asked != s.asked {
		t.Errorf("asked %q, want %q", asked, s.asked)
	}
	synctest.Wait() // a call whose node was given up may still be returning
	st.mu.Lock()
	defer st.mu.Unlock()
	for call, left := range st.replies {
		if len(left) > 0 {
			t.Errorf("%d more calls expected: %s", len(left), call)
		}
	}
}

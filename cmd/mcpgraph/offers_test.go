package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

const offersFile = "testdata/offers.yaml"

// A requester makes requests with the client of another maker. It returns the
// result as that client understood it. The request "wait" returns the params of
// the first notification that a resource has changed.
type requester interface {
	request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	close() error
}

// offerSteps are the requests that every client makes, in this order.
var offerSteps = []struct {
	method, params string
	// want are parts of the result, as JSON with sorted keys and without spaces, or
	// of the message of the error.
	want []string
}{
	{"prompts/list", `{}`, []string{
		`"name":"review"`, `"title":"Review a change"`, `"description":"The pull request"`, `"name":"number","required":true`, `"name":"asks"`,
	}},
	{"prompts/get", `{"name":"review","arguments":{"number":"17"}}`, []string{
		`{"content":{"text":"Review 17, kindly","type":"text"},"role":"user"}`,
		`{"content":{"data":"aGVsbG8=","mimeType":"image/png","type":"image"},"role":"assistant"}`,
	}},
	{"prompts/get", `{"name":"review","arguments":{"number":"1 & 2","tone":"sharply"}}`, []string{`Review 1 \u0026 2, sharply`}},
	{"prompts/get", `{"name":"review"}`, []string{`missing required argument`, `number`}},
	{"prompts/get", `{"name":"reviw"}`, []string{`did you mean`, `review`}},
	{"prompts/get", `{"name":"asks"}`, []string{`"text":"Hello Ann"`}},
	{"resources/list", `{}`, []string{
		`"mimeType":"application/json","name":"today"`, `"uri":"report://today"`, `"uri":"report://clock"`,
	}},
	{"resources/templates/list", `{}`, []string{`"name":"by-day"`, `"uriTemplate":"report://{day}/{part}"`}},
	{"resources/read", `{"uri":"report://today"}`, []string{
		`"mimeType":"application/json"`, `"text":"{\"total\":12}"`, `"uri":"report://today"`,
	}},
	{"resources/read", `{"uri":"report://picture"}`, []string{`"blob":"aGVsbG8="`, `"mimeType":"image/png"`}},
	{"resources/read", `{"uri":"report://a%20b/c"}`, []string{`"text":"a b of c"`}},
	{"resources/read", `{"uri":"report://none/x"}`, []string{`there is none`}},
	{"resources/read", `{"uri":"report://today/a/b"}`, []string{`unknown resource`, `report://today/a/b`}},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"number","value":"17"}}`, []string{`"values":["17","170"]`}},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"tone","value":"k"}}`, []string{`"values":["kindly","kurt"]`}},
	{"completion/complete", `{"ref":{"type":"ref/resource","uri":"report://{day}/{part}"},"argument":{"name":"day","value":"tu"}}`, []string{`"values":["tuesday"]`}},
	{"tools/call", `{"name":"asks_all","arguments":{}}`, []string{`"text":"{\"who\":\"Ann\",\"model\":\"so Greet Ann\",\"folder\":\"file:///work\"}"`}},
	{"resources/subscribe", `{"uri":"report://clock"}`, []string{`{}`}},
	{"wait", `{}`, []string{`"uri":"report://clock"`}},
}

// TestClientsGetWhatIsOffered has every client make the same requests.
func TestClientsGetWhatIsOffered(t *testing.T) {
	t.Parallel()
	for _, c := range requesters {
		for _, over := range []string{"stdio", "http"} {
			t.Run(c.maker+" "+c.revision+" "+over, func(t *testing.T) {
				t.Parallel()
				if c.quick != over {
					testscale.OnlyFull(t)
				}
				if c.without[over] {
					t.Skip("the revision does not have the transport")
				}
				url := ""
				if over == "http" {
					w := serveWeb(t, nil, offersFile)
					defer w.stop()
					url = w.base + "/mcp"
				}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				r := c.connect(t, ctx, url, c.revision)
				defer func() {
					if err := r.close(); err != nil {
						t.Error(err)
					}
				}()
				for _, step := range offerSteps {
					if c.without[step.method] || c.without[step.params] {
						continue
					}
					got := sortedJSON(t)(r.request(ctx, step.method, json.RawMessage(step.params)))
					for _, want := range step.want {
						if !strings.Contains(got, want) {
							t.Errorf("%s %s: %s, want %s", step.method, step.params, got, want)
						}
					}
				}
			})
		}
	}
}

// sortedJSON returns what turns a result into JSON with sorted keys and without
// spaces, or an error into its message.
func sortedJSON(t *testing.T) func(json.RawMessage, error) string {
	return func(result json.RawMessage, err error) string {
		t.Helper()
		if err != nil {
			return err.Error()
		}
		decoder := json.NewDecoder(bytes.NewReader(result))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, result)
		}
		sorted, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(sorted)
	}
}

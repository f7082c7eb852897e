package mcpgraph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

const sampleFile = `
version: "1.0"
server: {name: sample, version: "1"}
mcpServers: {safe: {command: x, env: {KEY: "${SAFE_KEY}"}}}
tools:
  - name: think
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: think}
      - {id: think, type: sample, prompt: {expr: $.entry.prompt}, system: Be brief., maxTokens: 50, temperature: 0.5, modelHint: haiku, next: exit}
      - {id: exit, type: exit}
  - name: label
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: label}
      - {id: label, type: sample, prompt: Which label?, schema: {type: object, properties: {label: {enum: [bug, feature]}}, required: [label]}, next: exit}
      - {id: exit, type: exit}
  - name: talk
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: talk}
      - id: talk
        type: sample
        messages:
          - text: A
          - {role: assistant, text: {expr: $.entry.text}}
          - {content: {type: image, data: aGk=, mimeType: image/png}}
        schema: {type: string}
        next: exit
      - {id: exit, type: exit}
  - name: where
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: where}
      - {id: where, type: roots, catch: {next: none}, next: exit}
      - {id: none, type: transform, transform: {expr: $.where.error.name}, next: exit}
      - {id: exit, type: exit}
`

// script answers questions with texts of JSON, one after the other, and notes what was
// asked.
type script struct {
	t       *testing.T
	answers []string
	asked   []executor.Question
}

func (s *script) ask(_ context.Context, q executor.Question) (value.Value, error) {
	s.asked = append(s.asked, q)
	if len(s.asked) > len(s.answers) {
		s.t.Errorf("asked %d times", len(s.asked))
		return value.Undef, errors.New("no answer")
	}
	text := s.answers[len(s.asked)-1]
	if text == "cannotAsk" {
		return value.Undef, &graph.Failure{Name: graph.FailCannotAsk, Message: "no model"}
	}
	v, err := value.Parse(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return v, nil
}

// says returns a model's answer as JSON.
func modelSays(text string) string { return mcpgraph.ModelAnswer(text, "m").JSON() }

func TestModelsAreAsked(t *testing.T) {
	t.Parallel()
	const schema = `{\"type\":\"object\",\"properties\":{\"label\":{\"enum\":[\"bug\",\"feature\"]}},\"required\":[\"label\"]}`
	const instruction = `Answer with JSON alone, without any other text. It must fit this JSON Schema:\n`
	const label = `{"role":"user","content":{"type":"text","text":"Which label?\n\n` + instruction + schema + `"}}`
	for _, test := range []struct {
		name, tool, args string
		answers          []string
		want             string   // the result, or the name of the failure and a part of its message
		asked            []string // params
	}{
		{"text", "think", `{"prompt":"Why?"}`, []string{modelSays("Because.")}, `{"text":"Because.","model":"m","stopReason":"endTurn"}`,
			[]string{`{"messages":[{"role":"user","content":{"type":"text","text":"Why?"}}],"systemPrompt":"Be brief.","maxTokens":50,"temperature":0.5,"modelPreferences":{"hints":[{"name":"haiku"}]}}`}},
		{"blocks", "think", `{"prompt":"Why?"}`, []string{`{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},{"type":"text","text":"b"}]}`},
			`{"text":"ab","model":"","stopReason":"","content":[{"type":"image","data":"x"}]}`, nil},
		{"a list of messages", "think", `{"prompt":["a",{"role":"assistant","text":"b"},{"content":[{"type":"text","text":"c"}]}]}`, []string{modelSays("d")}, `{"text":"d","model":"m","stopReason":"endTurn"}`,
			[]string{`{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"assistant","content":{"type":"text","text":"b"}},{"role":"user","content":[{"type":"text","text":"c"}]}],"systemPrompt"`}},
		{"an object is its JSON", "think", `{"prompt":{"a":1}}`, []string{modelSays("d")}, `{"text":"d","model":"m","stopReason":"endTurn"}`, []string{`"text":"{\"a\":1}"`}},
		{"no prompt", "think", `{}`, nil, "expression: the prompt is empty", nil},
		{"no messages", "think", `{"prompt":[]}`, nil, "expression: expected 1 to 1000 messages, found 0", nil},
		{"a strange role", "think", `{"prompt":[{"role":"system","text":"a"}]}`, nil, `expression: message 0 has the role "system"; expected "user" or "assistant"`, nil},
		{"no content", "think", `{"prompt":[{"role":"user"}]}`, nil, `expression: message 0: expected a block of content or a list of blocks, found nothing`, nil},
		{"a block without a type", "think", `{"prompt":[{"content":[{"text":"a"}]}]}`, nil, `expression: message 0: expected a block of content with a type`, nil},
		{"a message that is none", "think", `{"prompt":[7]}`, nil, `expression: message 0 is the number 7`, nil},
		{"a long prompt", "think", `{"prompt":"` + strings.Repeat("x", 1<<20) + `"}`, nil, "arguments: the prompt is longer than 1048576 bytes", nil},
		{"declined", "think", `{"prompt":"Why?"}`, []string{`{"action":"decline"}`}, "declined: the client chose to decline", nil},
		{"no model", "think", `{"prompt":"Why?"}`, []string{"cannotAsk"}, "cannotAsk: no model", nil},
		{"no message", "think", `{"prompt":"Why?"}`, []string{`{"action":"accept"}`}, "answer: the client's answer has no content", nil},
		{"JSON", "label", `{}`, []string{modelSays(`{"label":"bug"}`)}, `{"label":"bug"}`, []string{`{"messages":[` + label + `],"maxTokens":1000}`}},
		{"a code block", "label", `{}`, []string{modelSays("```json\n{\"label\":\"bug\"}\n```")}, `{"label":"bug"}`, nil},
		{"asked again", "label", `{}`, []string{modelSays(`{"label":"x"}`), modelSays(`{"label":"feature"}`)}, `{"label":"feature"}`, []string{
			`{"messages":[` + label + `],"maxTokens":1000}`,
			`{"messages":[` + label + `,{"role":"assistant","content":{"type":"text","text":"{\"label\":\"x\"}"}},{"role":"user","content":{"type":"text","text":"This answer cannot be used: the answer of the model does not fit the schema: label: expected \"bug\" or \"feature\", found the string \"x\". Answer again, with JSON alone that fits the JSON Schema."}}],"maxTokens":1000}`}},
		{"wrong twice", "label", `{}`, []string{modelSays("I think it is a bug."), modelSays(`{"label":7}`)}, "answer: the answer of the model does not fit the schema: label: expected", []string{"", "This answer cannot be used: the answer of the model: not JSON"}},
		{"cut", "label", `{}`, []string{`{"content":{"type":"text","text":"{\"la"},"stopReason":"maxTokens"}`, modelSays(`{"label":"bug"}`)}, `{"label":"bug"}`, []string{"", "it ends at maxTokens"}},
		{"refused the second time", "label", `{}`, []string{modelSays("no"), `{"action":"cancel"}`}, "declined: the client chose to cancel", nil},
		{"no message at first", "label", `{}`, []string{`7`, modelSays(`{"label":"bug"}`)}, `{"label":"bug"}`, nil},
		{"a conversation", "talk", `{"text":"B"}`, []string{modelSays(`"C"`)}, `"C"`,
			[]string{`{"messages":[{"role":"user","content":{"type":"text","text":"A"}},{"role":"assistant","content":{"type":"text","text":"B"}},{"role":"user","content":{"type":"image","data":"aGk=","mimeType":"image/png"}},{"role":"user","content":{"type":"text","text":"` + instruction + `{\"type\":\"string\"}"}}],"maxTokens":1000}`}},
		{"roots", "where", `{}`, []string{`{"roots":[{"uri":"file:///a"}],"_meta":{}}`}, `{"roots":[{"uri":"file:///a"}]}`, []string{`{}`}},
		{"roots that are refused", "where", `{}`, []string{`{"action":"decline"}`}, `"declined"`, nil},
		{"no roots", "where", `{}`, []string{`{"roots":7}`}, `"answer"`, nil},
		{"no roots at all", "where", `{}`, []string{"cannotAsk"}, `"cannotAsk"`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			engine, err := mcpgraph.LoadBytes("sample.yaml", []byte(sampleFile), mcpgraph.WithCaller(&calledTools{}),
				mcpgraph.WithGetenv(func(name string) (string, bool) { return "s3cr3t-key-of-the-server", name == "SAFE_KEY" }))
			if err != nil {
				t.Fatal(err)
			}
			defer engine.Close()
			args, err := value.Parse(test.args)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{t: t, answers: test.answers}
			result, err := engine.Call(context.Background(), test.tool, args, mcpgraph.WithAsk(s.ask))
			got := ""
			if err != nil {
				f := executor.FailureOf(err)
				got = f.Name + ": " + f.Message
			} else {
				got = string(result.JSON())
			}
			if err == nil && got != test.want || !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if len(s.asked) != len(test.answers) {
				t.Errorf("asked %d times, want %d", len(s.asked), len(test.answers))
			}
			for i, want := range test.asked {
				if params := s.asked[i].Value.JSON(); !strings.Contains(params, want) {
					t.Errorf("asked %d\ngot  %s\nwant %s", i, params, want)
				}
			}
			if len(test.answers) == 2 { // the history has both attempts
				for _, rec := range result.History {
					if rec.Node == test.tool && (rec.Try != 2 || len(rec.AttemptTimes) != 2 || rec.AttemptTimes[0].Err == nil) {
						t.Errorf("the record has try %d and the attempts %v", rec.Try, rec.AttemptTimes)
					}
				}
			}
		})
	}
}

// TestPromptsHaveNoSecrets sends a model what has a secret of the file in it.
func TestPromptsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-key-of-the-server"
	engine, err := mcpgraph.LoadBytes("sample.yaml", []byte(sampleFile), mcpgraph.WithCaller(&calledTools{}),
		mcpgraph.WithGetenv(func(name string) (string, bool) { return secret, name == "SAFE_KEY" }))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s := &script{t: t, answers: []string{modelSays("ok")}}
	if _, err := engine.Call(context.Background(), "think", map[string]any{"prompt": "a " + secret}, mcpgraph.WithAsk(s.ask)); err != nil {
		t.Fatal(err)
	}
	if params := s.asked[0].Value.JSON(); strings.Contains(params, secret) || !strings.Contains(params, `"a [redacted]"`) {
		t.Errorf("asked %s", params)
	}
}

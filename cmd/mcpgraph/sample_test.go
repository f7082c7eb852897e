//lint:file-ignore SA1019 revision 2026-07-28 deprecates sampling and roots, which clients still have

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	official "github.com/modelcontextprotocol/go-sdk/mcp"
)

const sampleFile = "testdata/sample.yaml"

// checkSamples compares the results of the calls that the clients make: a model that
// answers, that answers wrongly at first, that always does, and that the user rejects;
// a model, a person and roots at once; and a client that has none of them.
func checkSamples(t *testing.T, revision string, out, asked []string) {
	t.Helper()
	if len(out) != 7 {
		t.Fatalf("results %q", out)
	}
	rejected := []string{`"none: declined"`}
	missing := "nobody can be asked: the client did not declare the capability sampling"
	if revision == modernRevision {
		// The answer to input_required cannot be an error, so these clients end the call.
		rejected = append(rejected, "refused: ")
		missing = "refused: "
	}
	want := []string{`"label bug"`, `"label feature"`, `"none: answer"`, "", `"Hello Ann in file:///a,file:///b"`, "", `"cannotAsk cannotAsk"`}
	for i, text := range want {
		if text != "" && out[i] != text {
			t.Errorf("call %d: %q, want %q", i, out[i], text)
		}
	}
	if !slices.ContainsFunc(rejected, func(one string) bool { return strings.HasPrefix(out[3], one) }) {
		t.Errorf("a model that the user rejects: %q", out[3])
	}
	if !strings.Contains(out[5], missing) || !strings.Contains(out[5], "the client did not declare the capability sampling") {
		t.Errorf("a client without a model: %q", out[5])
	}
	again := 0
	for _, text := range asked {
		if strings.Contains(text, "I guess | This answer cannot be used: the answer of the model: not JSON") {
			again++
		}
	}
	if len(asked) != 7 || again != 2 {
		t.Errorf("asked %q", asked)
	}
}

// TestModelsOfTheGoSDKAreAsked answers through the official Go SDK.
func TestModelsOfTheGoSDKAreAsked(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{legacyRevision, modernRevision} {
		for _, over := range []string{"stdio", "http"} {
			t.Run(revision+" "+over, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				base := ""
				if over == "http" {
					w := serveWeb(t, nil, sampleFile)
					defer w.stop()
					base = w.base
				}
				var mu sync.Mutex
				var asked, answers []string
				connect := func(o *official.ClientOptions, roots ...*official.Root) *official.ClientSession {
					c := official.NewClient(&official.Implementation{Name: "test", Version: "1"}, o)
					c.AddRoots(roots...)
					var transport official.Transport = &official.CommandTransport{Command: exec.Command(binary, "serve", sampleFile)}
					if base != "" {
						transport = &official.StreamableClientTransport{Endpoint: base + "/mcp"}
					}
					s, err := c.Connect(ctx, transport, &official.ClientSessionOptions{ProtocolVersion: revision})
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
				model := func(_ context.Context, r *official.CreateMessageRequest) (*official.CreateMessageResult, error) {
					mu.Lock()
					defer mu.Unlock()
					var texts []string
					for _, m := range r.Params.Messages {
						texts = append(texts, m.Content.(*official.TextContent).Text)
					}
					asked = append(asked, strings.Join(texts, " | "))
					text := answers[0]
					answers = answers[1:]
					if text == "reject" {
						return nil, &jsonrpc.Error{Code: -1, Message: "User rejected sampling request"}
					}
					return &official.CreateMessageResult{Role: "assistant", Content: &official.TextContent{Text: text}, Model: "m", StopReason: "endTurn"}, nil
				}
				person := func(context.Context, *official.ElicitRequest) (*official.ElicitResult, error) {
					return &official.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
				}
				call := func(s *official.ClientSession, name, issue string, said ...string) string {
					mu.Lock()
					answers = said
					mu.Unlock()
					args := map[string]any{}
					if issue != "" {
						args["issue"] = issue
					}
					r, err := s.CallTool(ctx, &official.CallToolParams{Name: name, Arguments: args})
					if err != nil {
						return "refused: " + err.Error()
					}
					return r.Content[0].(*official.TextContent).Text
				}
				s := connect(&official.ClientOptions{CreateMessageHandler: model, ElicitationHandler: person},
					&official.Root{URI: "file:///a", Name: "A"}, &official.Root{URI: "file:///b"})
				out := []string{
					call(s, "label", "a", `{"label":"bug"}`),
					call(s, "label", "b", "I guess", "```json\n{\"label\":\"feature\"}\n```"),
					call(s, "label", "c", "I guess", `{"label":"x"}`),
					call(s, "label", "d", "reject"),
					call(s, "all", "", "Hello"),
				}
				s.Close()
				s = connect(&official.ClientOptions{Capabilities: &official.ClientCapabilities{}})
				out = append(out, call(s, "label", "e"), call(s, "caught", ""))
				s.Close()
				checkSamples(t, revision, out, asked)
			})
		}
	}
}

// TestModelsOfTheTypeScriptSDKAreAsked answers through both generations of the official
// TypeScript SDK.
func TestModelsOfTheTypeScriptSDKAreAsked(t *testing.T) {
	t.Parallel()
	withTypeScript(t, "testdata/sample.mjs", sampleFile, "client http", checkSamples)
}

// TestQuestionsOfOneAnswerAreBounded answers a hundred questions of 100 kB.
func TestQuestionsOfOneAnswerAreBounded(t *testing.T) {
	t.Parallel()
	w := serveWeb(t, nil, sampleFile)
	defer w.stop()
	call := func(tool, args, more string) string {
		_, _, body := w.ask("POST", "/mcp", fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s,"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`+
				`"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}}`, tool, args, more, modernRevision),
			"Mcp-Protocol-Version", modernRevision, "Mcp-Method", "tools/call", "Mcp-Name", tool)
		return body
	}
	const said = `{"role":"assistant","content":{"type":"text","text":"ok"},"model":"m"}`
	rounds, asked, more := 0, 0, ""
	for ; rounds < 10; rounds++ {
		body := call("many", `{}`, more)
		var got struct {
			Result struct {
				ResultType, RequestState string
				InputRequests            map[string]struct{ Method string }
				StructuredContent        int
			}
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(body) > 5<<20 {
			t.Fatalf("%d bytes, %v", len(body), err)
		}
		if got.Result.ResultType == "complete" {
			if got.Result.StructuredContent != 100 {
				t.Errorf("%.300s", body)
			}
			break
		}
		responses := map[string]json.RawMessage{}
		for name, request := range got.Result.InputRequests {
			if request.Method != "sampling/createMessage" {
				t.Errorf("%s is %s", name, request.Method)
			}
			responses[name] = json.RawMessage(said)
		}
		asked += len(responses)
		text, _ := json.Marshal(responses)
		more = fmt.Sprintf(`,"requestState":%q,"inputResponses":%s`, got.Result.RequestState, text)
	}
	if rounds != 3 || asked != 100 {
		t.Errorf("%d questions in %d rounds", asked, rounds)
	}

	// Answers may come with the first call; those that are none are asked for.
	if body := call("label", `{"issue":"a"}`, `,"inputResponses":{"think":{"content":{"type":"text","text":"{\"label\":\"bug\"}"}},"other":7}`); !strings.Contains(body, `label bug`) {
		t.Errorf("an answer with the first call: %s", body)
	}
	if body := call("label", `{"issue":"a"}`, `,"inputResponses":{"think":7}`); !strings.Contains(body, `"inputRequests":{"think":{"method":"sampling/createMessage"`) {
		t.Errorf("an answer that is none: %s", body)
	}
	if body := call("label", `{"issue":"a"}`, `,"inputResponses":{"think":"`+strings.Repeat("x", 1<<20)+`"}`); !strings.Contains(body, "-32602") {
		t.Errorf("a long answer: %.300s", body)
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

const askFile = "testdata/ask.yaml"

// wantAnswers are the results of the calls that the clients make, and wantAsked the
// questions, sorted.
var (
	wantAnswers = []string{`"deleted a: old"`, `"kept: decline"`, `"kept: cancel"`}
	wantAsked   = []string{"Delete a?", "Delete b?", "Delete c?", "Delete d?", "Left?", "Right?", "Third?"}
)

func checkAnswers(t *testing.T, out, asked []string) {
	t.Helper()
	slices.Sort(asked)
	if len(out) != 5 || !slices.Equal(out[:3], wantAnswers) || out[4] != "1" || !slices.Equal(asked, wantAsked) {
		t.Errorf("results %q, asked %q", out, asked)
	}
	// Some clients check the answer themselves.
	if !strings.Contains(out[3], "the answer does not fit the schema of the question: reason") &&
		!strings.Contains(out[3], "the client did not answer") && !strings.HasPrefix(out[3], "refused: ") {
		t.Errorf("an answer that does not fit: %q", out[3])
	}
}

// TestUsersOfTheGoSDKAreAsked answers through the official Go SDK in both eras of
// the protocol over both transports.
func TestUsersOfTheGoSDKAreAsked(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-06-18", legacyRevision, modernRevision} {
		for _, over := range []string{"stdio", "http"} {
			t.Run(revision+" "+over, func(t *testing.T) {
				t.Parallel()
				var mu sync.Mutex
				var asked []string
				answer := &official.ElicitResult{}
				c := official.NewClient(&official.Implementation{Name: "test", Version: "1"}, &official.ClientOptions{
					ElicitationHandler: func(_ context.Context, r *official.ElicitRequest) (*official.ElicitResult, error) {
						mu.Lock()
						defer mu.Unlock()
						asked = append(asked, r.Params.Message)
						return answer, nil
					},
				})
				var transport official.Transport = &official.CommandTransport{Command: exec.Command(binary, "serve", askFile)}
				if over == "http" {
					w := serveWeb(t, nil, askFile)
					defer w.stop()
					transport = &official.StreamableClientTransport{Endpoint: w.base + "/mcp"}
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				s, err := c.Connect(ctx, transport, &official.ClientSessionOptions{ProtocolVersion: revision})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				call := func(name, file, action string, content map[string]any) string {
					mu.Lock()
					answer = &official.ElicitResult{Action: action, Content: content}
					mu.Unlock()
					args := map[string]any{}
					if file != "" {
						args["file"] = file
					}
					r, err := s.CallTool(ctx, &official.CallToolParams{Name: name, Arguments: args})
					if err != nil {
						return "refused: " + err.Error()
					}
					return r.Content[0].(*official.TextContent).Text
				}
				checkAnswers(t, []string{
					call("remove", "a", "accept", map[string]any{"reason": "old"}),
					call("remove", "b", "decline", nil),
					call("remove", "c", "cancel", nil),
					call("remove", "d", "accept", map[string]any{"reason": "x"}),
					call("two", "", "accept", map[string]any{}),
				}, asked)
			})
		}
	}
}

// TestUsersOfTheTypeScriptSDKAreAsked answers through both generations of the
// official TypeScript SDK.
func TestUsersOfTheTypeScriptSDKAreAsked(t *testing.T) {
	t.Parallel()
	withTypeScript(t, "testdata/ask.mjs", askFile, "sdk stdio", func(t *testing.T, _ string, out, asked []string) { checkAnswers(t, out, asked) })
}

// withTypeScript runs a script with both generations of the official TypeScript SDK,
// over both transports, against the program that serves a file. check gets what the
// script prints: the results of its calls, and what it was asked. Quick runs have one
// generation and transport.
func withTypeScript(t *testing.T, script, file, quick string, check func(t *testing.T, revision string, out, asked []string)) {
	bin := mcptest.RealServers(t)
	for _, of := range []struct{ generation, revision string }{
		{"sdk", legacyRevision}, {"client", legacyRevision}, {"client", modernRevision},
	} {
		for _, over := range []string{"stdio", "http"} {
			t.Run(of.generation+" "+of.revision+" "+over, func(t *testing.T) {
				t.Parallel()
				if of.generation+" "+over != quick || of.generation == "client" && of.revision == legacyRevision {
					testscale.OnlyFull(t)
				}
				place := map[string]any{"command": binary, "args": []string{"serve", file}}
				if over == "http" {
					w := serveWeb(t, nil, file)
					defer w.stop()
					place = map[string]any{"url": w.base + "/mcp"}
				}
				where, err := json.Marshal(place)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				out, err := exec.CommandContext(ctx, filepath.Join(bin, "node"), script, filepath.Dir(bin), of.generation, of.revision, string(where)).Output()
				if err != nil {
					t.Fatalf("%v\n%s", err, stderrOf(err))
				}
				var got struct{ Out, Asked []string }
				if err := json.Unmarshal(out, &got); err != nil {
					t.Fatal(err)
				}
				for i, text := range got.Out {
					got.Out[i] = strings.TrimPrefix(text, "error: ")
				}
				check(t, of.revision, got.Out, got.Asked)
			})
		}
	}
}

// TestClientThatCannotAsk has no elicitation capability.
func TestClientThatCannotAsk(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{legacyRevision, modernRevision} {
		c := official.NewClient(&official.Implementation{Name: "test", Version: "1"}, nil)
		s, err := c.Connect(t.Context(), &official.CommandTransport{Command: exec.Command(binary, "serve", askFile)}, &official.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatal(err)
		}
		for tool, want := range map[string]string{"remove": "nobody can be asked", "caught": `"alone: cannotAsk"`} {
			r, err := s.CallTool(t.Context(), &official.CallToolParams{Name: tool, Arguments: map[string]any{"file": "x"}})
			if tool == "remove" && revision == modernRevision {
				if err == nil || !strings.Contains(err.Error(), "the client did not declare the capability elicitation") {
					t.Errorf("%s %s: %v, %v", revision, tool, r, err)
				}
				continue
			}
			if err != nil || !strings.Contains(fmt.Sprint(r.Content[0].(*official.TextContent).Text), want) {
				t.Errorf("%s %s: %v, %v", revision, tool, r, err)
			}
		}
		s.Close()
	}
}

// TestStateOfAParkedCallIsForThatCallAlone tries what somebody could do with the
// requestState of a call of revision 2026-07-28.
func TestStateOfAParkedCallIsForThatCallAlone(t *testing.T) {
	t.Parallel()
	const ann, bob = "0123456789abcdef-ann", "0123456789abcdef-bob"
	w := serveWeb(t, []string{"MCPGRAPH_AUTH_TOKENS=ann " + ann + "\nbob " + bob}, askFile, "--auth", "bearer", "--status")
	defer w.stop()
	call := func(token, tool, args, more string) (status int, body string) {
		status, _, body = w.ask("POST", "/mcp", fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s%s,"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`+
				`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`, tool, args, more, modernRevision),
			"Authorization", "Bearer "+token, "Mcp-Protocol-Version", modernRevision, "Mcp-Method", "tools/call", "Mcp-Name", tool)
		return status, body
	}
	// park makes a call and returns what is needed to go on with it.
	park := func(tool, args string) (state string, keys []string) {
		t.Helper()
		_, body := call(ann, tool, args, "")
		var got struct {
			Result struct {
				ResultType, RequestState string
				InputRequests            map[string]struct{ Method string }
			}
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || got.Result.ResultType != "input_required" || got.Result.RequestState == "" {
			t.Fatalf("%v in %s", err, body)
		}
		for key, request := range got.Result.InputRequests {
			if request.Method != "elicitation/create" {
				t.Errorf("question %s is %s", key, request.Method)
			}
			keys = append(keys, key)
		}
		return got.Result.RequestState, keys
	}
	with := func(state, key, answer string) string {
		return fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, state, key, answer)
	}
	const file, yes = `{"file":"a"}`, `{"action":"accept","content":{"reason":"old"}}`
	state, keys := park("remove", file)
	good := with(state, keys[0], yes)
	refused := func(name string, status int, body string) {
		t.Helper()
		if status != 400 || !strings.Contains(body, `"code":-32602`) || !strings.Contains(body, "requestState is unknown, expired, already used or of another call") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	for _, attack := range []struct{ name, token, tool, args, more string }{
		{"another caller", bob, "remove", file, good},
		{"another tool", ann, "caught", file, good},
		{"other arguments", ann, "remove", `{"file":"b"}`, good},
		{"a changed state", ann, "remove", file, with(strings.ToLower(state), keys[0], yes)},
		{"half a state", ann, "remove", file, with(state[:20], keys[0], yes)},
	} {
		status, body := call(attack.token, attack.tool, attack.args, attack.more)
		refused(attack.name, status, body)
	}
	if _, body := call(ann, "remove", file, good); !strings.Contains(body, `deleted a: old`) {
		t.Errorf("the right call: %s", body)
	}
	if _, body := call(ann, "remove", file, good); !strings.Contains(body, `deleted a: old`) {
		t.Errorf("the same call again: %s", body)
	}
	status, body := call(ann, "remove", file, with(state, keys[0], `{"action":"decline"}`))
	refused("the same state with another answer", status, body)

	// Answers to what was not asked do nothing.
	state, keys = park("remove", file)
	_, body = call(ann, "remove", file, with(state, "made up", yes))
	if !strings.Contains(body, `"input_required"`) || !strings.Contains(body, state) {
		t.Errorf("an answer to nothing: %s", body)
	}
	if _, body = call(ann, "remove", file, with(state, keys[0], yes)); !strings.Contains(body, `deleted a: old`) {
		t.Errorf("the right answer after it: %s", body)
	}

	// Each answer is kept; what is missing is asked again.
	state, keys = park("two", "{}")
	if len(keys) != 2 {
		t.Fatalf("questions %q", keys)
	}
	_, body = call(ann, "two", "{}", with(state, keys[0], `{"action":"accept"}`))
	if strings.Contains(body, `"`+keys[0]+`":{`) || !strings.Contains(body, `"`+keys[1]+`":{`) {
		t.Errorf("after the first answer: %s", body)
	}

	// The question ends.
	state, keys = park("brief", "{}")
	time.Sleep(400 * time.Millisecond)
	status, body = call(ann, "brief", "{}", with(state, keys[0], yes))
	refused("too late", status, body)

	parkedRuns := func() string {
		_, _, body := w.ask("GET", "/status", "", "Authorization", "Bearer "+bob)
		return body
	}
	if body := parkedRuns(); !strings.Contains(body, `"parkedRuns": 1`) { // with the second question
		t.Errorf("before the bound: %s", body)
	}

	// What one caller parks is bounded.
	busy := 0
	for range 120 {
		if _, body := call(ann, "remove", file, ""); strings.Contains(body, "runs of this caller already wait for answers") {
			busy++
		}
	}
	if busy < 20 {
		t.Errorf("%d of 120 further calls were refused", busy)
	}
	if _, body := call(bob, "remove", file, ""); !strings.Contains(body, `"input_required"`) {
		t.Errorf("another caller: %s", body)
	}
	if body := parkedRuns(); !strings.Contains(body, `"parkedRuns": 101`) {
		t.Errorf("at the bound: %s", body)
	}
}

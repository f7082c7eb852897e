package durable

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// TestInputOfOtherProgramsPanicsNowhere starts workflows as other programs of the
// namespace can do it.
func TestInputOfOtherProgramsPanicsNowhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ input, want string }{
		"nothing":                 {"", "the workflow has no input"},
		"null":                    {"null", "the workflow has no input"},
		"another type":            {"7", "cannot unmarshal number"},
		"no tool":                 {"{}", `unknown tool ""`},
		"other arguments":         {`{"tool":"t","args":7}`, "expected an object"},
		"records without events":  {`{"tool":"t","records":[7]}`, `the unknown event ""`},
		"a record before the run": {`{"tool":"t","records":[{"event":"done","index":-1,"execution":-1,"node":"entry","frame":"9.9"}]}`, "its index is less than 0"},
		"an unknown verb":         {`{"tool":"t","records":[{"event":"opened","index":0,"node":"entry","do":77}]}`, "verb 77"},
		"a run of its own":        {`{"tool":"t","records":[{"event":"opened","index":0,"node":"entry","do":6,"run":"x"}]}`, "the node calls no tool"},
		"too many executions":     {`{"tool":"t","records":[],"spent":9223372036854775807}`, "Execution limit exceeded"},
		"negative numbers":        {`{"tool":"t","share":{"Depth":-7,"Executions":-5},"maxValue":-1,"heartbeatMs":-1}`, ""},
		"a trace that is none":    {`{"tool":"t","trace":7,"caller":{"meta":7,"header":{"":null}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := newSource(t, oneTool(`      - {id: a, type: transform, transform: {expr: "1"}, next: exit}`))
			env := environment(t, source)
			env.SetTestTimeout(10 * time.Second)
			register(env, source, nil, WorkerOptions{})
			var input []any
			if test.input != "" {
				input = []any{json.RawMessage(test.input)}
			}
			env.ExecuteWorkflow(WorkflowType, input...)
			err := env.GetWorkflowError()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the workflow ended with %v, want %q", err, test.want)
			}
		})
	}
}

// TestAnswersOfOtherProgramsStopNoRun sends signals and updates that cannot be read to a run
// that asks something, and then the answer.
func TestAnswersOfOtherProgramsStopNoRun(t *testing.T) {
	t.Parallel()
	source := newSource(t, oneTool(`      - {id: a, type: ask, message: "Go on?", schema: {type: object, properties: {x: {type: string}}}, next: exit}`))
	var refusals []error
	out, err := simulate(t, source, &request{Tool: "t"}, func(env *testsuite.TestWorkflowEnvironment) {
		update := func(id string, in any) {
			env.UpdateWorkflow(updateAnswer, id, &testsuite.TestUpdateCallback{
				OnAccept:   func() {},
				OnReject:   func(err error) { refusals = append(refusals, err) },
				OnComplete: func(any, error) {},
			}, in)
		}
		env.RegisterDelayedCallback(func() {
			env.SignalWorkflow(updateAnswer, "no object")
			env.SignalWorkflow("other", nil)
			update("1", nil)
			update("2", reply{Question: "other"})
			if _, err := env.QueryWorkflow(queryRecords, -7); err != nil {
				t.Error(err)
			}
		}, time.Second)
		env.RegisterDelayedCallback(func() {
			var s state
			if v, err := env.QueryWorkflow(queryState); err != nil || v.Get(&s) != nil || len(s.Questions) != 1 {
				t.Errorf("the run asks %+v, %v", s.Questions, err)
				return
			}
			update("3", reply{Question: s.Questions[0].ID, Answer: json.RawMessage(`{"action":"accept","content":{"x":"y"}}`)})
		}, 2*time.Second)
	})
	if err != nil || string(out.Result) != `{"x":"y"}` {
		t.Errorf("the run ended with %s, %v", out.Result, err)
	}
	if len(refusals) != 2 {
		t.Fatalf("%d answers were refused: %v", len(refusals), refusals)
	}
	for _, err := range refusals {
		if app := (*temporal.ApplicationError)(nil); !errors.As(err, &app) || app.Type() != notAsked {
			t.Errorf("an answer was refused with %v", err)
		}
	}
}

// TestACallWithoutInputIsRefused schedules the activity as other programs of the namespace
// can do it.
func TestACallWithoutInputIsRefused(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	c := &calls{source: newSource(t, oneTool(oneCall))}
	env.RegisterActivity(c.call)
	_, err := env.ExecuteActivity(c.call, nil)
	if app := (*temporal.ApplicationError)(nil); !errors.As(err, &app) || app.Type() != graph.FailArguments {
		t.Errorf("the call ended with %v", err)
	}
}

package parked_test

import (
	"cmp"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/mcpgraph/mcpgraph/internal/parked"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// run returns a run of a tool that was called with {"a":1}.
func run(t testing.TB, caller string, expires time.Duration) parked.Run {
	entry := &graph.Node{ID: "entry", Kind: &graph.Kind{Name: "entry", Role: graph.Entry}}
	g := &graph.Graph{Name: "tool", Entry: entry, Nodes: []*graph.Node{entry}}
	return parked.Run{
		Run: executor.NewRun(g, parse(t, `{"a":1}`), 1), Caller: caller, Tool: "tool",
		Requests: parse(t, `{"q":{}}`), Expires: time.Now().Add(expires),
	}
}

func TestStateIsBoundToItsCall(t *testing.T) {
	s := parked.New(nil)
	args, answers := parse(t, `{"a":1}`), parse(t, `{"q":{"action":"accept"}}`)
	state, err := s.Add(run(t, "ann", time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	flipped := []byte(state)
	flipped[len(flipped)-1] ^= 1
	if flipped[len(flipped)-1] == state[len(state)-1] {
		t.Fatal("the state was not changed")
	}
	other, _ := parked.New(nil).Add(run(t, "ann", time.Hour))
	for _, test := range []struct {
		name, state, caller, tool string
		args                      value.Value
	}{
		{"another caller", state, "bob", "tool", args},
		{"no caller", state, "", "tool", args},
		{"another tool", state, "ann", "other", args},
		{"other arguments", state, "ann", "tool", parse(t, `{"a":2}`)},
		{"more arguments", state, "ann", "tool", parse(t, `{"a":1,"b":2}`)},
		{"a state of another process", other, "ann", "tool", args},
		{"a changed signature", string(flipped), "ann", "tool", args},
		{"a longer state", state + "AAAA", "ann", "tool", args},
		{"a shorter state", state[:20], "ann", "tool", args},
		{"padding", state + "=", "ann", "tool", args},
		{"a line break", state[:9] + "\n" + state[9:], "ann", "tool", args},
		{"no state", "", "ann", "tool", args},
	} {
		if turn, result, err := s.Take(test.state, test.caller, test.tool, test.args, answers, nil); err != parked.ErrState || turn != nil || result != nil {
			t.Errorf("%s: %v, %v, %v", test.name, turn, result, err)
		}
	}
	if turn, _, err := s.Take(state, "ann", "tool", args, answers, nil); err != nil || turn == nil {
		t.Errorf("the right call: %v, %v", turn, err)
	}
	if s.Len() != 0 {
		t.Errorf("%d runs are parked", s.Len())
	}
}

func TestEndOfStateCannotBeMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parked.New(nil)
		expired := 0
		r := run(t, "", time.Minute)
		r.Expired = func() { expired++ }
		state, _ := s.Add(r)
		raw, _ := base64.RawURLEncoding.DecodeString(state)
		raw[16]++ // the end
		if _, _, err := s.Take(base64.RawURLEncoding.EncodeToString(raw), "", "tool", r.Args(), value.Undef, nil); err != parked.ErrState {
			t.Errorf("a later end: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, _, err := s.Take(state, "", "tool", r.Args(), value.Undef, nil); err != parked.ErrState || expired != 1 || s.Len() != 0 {
			t.Errorf("after the end: %v, expired %d times, %d parked", err, expired, s.Len())
		}
	})
}

func TestRepeatedCallGetsTheSameResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parked.New(memory.New(1 << 30))
		r := run(t, "", time.Hour)
		state, _ := s.Add(r)
		answers := parse(t, `{"q":{"action":"accept"}}`)
		take := func(answers string) (*parked.Turn, *parked.Result, error) {
			return s.Take(state, "", "tool", r.Args(), parse(t, answers), nil)
		}
		turn, _, err := s.Take(state, "", "tool", r.Args(), answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for range 3 { // while the first still runs
			wait.Go(func() {
				if _, result, err := take(`{"q":{"action":"accept"}}`); err != nil || result.Value.Str() != "done" {
					t.Errorf("repeated at once: %v, %v", result, err)
				}
			})
		}
		synctest.Wait()
		if _, _, err := take(`{"q":{"action":"decline"}}`); err != parked.ErrState {
			t.Errorf("answered differently: %v", err)
		}
		turn.Finish(parked.Result{Value: value.FromString("done")})
		wait.Wait()
		time.Sleep(parked.RepeatFor - time.Second)
		if _, result, err := take(`{"q":{"action":"accept"}}`); err != nil || result.Value.Str() != "done" {
			t.Errorf("repeated later: %v, %v", result, err)
		}
		time.Sleep(2 * time.Second)
		if _, _, err := take(`{"q":{"action":"accept"}}`); err != parked.ErrState {
			t.Errorf("repeated too late: %v", err)
		}
	})
}

// TestFinishedRunIsNotKept looks what is alive while a result can be repeated.
// A caller that makes many calls does not take from others what lets them repeat theirs.
func TestResultsOfOthersAreKept(t *testing.T) {
	t.Parallel()
	s := parked.New(nil)
	args, answers := parse(t, `{"a":1}`), parse(t, `{"q":1}`)
	answer := func(caller string) (state string) {
		t.Helper()
		state, err := s.Add(run(t, caller, time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		turn, _, err := s.Take(state, caller, "tool", args, answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		turn.Finish(parked.Result{Value: value.FromString(caller)})
		return state
	}
	anns := answer("ann")
	first := answer("bob")
	var last string
	for range 1000 {
		last = answer("bob")
	}
	for state, caller := range map[string]string{anns: "ann", last: "bob", first: ""} {
		_, result, err := s.Take(state, cmp.Or(caller, "bob"), "tool", args, answers, nil)
		if caller == "" {
			if err != parked.ErrState {
				t.Errorf("the oldest of the caller with the most is kept: %v, %v", result, err)
			}
		} else if err != nil || result.Value.Str() != caller {
			t.Errorf("%s: %v, %v", caller, result, err)
		}
	}
	s.Close()
}

func TestFinishedRunIsNotKept(t *testing.T) {
	s := parked.New(nil)
	args := parse(t, `{"a":1}`)
	finish := func() weak.Pointer[executor.Run] {
		r := run(t, "", time.Hour)
		state, err := s.Add(r)
		if err != nil {
			t.Fatal(err)
		}
		turn, _, err := s.Take(state, "", "tool", args, value.Undef, nil)
		if err != nil {
			t.Fatal(err)
		}
		turn.Finish(parked.Result{Value: value.FromString("done")})
		if _, again, err := s.Take(state, "", "tool", args, value.Undef, nil); err != nil || again.Value.Str() != "done" {
			t.Fatalf("repeated: %v, %v", again, err)
		}
		return weak.Make(r.Run)
	}
	was := finish()
	for range 3 {
		runtime.GC()
	}
	if was.Value() != nil {
		t.Error("the result keeps its run alive")
	}
	runtime.KeepAlive(s)
}

func TestParkedRunsAreBounded(t *testing.T) {
	s := parked.New(nil)
	isBusy := func(err error) bool {
		var f *graph.Failure
		return errors.As(err, &f) && f.Name == graph.FailBusy
	}
	for i := range parked.MaxRuns {
		caller := "caller " + strconv.Itoa(i/parked.MaxPerCaller)
		if _, err := s.Add(run(t, caller, time.Hour)); err != nil {
			t.Fatal(err)
		}
		if i == parked.MaxPerCaller-1 {
			if _, err := s.Add(run(t, caller, time.Hour)); !isBusy(err) {
				t.Errorf("one more of a caller: %v", err)
			}
		}
	}
	if _, err := s.Add(run(t, "another", time.Hour)); !isBusy(err) {
		t.Errorf("one more: %v", err)
	}
	ended := 0
	r := run(t, "late", time.Hour)
	s.Close()
	if _, err := s.Add(r); !isBusy(err) || s.Len() != 0 || ended != 0 {
		t.Errorf("after Close: %v, %d parked", err, s.Len())
	}
	tight := memory.New(memory.MinLimit)
	const part = 256 << 10
	for range memory.MinLimit / 2 / part { // others hold everything
		if err := tight.Account("").Grow(part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := parked.New(tight).Add(run(t, "", time.Hour)); !isBusy(err) {
		t.Errorf("without memory: %v", err)
	}
}

func TestRandomStatesFindNothing(t *testing.T) {
	s := parked.New(nil)
	r := run(t, "", time.Hour)
	state, _ := s.Add(r)
	raw, _ := base64.RawURLEncoding.DecodeString(state)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 1_000_000 {
		if i%2 == 0 { // of the right run
			for j := 16; j < len(raw); j++ {
				raw[j] = byte(random.Uint32())
			}
		} else {
			raw[i%16] ^= byte(1 + random.Uint32()%255)
		}
		if _, _, err := s.Take(base64.RawURLEncoding.EncodeToString(raw), "", "tool", r.Args(), value.Undef, nil); err != parked.ErrState {
			t.Fatalf("state %d was taken: %v", i, err)
		}
	}
	if _, _, err := s.Take(state, "", "tool", r.Args(), value.Undef, nil); err != nil {
		t.Errorf("the real one: %v", err)
	}
}

package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func parsed(t testing.TB, text string) value.Value {
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// numbered answers each call with another number.
type numbered struct{ asked atomic.Int32 }

func (n *numbered) next(context.Context) (value.Value, error) {
	return value.FromEntries([]value.Entry{{Key: "n", Value: value.FromInt(int64(n.asked.Add(1)))}}), nil
}

func TestCallsThatAreTheSameShareAnAnswer(t *testing.T) {
	type made struct {
		id         string
		tool, args string
	}
	for _, c := range []struct {
		name string
		a, b made
		same bool
	}{
		{"same", made{"", "look", `{"a":1}`}, made{"", "look", `{"a":1}`}, true},
		{"other order of members", made{"", "look", `{"a":{"x":1,"y":[1,{"p":1,"q":2}]},"b":2}`},
			made{"", "look", `{"b":2,"a":{"y":[1,{"q":2,"p":1}],"x":1}}`}, true},
		{"other spelling of a number", made{"", "look", `{"a":1.0}`}, made{"", "look", `{"a":1}`}, true},
		{"no arguments and none that count", made{"", "look", `{}`}, made{"", "look", `null`}, true},
		{"other order of elements", made{"", "look", `{"a":[1,2]}`}, made{"", "look", `{"a":[2,1]}`}, false},
		{"other value", made{"", "look", `{"a":1}`}, made{"", "look", `{"a":2}`}, false},
		{"number and text", made{"", "look", `{"a":1}`}, made{"", "look", `{"a":"1"}`}, false},
		{"null and nothing", made{"", "look", `{"a":null}`}, made{"", "look", `{}`}, false},
		{"integers that one float stands for", made{"", "look", `{"a":9007199254740993}`}, made{"", "look", `{"a":9007199254740992}`}, false},
		{"other tool", made{"", "look", `{}`}, made{"", "lookup", `{}`}, false},
		{"other caller", made{"alice", "look", `{}`}, made{"bob", "look", `{}`}, false},
		{"caller and nobody", made{"alice", "look", `{}`}, made{"", "look", `{}`}, false},
		{"names that run into one another", made{"al", "icelook", `{}`}, made{"alice", "look", `{}`}, false},
		{"tool that is not named", made{"", "find", `{}`}, made{"", "find", `{}`}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := layered(t, caching, func(u *config.Upstream) { u.Cache.Tools = []string{"look*", "icelook"} })
			n := &numbered{}
			var replies []value.Value
			for i, m := range []made{c.a, c.b} {
				r, err := s.callAs(context.Background(), m.id, m.tool, parsed(t, m.args), n.next)
				if err != nil {
					t.Fatal(err)
				}
				if want := i == 1 && c.same; r.Cached != want || (r.Sent == 0) != want {
					t.Errorf("call %d: %+v", i, r)
				}
				replies = append(replies, r.Value)
			}
			if value.Equal(replies[0], replies[1]) != c.same {
				t.Errorf("answers %s and %s", replies[0].JSON(), replies[1].JSON())
			}
		})
	}
}

func TestWhatIsNotKept(t *testing.T) {
	for name, reply := range map[string]string{
		"error of the tool": `{"content":[],"isError":true}`,
		"question back":     `{"resultType":"input_required","inputRequests":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := layered(t, caching)
			asked := 0
			for range 2 {
				r, err := s.through(context.Background(), "look", func(context.Context) (value.Value, error) {
					asked++
					return parsed(t, reply), nil
				})
				if err != nil || r.Cached {
					t.Errorf("%+v, %v", r, err)
				}
			}
			if asked != 2 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
	t.Run("failure", func(t *testing.T) {
		s := layered(t, caching)
		a := &answers{errs: []error{broken, nil}}
		_, first := s.through(context.Background(), "look", a.next)
		r, second := s.through(context.Background(), "look", a.next)
		if first == nil || second != nil || r.Cached {
			t.Errorf("%v; %+v, %v", first, r, second)
		}
	})
	t.Run("completed result", func(t *testing.T) {
		s := layered(t, caching)
		for i := range 2 {
			r, err := s.through(context.Background(), "look", func(context.Context) (value.Value, error) {
				return parsed(t, `{"resultType":"complete","isError":false,"content":[]}`), nil
			})
			if err != nil || r.Cached != (i == 1) {
				t.Errorf("call %d: %+v, %v", i, r, err)
			}
		}
	})
}

func TestResultsGetOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, caching)
		n := &numbered{}
		for i, want := range []bool{false, true, false, true} {
			r, err := s.through(context.Background(), "look", n.next)
			if err != nil || r.Cached != want {
				t.Errorf("call %d: %+v, %v", i, r, err)
			}
			time.Sleep(40 * time.Second) // of the minute that results are kept, which using them does not prolong
		}
	})
}

func TestChangedListOfToolsDropsResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, caching)
		n := &numbered{}
		_, _ = s.through(context.Background(), "look", n.next)
		s.DropResults()
		if r, _ := s.through(context.Background(), "look", n.next); r.Cached {
			t.Error("a result from before the change was used")
		}
		// An answer that is on its way while the list changes is an old one too.
		go s.through(context.Background(), "lookup", func(ctx context.Context) (value.Value, error) {
			time.Sleep(10 * time.Second)
			return n.next(ctx)
		})
		time.Sleep(5 * time.Second)
		s.DropResults()
		time.Sleep(10 * time.Second)
		if r, _ := s.through(context.Background(), "lookup", n.next); r.Cached {
			t.Error("a result that was asked for before the change was used")
		}
	})
}

func TestCacheHoldsItsNumberOfEntries(t *testing.T) {
	s := layered(t, caching, func(u *config.Upstream) { u.Cache.MaxEntries = 10 })
	n := &numbered{}
	for i := range 1000 {
		args := parsed(t, fmt.Sprintf(`{"i":%d}`, i))
		if _, err := s.callAs(context.Background(), "", "look", args, n.next); err != nil {
			t.Fatal(err)
		}
	}
	s.cache.results.CleanUp()
	if size := s.cache.results.EstimatedSize(); size > 10 {
		t.Errorf("%d entries, want at most 10", size)
	}
}

// Many callers with the same questions at the same time: each gets the answer
// that was given to it.
func TestNoCallerGetsAnothersAnswer(t *testing.T) {
	s := layered(t, caching, breaking, retrying(2), func(u *config.Upstream) {
		u.MaxConcurrency = 8
		u.RateLimit = &config.RateLimit{Limit: 1 << 20, Period: time.Hour}
	})
	var wait sync.WaitGroup
	for caller := range 50 {
		wait.Go(func() {
			id := fmt.Sprintf("caller %d", caller)
			for round := range 40 {
				args := parsed(t, fmt.Sprintf(`{"q":%d}`, round%7))
				want := fmt.Sprintf("%s asked %d", id, round%7)
				r, err := s.callAs(context.Background(), id, "look", args, func(context.Context) (value.Value, error) {
					return value.FromEntries([]value.Entry{{Key: "text", Value: value.FromString(want)}}), nil
				})
				if err != nil || r.Value.Get("text").Str() != want {
					t.Errorf("want %q, got %s, %v", want, r.Value.JSON(), err)
				}
				if round%11 == 0 {
					s.DropResults()
				}
			}
		})
	}
	wait.Wait()
}

// Equal calls at the same time are one.
func TestEqualCallsAtOnceShareOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, caching)
		n := &numbered{}
		var wait sync.WaitGroup
		var cached, attempts atomic.Int32
		for i := range 60 {
			id := []string{"alice", "bob"}[i%2]
			wait.Go(func() {
				r, err := s.callAs(context.Background(), id, "look", value.Undef, func(ctx context.Context) (value.Value, error) {
					time.Sleep(time.Second)
					return n.next(ctx)
				})
				if err != nil || r.Cached != (r.Sent == 0) {
					t.Errorf("%+v, %v", r, err)
				}
				if r.Cached {
					cached.Add(1)
				}
				attempts.Add(int32(r.Sent))
			})
		}
		wait.Wait()
		if n.asked.Load() != 2 || cached.Load() != 58 || attempts.Load() != 2 || s.Counts.CacheHits.Load() != 58 {
			t.Errorf("asked %d times for two callers, %d from the cache, %d attempts, %d hits", n.asked.Load(), cached.Load(), attempts.Load(), s.Counts.CacheHits.Load())
		}
		if len(s.cache.calls) != 0 {
			t.Error("calls are left under way")
		}
	})
}

// A caller that gives up, or whose time is up, takes no other one with it.
func TestCallerThatGivesUpFailsNoEqualCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, caching)
		n := &numbered{}
		slow := func(ctx context.Context) (value.Value, error) {
			select {
			case <-time.After(10 * time.Second):
				return n.next(ctx)
			case <-ctx.Done():
				return value.Undef, fakeErrors{}.Stopped(ctx, nil, "before it was answered", nil)
			}
		}
		began := time.Now()
		var wait sync.WaitGroup
		for i := range 4 {
			ctx := context.Background()
			cancelled := i < 2 // the first one, which asks, and one that waits for it
			if cancelled {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 3*time.Second)
				defer cancel()
			}
			wait.Go(func() {
				r, err := s.through(ctx, "look", slow)
				if (err != nil) != cancelled {
					t.Errorf("call %d: %+v, %v", i, r, err)
				}
				if cancelled && (time.Since(began) != 3*time.Second || !errors.Is(err, context.DeadlineExceeded)) {
					t.Errorf("call %d ended after %v: %v", i, time.Since(began), err)
				}
			})
			synctest.Wait()
		}
		wait.Wait()
		if n.asked.Load() != 1 || time.Since(began) != 13*time.Second {
			t.Errorf("answered %d times, after %v", n.asked.Load(), time.Since(began))
		}
	})
}

// An error goes to those who waited, and is not kept.
func TestErrorIsSharedButNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, caching)
		a := &answers{errs: []error{broken, nil}}
		slow := func(ctx context.Context) (value.Value, error) {
			time.Sleep(time.Second)
			return a.next(ctx)
		}
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				if r, err := s.through(context.Background(), "look", slow); err == nil || r.Cached {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		wait.Wait()
		if n := a.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if r, err := s.through(context.Background(), "look", slow); err != nil || r.Cached {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

package ui

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// manyRuns are runs under way in which nothing happens.
func manyRuns(n int) *fakeDurable {
	f := &fakeDurable{}
	for i := range n {
		f.runs = append(f.runs, &fakeRun{State: runs.State{Summary: runs.Summary{ID: fmt.Sprint("r", i), Tool: "t", Status: runs.Running, Began: time.Now()}}})
	}
	return f
}

// opened names runs in a stream of a page, and looks at each.
func opened(t *testing.T, p *Page, from, to int) *reader {
	t.Helper()
	r := &reader{runs: map[string]bool{}, wake: make(chan struct{}, 1)}
	for i := from; i < to; i++ {
		id := fmt.Sprint("r", i)
		r.runs[id] = true
		if _, err := p.remotes.open(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.events.join(r); err != nil {
		t.Fatal(err)
	}
	p.watch.joined()
	return r
}

// following returns how many runs are followed, and how many are marked as those for
// which there was no room.
func (m *remotes) following() (followed, crowded int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		r.mu.Lock()
		if r.stop != nil {
			followed++
		}
		if r.state().Durable.Code == notFollowed {
			crowded++
		}
		r.mu.Unlock()
	}
	return followed, crowded
}

func TestFollowedDurableRunsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := manyRuns(80)
		p := New(Options{Path: "none.yaml", Place: f, Log: slog.New(slog.DiscardHandler)})
		defer p.Close()
		one := opened(t, p, 0, 20)
		time.Sleep(5 * time.Second)
		if followed, crowded := p.remotes.following(); followed != maxFollowedFor || crowded != 20-maxFollowedFor {
			t.Errorf("for one stream %d runs are followed, %d are not", followed, crowded)
		}
		var others []*reader
		for i := range 5 {
			others = append(others, opened(t, p, 20+8*i, 28+8*i))
		}
		time.Sleep(5 * time.Second)
		if followed, _ := p.remotes.following(); followed != maxFollowed {
			t.Errorf("for all streams %d runs are followed", followed)
		}
		if n := len(p.remotes.runs); n != maxRemotes {
			t.Errorf("%d runs are held", n)
		}
		for _, r := range append(others, one) {
			p.events.leave(r)
			p.watch.left()
		}
		time.Sleep(2 * lingerTime)
		if followed, _ := p.remotes.following(); followed != 0 {
			t.Errorf("nobody is there, and %d runs are followed", followed)
		}
		looks, lists := f.count("Look"), f.count("List")
		time.Sleep(time.Hour)
		if f.count("Look") != looks || f.count("List") != lists {
			t.Error("nobody is there, and runs are looked at")
		}
	})
}

// TestLooksDoNotGrowWithViewers counts what ten minutes cost in which nothing happens,
// for one page and for ten.
func TestLooksDoNotGrowWithViewers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := manyRuns(10)
		p := New(Options{Path: "none.yaml", Place: f, Log: slog.New(slog.DiscardHandler)})
		defer p.Close()
		cost := func() [2]int {
			looks, lists := f.count("Look"), f.count("List")
			time.Sleep(10 * time.Minute)
			return [2]int{f.count("Look") - looks, f.count("List") - lists}
		}
		opened(t, p, 0, 3)
		time.Sleep(time.Minute)
		alone := cost()
		if most := 3 * int(10*time.Minute/followLast); alone[0] > most+3 || alone[0] < most/2 || alone[1] > int(10*time.Minute/listEvery)+1 {
			t.Errorf("one page costs %v", alone)
		}
		for range 9 {
			opened(t, p, 0, 3)
		}
		time.Sleep(time.Minute)
		if all := cost(); all[0] > alone[0]+3 || all[1] > alone[1]+3 {
			t.Errorf("ten pages cost %v, one costs %v", all, alone)
		}
	})
}

func TestDurableRunsThatAreTooLongAreNotRead(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]*memory.Budget{"for one run": nil, "for the memory": memory.New(64 << 20)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := manyRuns(1)
			p := New(Options{Path: "none.yaml", Place: f, Memory: budget, Log: slog.New(slog.DiscardHandler)})
			defer p.Close()
			long := strings.Repeat("x", 4<<20)
			for i := range 20 {
				f.runs[0].all = append(f.runs[0].all, parse(t, fmt.Sprintf(`{"index":%d,"event":"done","node":"a","type":"transform","output":"%s"}`, i, long)))
			}
			f.runs[0].Count = 20
			r, err := p.remotes.open(t.Context(), "r0")
			if err != nil {
				t.Fatal(err)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.trouble.code != tooLong || r.bytes > maxRemoteBytes+8<<20 || r.state().Durable.Code != tooLong {
				t.Errorf("%d bytes were read: %+v", r.bytes, r.trouble)
			}
		})
	}
}

func TestLooksAtTheSameTimeHoldMemoryOnce(t *testing.T) {
	t.Parallel()
	f, budget := manyRuns(1), memory.New(1<<30)
	p := New(Options{Path: "none.yaml", Place: f, Memory: budget, Log: slog.New(slog.DiscardHandler)})
	defer p.Close()
	f.runs[0].all = []value.Value{parse(t, fmt.Sprintf(`{"index":0,"event":"done","node":"a","type":"transform","output":"%s"}`, strings.Repeat("x", 4<<20)))}
	f.runs[0].Count = 1
	late := &remoteRun{remotes: p.remotes, id: "r0", poked: make(chan struct{}, 1), account: budget.Account("")}
	if err := late.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	one := budget.Held()
	kept, err := p.remotes.open(t.Context(), "r0")
	if err != nil || p.remotes.keep(kept) != kept {
		t.Fatal(err)
	}
	if got := p.remotes.keep(late); got != kept || one < 4<<20 || budget.Held() > one+1<<20 {
		t.Errorf("%d bytes are held, %d for one look", budget.Held(), one)
	}
}

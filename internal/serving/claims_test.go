package serving

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

func TestRequestsAboutRunsOfADriverWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &claims{requests: map[string]int{}}
		enter := func(caller string) func() {
			t.Helper()
			_, leave, err := r.enter(t.Context(), caller)
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		var leaves []func()
		for range maxRequestsPerCaller {
			leaves = append(leaves, enter("ann"))
		}
		began := time.Now()
		var busy *graph.Failure
		if _, _, err := r.enter(t.Context(), "ann"); !errors.As(err, &busy) || busy.Name != graph.FailBusy || time.Since(began) != turnTimeout {
			t.Errorf("one more: %v after %v", err, time.Since(began))
		}
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("gone"))
		if _, _, err := r.enter(gone, "ann"); err == nil || err.Error() != "gone" {
			t.Errorf("a client that has gone: %v", err)
		}
		enter("bob")() // others do not wait
		go func() {
			time.Sleep(time.Second)
			leaves[0]()
		}()
		began = time.Now()
		leaves[0] = enter("ann")
		if time.Since(began) != time.Second {
			t.Errorf("it waited for %v", time.Since(began))
		}
		for _, leave := range leaves {
			leave()
		}
		for i := range maxRequestsInAll {
			leaves = append(leaves, enter(string(rune('a'+i))))
		}
		if _, _, err := r.enter(t.Context(), "ann"); !errors.As(err, &busy) {
			t.Errorf("more in all: %v", err)
		}
		for _, leave := range leaves[maxRequestsPerCaller:] {
			leave()
		}
		if r.all != 0 || len(r.requests) != 0 {
			t.Errorf("%d requests are left: %v", r.all, r.requests)
		}
	})
}

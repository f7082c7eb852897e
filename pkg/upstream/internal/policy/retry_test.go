package policy

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestLaterTrySucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(5))
		a := &answers{errs: []error{unavailable, unavailable, nil}}
		r, err := s.through(context.Background(), "look", a.next)
		if err != nil || r.Sent != 3 || !value.Equal(r.Value, good) {
			t.Errorf("%+v, %v", r, err)
		}
		if len(r.Attempts) != 3 {
			t.Fatalf("the times of attempts are %v", r.Attempts)
		}
		for i, one := range r.Attempts {
			if !one.Start.Equal(a.times[i]) || one.End.Before(one.Start) || (one.Err == nil) != (i == 2) {
				t.Errorf("attempt %d at %v is %+v", i, a.times[i], one)
			}
		}
	})
}

func TestTimesOfTriesAreThoseOfTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(40))
		a := &answers{errs: []error{unavailable}}
		r, err := s.through(context.Background(), "look", a.next)
		if err == nil || len(r.Attempts) != 32 || !r.Attempts[31].Start.Equal(a.times[39]) {
			t.Errorf("%d tries have %d times, %v", len(a.times), len(r.Attempts), err)
		}
		a = &answers{errs: []error{nil}}
		if r, err := s.through(context.Background(), "look", a.next); err != nil || r.Attempts != nil {
			t.Errorf("one try has the times %v, %v", r.Attempts, err)
		}
	})
}

func TestDelaysGrowUpToTheirLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(6))
		a := &answers{errs: []error{unavailable}}
		_, _ = s.through(context.Background(), "look", a.next)
		want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}
		if got := a.gaps(); !slices.Equal(got, want) {
			t.Errorf("delays %v, want %v", got, want)
		}
	})
}

func TestJitterVariesDelaysByAQuarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := layered(t, retrying(40), func(u *config.Upstream) { u.Retry.Jitter, u.Retry.Backoff = true, 1 })
		a := &answers{errs: []error{unavailable}}
		_, _ = s.through(context.Background(), "look", a.next)
		gaps := a.gaps()
		if least, most := slices.Min(gaps), slices.Max(gaps); least < 750*time.Millisecond || most > 1250*time.Millisecond || least == most {
			t.Errorf("delays from %v to %v", least, most)
		}
	})
}

package jsonata_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// shared is memory of so many bytes.
type shared struct{ left atomic.Int64 }

var errFull = errors.New("no memory is left")

func (s *shared) Reserve(n int64) error {
	if s.left.Add(-n) < 0 {
		s.left.Add(n)
		return errFull
	}
	return nil
}

func (s *shared) Release(n int64) { s.left.Add(n) }

func TestEvaluationsShareTheirMemory(t *testing.T) {
	const all = 8 << 20
	memory := &shared{}
	memory.left.Store(all)
	eval := func(src string) (value.Value, error) {
		e, err := jsonata.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		return e.Eval(context.Background(), value.Undef, &jsonata.Options{Memory: memory})
	}
	_, err := eval(`[1..1000000].[1..1000000]`)
	var failed *jsonata.Error
	if !errors.As(err, &failed) || failed.Code != "U1001" || !errors.Is(err, errFull) {
		t.Fatalf("an evaluation that needs much more gives %v", err)
	}
	if left := memory.left.Load(); left != all {
		t.Errorf("an evaluation that failed keeps %d bytes", all-left)
	}
	v, err := eval(`$sum([1..100000])`)
	if err != nil || v.Float() != 5000050000 {
		t.Errorf("%s, %v", v.JSON(), err)
	}
	if left := memory.left.Load(); all-left > 1024 {
		t.Errorf("a number keeps %d bytes", all-left)
	}
	if v, err = eval(`[1..100000]`); err != nil || v.Len() != 100_000 {
		t.Fatal(err)
	}
	if kept := all - memory.left.Load(); kept < 100_000*24 || kept > 100_000*60 {
		t.Errorf("a list of 100000 keeps %d bytes", kept)
	}
}

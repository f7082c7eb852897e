package graph_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// source is a long value that is told when it is read.
type source struct{ read func() value.Value }

var long = value.FromString(strings.Repeat("x", 100_000))

func (source) Entries() []value.Entry             { return []value.Entry{{Key: "a", Value: long}} }
func (s source) Lookup(string) value.Value        { return s.read() }
func sourced(read func() value.Value) value.Value { return value.FromSource(source{read}) }

func TestLongChecksEndWithTheirContext(t *testing.T) {
	s := schema(t, `{type: object, properties: {a: {type: string}}}`)
	cause := errors.New("enough")
	began, let := make(chan struct{}), make(chan struct{})
	blocked := sourced(func() value.Value { began <- struct{}{}; <-let; return long })
	var all sync.WaitGroup
	check := func(want error) (cancel func()) {
		ctx, stop := context.WithCancelCause(context.Background())
		all.Go(func() {
			if err := s.ValidateContext(ctx, blocked); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
		return func() { stop(cause) }
	}
	// As many as there are processors are under way, two of which are given up;
	// one more waits, and is given up too.
	for range 2 {
		var cancels []func()
		for range runtime.GOMAXPROCS(0) {
			cancels = append(cancels, check(cause))
			<-began
		}
		check(cause)()
		for _, cancel := range cancels {
			cancel()
		}
		all.Wait()
		for range cancels {
			let <- struct{}{}
		}
	}
	check(nil)
	<-began
	close(let)
	all.Wait()
}

func TestLongValuesAreJudgedAsOthers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	v := value.FromEntries([]value.Entry{{Key: "a", Value: long}})
	for source, fits := range map[string]bool{`{type: object}`: true, `{properties: {a: {maxLength: 10}}}`: false, `{properties: {a: {minLength: 10}}}`: true} {
		err := schema(t, source).ValidateContext(ctx, v)
		var wrong *graph.SchemaError
		if fits != (err == nil) || !fits && !errors.As(err, &wrong) {
			t.Errorf("%s: %v", source, err)
		}
	}
	defer func() {
		if p := recover(); p != "boom" {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = schema(t, `{properties: {a: {type: string}}}`).ValidateContext(ctx, sourced(func() value.Value { panic("boom") }))
	t.Error("a panic is lost")
}

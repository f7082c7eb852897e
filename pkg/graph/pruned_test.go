package graph

import (
	"context"
	"errors"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestValueWithoutFunctionsIsNotCopied(t *testing.T) {
	v, _ := value.Parse(`{"a":[1,{"b":null}],"c":"x"}`)
	got, err := WithoutFunctions(context.Background(), v)
	if err != nil || &got.Entries()[0] != &v.Entries()[0] {
		t.Errorf("a copy was made, or %v", err)
	}
}

func TestFunctionsAreTakenOutAsJSONDoes(t *testing.T) {
	f := value.FromFunc(1)
	deep := value.FromEntries([]value.Entry{{Key: "f", Value: f}, {Key: "n", Value: value.FromInt(1)}})
	v := value.FromArray([]value.Value{f, deep, value.FromArray([]value.Value{f})})
	got, err := WithoutFunctions(context.Background(), v)
	if err != nil || got.JSON() != `[null,{"n":1},[null]]` || got.Elems()[1].Has("f") {
		t.Errorf("got %s, %v", got.JSON(), err)
	}
}

func TestValueThatHoldsOthersManyTimesOverIsLeftWithTheRun(t *testing.T) {
	v := value.FromArray(nil)
	for range 200 {
		v = value.FromArray([]value.Value{v, v})
	}
	cause := errors.New("over")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if _, err := WithoutFunctions(ctx, v); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

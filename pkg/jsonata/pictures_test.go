package jsonata

import (
	"context"
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestPicturesInTheSourceAreCompiledWithIt(t *testing.T) {
	e, err := Compile(`[1, 20] . [$formatNumber($, "0.0"), $ ~> $formatInteger("000"), $fromMillis($, "[Y]"), $formatNumber($, "0" & ".00")]`)
	if err != nil {
		t.Fatal(err)
	}
	known := &e.unit.known
	if known.numbers["0.0"] == nil || known.integers["000"] == nil || known.dates["[Y]"] == nil || len(known.numbers) != 1 {
		t.Errorf("compiled are %v, %v and %v", known.numbers, known.integers, known.dates)
	}
	got, err := e.Eval(context.Background(), value.Undef, nil)
	if want := `[["1.0","001","1970","1.00"],["20.0","020","1970","20.00"]]`; err != nil || got.JSON() != want {
		t.Errorf("got %s, %v; want %s", got.JSON(), err, want)
	}
}

func TestAPictureThatIsNoneFailsWhereItIsUsed(t *testing.T) {
	e, err := Compile(`x ? $formatNumber(1, "") : "unused"`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Eval(context.Background(), value.Undef, nil)
	if err != nil || got.Str() != "unused" {
		t.Errorf("got %s, %v", got.JSON(), err)
	}
	_, err = e.Eval(context.Background(), mustValue(t, `{"x":true}`), nil)
	if own, ok := err.(*Error); !ok || !slices.Contains([]string{"D3085", "D3086"}, own.Code) {
		t.Errorf("got %v", err)
	}
}

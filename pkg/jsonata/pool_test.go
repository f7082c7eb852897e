package jsonata_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestEvaluationsSharePooledMemoryWithoutMixing runs expressions that use all
// that evaluations leave to one another, successes and failures side by side.
func TestEvaluationsSharePooledMemoryWithoutMixing(t *testing.T) {
	e, err := jsonata.Compile(`(
		$name := $caller();
		$long := $filter(items, function($i){$contains($i.name, /a\d/)});
		$match($name, /(\w)(\d+)/).groups[1] = "13" ? $error($name) :
			$join($map($long, function($i){$i.name & $name}), ",") & $formatNumber($count($split($name, "r")), "0.0")
	)`, jsonata.WithFunctions(jsonata.Function{Name: "caller", Call: func(c *jsonata.Call, _ []value.Value) (value.Value, error) {
		return value.FromString(c.Data().(string)), nil
	}}))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 300 {
				name := fmt.Sprint("r", g*100+i%20)
				data, err := value.Parse(fmt.Sprintf(`{"items":[{"name":"a%d"},{"name":"b"},{"name":"a%d"}]}`, i, g))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := e.Eval(context.Background(), data, &jsonata.Options{Data: name})
				if name == "r13" {
					var own *jsonata.Error
					if !errors.As(err, &own) || own.Code != "D3137" {
						t.Errorf("%s: got %v", name, err)
					}
					continue
				}
				if want := fmt.Sprintf("a%d%s,a%d%s2.0", i, name, g, name); err != nil || got.Str() != want {
					t.Errorf("got %s, %v; want %s", got.JSON(), err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestACallThatIsKeptReachesNoOtherEvaluation(t *testing.T) {
	var kept *jsonata.Call
	e, err := jsonata.Compile(`$keep(function($x){$x})`, jsonata.WithFunctions(jsonata.Function{Name: "keep", Call: func(c *jsonata.Call, args []value.Value) (value.Value, error) {
		kept = c
		return args[0], nil
	}}))
	if err != nil {
		t.Fatal(err)
	}
	fn, err := e.Eval(context.Background(), value.Undef, &jsonata.Options{Data: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	first := kept
	if _, err := e.Eval(context.Background(), value.Undef, &jsonata.Options{Data: "another's"}); err != nil {
		t.Fatal(err)
	}
	var own *jsonata.Error
	if _, err := first.Apply(fn, value.True); !errors.As(err, &own) || own.Code != "U1002" {
		t.Errorf("a call was usable after its function had returned: %v", err)
	}
	if first.Data() != "mine" {
		t.Errorf("it now sees the data %v", first.Data())
	}
}

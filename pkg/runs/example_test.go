package runs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mcpgraph/mcpgraph"
)

// A run that is over is travelled through: the document that the expressions of
// each execution saw, also where a node was executed several times.
func ExampleRun_Replay() {
	engine, err := mcpgraph.Load("testdata/powers.yaml")
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	if _, err := engine.Call(context.Background(), "power_above", map[string]any{"limit": 2}); err != nil {
		log.Fatal(err)
	}
	run, err := engine.Runs().List("")[0].Replay()
	if err != nil {
		log.Fatal(err)
	}
	for i, record := range run.History() {
		fmt.Println(i, record.Node, "saw", run.ContextAt(i).JSON())
	}
	fmt.Println("result", run.Result().JSON())
	// Output:
	// 0 entry saw {}
	// 1 double saw {"entry":{"limit":2}}
	// 2 enough saw {"double":1,"entry":{"limit":2}}
	// 3 double saw {"enough":"double","double":1,"entry":{"limit":2}}
	// 4 enough saw {"double":2,"enough":"double","entry":{"limit":2}}
	// 5 double saw {"enough":"double","double":2,"entry":{"limit":2}}
	// 6 enough saw {"double":4,"enough":"double","entry":{"limit":2}}
	// 7 result saw {"enough":"result","double":4,"entry":{"limit":2}}
	// 8 exit saw {"result":{"power":4},"enough":"result","double":4,"entry":{"limit":2}}
	// result {"power":4}
}

package graph_test

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
)

func ExampleBuild() {
	file, _ := config.Parse("tools.yaml", []byte(`
version: "1.0"
server: {name: demo, version: "1"}
tools:
  - name: echo
    description: Gives its arguments back
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: exti}
      - {id: exit, type: exit}
`), config.Options{})
	set, found := graph.Build(file, nodes.All)
	for _, d := range found {
		fmt.Println(d.Error())
	}
	fmt.Println(len(set.Graphs[0].Nodes), "nodes")
	// Output:
	// tools.yaml:9:40: error: "next" of node "entry" leads to node "exti", which does not exist [unknown-node]
	// 2 nodes
}

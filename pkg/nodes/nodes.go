// Package nodes holds the node types of the configuration language, one file
// each.
package nodes

import "github.com/mcpgraph/mcpgraph/pkg/graph"

// All lists the node types in the order in which documentation shows them. It
// must not be modified.
var All = []*graph.Kind{Entry, MCP, Transform, Switch, Map, Parallel, Call, Wait, Ask, Sample, Roots, Fail, Exit}

package language

import (
	"sync"

	"github.com/mcpgraph/mcpgraph/internal/suite"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// suiteShape returns the shape of a test file.
var suiteShape = sync.OnceValue(func() *shape {
	fields := func(of []config.Setting, name string) []config.Setting {
		for _, s := range of {
			if s.Name == name {
				return s.Fields
			}
		}
		return nil
	}
	js := &shape{role: expression}
	byNode := &shape{free: constant(anything), named: anyNodeID}
	steps := &shape{role: anyNodeID, named: anyNodeID}
	steps.items, steps.free = constant(steps), constant(steps)

	mocks := &shape{items: constant(&shape{keys: fixed(settingKeys(fields(suite.Settings(), "mocks"), map[string]*shape{
		"server": {role: serverName}, "tool": {role: upstreamTool}, "expr": js,
		"arguments": {free: constant(anything), named: argument},
	}))})}
	tests := fields(suite.Settings(), "tests")
	js2 := *js
	js2.items = constant(js)
	expect := &shape{keys: fixed(settingKeys(fields(tests, "expect"), map[string]*shape{
		"expr": &js2, "path": steps, "outputs": byNode, "attempts": byNode,
		"error": {keys: fixed([]key{
			{name: "name", doc: "Name of the failure", of: &shape{role: failureName}},
			{name: "node", doc: "Id of the node that failed", of: &shape{role: anyNodeID}},
			{name: "message", doc: "What happened", of: anything},
			{name: "server", doc: "Upstream server of the failed call", of: &shape{role: serverName}},
			{name: "tool", doc: "Upstream tool of the failed call", of: &shape{role: upstreamTool}},
		}), free: constant(anything)},
	}))}
	return &shape{keys: fixed(settingKeys(suite.Settings(), map[string]*shape{
		"mocks": mocks, "expect": expect, "tool": {role: ownTool}, "answers": byNode,
		"arguments": {free: constant(anything), named: argument},
	}))}
})

package upstream

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// What a server can announce beside tools (MCP, capabilities).
const (
	hasPrompts       = "prompts"
	promptsChange    = "prompts.listChanged"
	hasResources     = "resources"
	resourcesChange  = "resources.listChanged"
	hasSubscriptions = "resources.subscribe"
	hasCompletions   = "completions"
)

// capabilitiesOf returns those of a server that says this of itself; it is not nil.
func capabilitiesOf(announced value.Value) []string {
	out := []string{}
	add := func(name string, ok bool) {
		if ok {
			out = append(out, name)
		}
	}
	prompts, resources := announced.Get("prompts"), announced.Get("resources")
	add(hasPrompts, !prompts.IsUndefined())
	add(promptsChange, prompts.Get("listChanged").Bool())
	add(hasResources, !resources.IsUndefined())
	add(resourcesChange, resources.Get("listChanged").Bool())
	add(hasSubscriptions, resources.Get("subscribe").Bool())
	add(hasCompletions, !announced.Get("completions").IsUndefined())
	add(hasTasks, !announced.Get("tasks").Get("requests").Get("tools").Get("call").IsUndefined())
	return out
}

// has reports whether the server announces the capability. If what it announces is
// not known, because its session was saved without that, it may have each of them.
func (p *peer) has(capability string) bool {
	return p.capabilities == nil || slices.Contains(p.capabilities, capability)
}

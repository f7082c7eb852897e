package config

import "fmt"

// Passthrough is what an upstream server offers that clients see as it is.
type Passthrough struct {
	// Server is the name of the server.
	Server string
	// Prompts are names and Resources are URIs, in which * stands for any
	// characters. Nothing else passes.
	Prompts, Resources []string
	// Prefix stands before the names of prompts and resources for clients; it may be
	// empty.
	Prefix string
	// Node is the entry as it is written.
	Node *Node
}

func (d *decoder) passthrough(n *Node, index int) Passthrough {
	owner := fmt.Sprintf("passthrough %d", index+1)
	s := d.newSection(n, owner, passthroughSettings, nil)
	p := Passthrough{
		Server: s.literal("server"), Prompts: s.strings("prompts"), Resources: s.strings("resources"), Prefix: s.literal("prefix"), Node: n,
	}
	if !s.has("prompts") && !s.has("resources") {
		m := n.Missing(owner, "prompts")
		m.Message = owner + ` has neither "prompts" nor "resources"`
		m.Hint = `write prompts: ["*"] to offer all prompts of the server`
		d.report(m)
	}
	return p
}

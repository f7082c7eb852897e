package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Changes are the differences between two programs, by name, in the order of the
// file.
type Changes struct {
	ToolsAdded, ToolsChanged, ToolsRemoved []string
	// Offers are the prompts and resources, such as prompts/review.
	OffersAdded, OffersChanged, OffersRemoved []string
	// ServersKept keep their connections; ServersChanged get new ones
	// when they are next needed.
	ServersKept, ServersAdded, ServersChanged, ServersRemoved []string
}

// Changes compares the program with the one that it replaced.
func (p *Program) Changes(old *Program) *Changes {
	var c Changes
	before, now := old.fingerprints(), p.fingerprints()
	add := func(g *graph.Graph, tools, offers *[]string) {
		if g.Offer != nil {
			tools = offers
		}
		*tools = append(*tools, g.Name)
	}
	for _, g := range p.set.Graphs {
		switch was, there := before[g.Name]; {
		case !there:
			add(g, &c.ToolsAdded, &c.OffersAdded)
		case was != now[g.Name]:
			add(g, &c.ToolsChanged, &c.OffersChanged)
		}
	}
	for _, g := range old.set.Graphs {
		if _, there := now[g.Name]; !there {
			add(g, &c.ToolsRemoved, &c.OffersRemoved)
		}
	}
	had := func(of *Program, name string) bool {
		return slices.ContainsFunc(of.set.File.Upstreams, func(u *config.Upstream) bool { return u.Name == name })
	}
	for _, u := range p.set.File.Upstreams {
		switch {
		case !had(old, u.Name):
			c.ServersAdded = append(c.ServersAdded, u.Name)
		case p.upstreams.pool != nil && !p.upstreams.pool.Has(u.Name, old.upstreams.pool):
			c.ServersChanged = append(c.ServersChanged, u.Name)
		default:
			c.ServersKept = append(c.ServersKept, u.Name)
		}
	}
	for _, u := range old.set.File.Upstreams {
		if !had(p, u.Name) {
			c.ServersRemoved = append(c.ServersRemoved, u.Name)
		}
	}
	return &c
}

// fingerprints returns for each tool, prompt and resource, by name, a text that
// differs where it does.
func (p *Program) fingerprints() map[string]string {
	file := p.set.File
	shared := map[string]string{} // nodes of the flat layout, by id
	for _, n := range file.Nodes {
		shared[n.Get("id").Text().String()] = n.Value().JSON()
	}
	catch := map[string]string{}
	written := map[string][]*config.Node{}
	for _, t := range file.Tools {
		written[t.Name.String()] = t.Nodes
		catch[t.Name.String()] = t.Node.Get("catch").Value().JSON()
	}
	tools := p.Tools()
	prints := make(map[string]string, len(tools))
	for i, t := range tools {
		g := p.set.Graphs[i]
		parts := []string{
			strconv.Quote(t.Title), strconv.Quote(t.Description), strconv.Quote(strings.Join(t.RequiredScopes, " ")),
			catch[t.Name], strconv.FormatBool(g.Private), g.Task, fmt.Sprint(g.Limits),
		}
		for _, v := range []value.Value{t.InputSchema, t.OutputSchema, t.Annotations, t.Icons} {
			parts = append(parts, v.JSON())
		}
		for _, n := range written[t.Name] {
			parts = append(parts, n.Value().JSON())
		}
		if file.Flat {
			for _, n := range g.Nodes {
				parts = append(parts, shared[n.ID])
			}
		}
		prints[t.Name] = strings.Join(parts, "\n")
	}
	for _, o := range file.Prompts {
		prints[config.Prompts+o.Name.String()] = o.Node.Value().JSON() + fmt.Sprint(file.Limits)
	}
	for _, o := range file.Resources {
		prints[config.Resources+o.Name.String()] = o.Node.Value().JSON() + fmt.Sprint(file.Limits)
	}
	return prints
}

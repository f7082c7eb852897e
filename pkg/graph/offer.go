package graph

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// OfferKind is what a graph offers that is no tool.
type OfferKind uint8

// The kinds of offers.
const (
	PromptOffer OfferKind = iota
	ResourceOffer
	TemplateOffer // a family of resources
)

// Offer is what clients see of a graph that is a prompt or a resource. It is
// immutable.
type Offer struct {
	Kind OfferKind
	// Name is the name for clients, without what stands before it in Graph.Name.
	Name string
	// URI is that of a resource; the URI template (RFC 6570) of a family of them.
	URI string
	// Variables are those of the URI template, in its order.
	Variables []string
	// MIMEType is that of the contents; it may be empty.
	MIMEType string
	// Arguments are those of a prompt.
	Arguments []config.Argument
	// Annotations are those of a resource (audience, priority, lastModified);
	// undefined if there are none.
	Annotations value.Value
	// Completions are what to suggest, by argument or variable; it may be nil.
	Completions map[string]*Completion
	// SubscribeEvery is how often the graph runs for subscribers; 0 if clients
	// cannot subscribe.
	SubscribeEvery time.Duration
}

// Completion is what to suggest for an argument or variable: Values or, if Graph is
// not nil, the result of that.
type Completion struct {
	Values []string
	Graph  *Graph
}

// Quoted returns how messages call a graph: tool "x", prompt "x" or resource "x".
func Quoted(name string) string {
	if own, ok := strings.CutPrefix(name, config.Prompts); ok {
		return fmt.Sprintf("prompt %q", own)
	}
	if own, ok := strings.CutPrefix(name, config.Resources); ok {
		return fmt.Sprintf("resource %q", own)
	}
	return fmt.Sprintf("tool %q", name)
}

// offers builds the graphs of prompts and resources.
func (b *builder) offers() []*Graph {
	var graphs []*Graph
	for _, p := range b.file.Prompts {
		graphs = append(graphs, b.prompt(p))
	}
	for _, r := range b.file.Resources {
		graphs = append(graphs, b.resource(r))
	}
	return graphs
}

// offer begins the graph of an offer.
func (b *builder) offer(o *config.Offer, prefix string) *Graph {
	return &Graph{
		Name: prefix + o.Name.String(), Title: o.Title, Description: o.Description, Limits: b.file.Limits,
		Icons: o.Icons, RequiredScopes: o.RequiredScopes, File: b.file.Path, Pos: o.Pos,
		Offer: &Offer{Name: o.Name.String(), Completions: map[string]*Completion{}},
	}
}

func (b *builder) prompt(p *config.Prompt) *Graph {
	g := b.offer(&p.Offer, config.Prompts)
	g.Offer.Arguments = p.Arguments
	g.Input = readInputSchema(b.reporter, promptSchema(p), "arguments of "+Quoted(g.Name))
	nodes := p.Nodes
	if p.Messages != nil {
		nodes = generate(p.Messages, messagesKind, messagesField)
	}
	b.own(g, p.Node, nodes)
	for _, a := range p.Arguments {
		b.complete(g, a.Name, a.Complete)
	}
	return g
}

func (b *builder) resource(r *config.Resource) *Graph {
	g := b.offer(&r.Offer, config.Resources)
	g.Offer.Kind, g.Offer.URI, g.Offer.MIMEType = ResourceOffer, r.URI.String(), r.MIMEType
	if r.Template {
		g.Offer.Kind, g.Offer.Variables = TemplateOffer, r.Variables
	}
	g.Offer.Annotations, g.Offer.SubscribeEvery = r.Annotations, r.SubscribeEvery
	g.Input = readInputSchema(b.reporter, resourceSchema(r), "variables of "+Quoted(g.Name))
	b.own(g, r.Node, r.Nodes)
	for _, name := range r.Variables {
		b.complete(g, name, r.Complete[name])
	}
	return g
}

// complete builds what to suggest for an argument or variable of a graph.
func (b *builder) complete(g *Graph, name string, c *config.Completion) {
	switch {
	case c == nil || name == "":
		return
	case c.Expr == nil:
		g.Offer.Completions[name] = &Completion{Values: c.Values}
		return
	}
	own := &Graph{
		Name: g.Name + "/" + name, Limits: g.Limits, File: g.File, Pos: c.Pos,
		Input: g.Input,
	}
	b.own(own, c.Expr, generate(c.Expr, completeKind, completeField))
	b.completions = append(b.completions, own)
	g.Offer.Completions[name] = &Completion{Graph: own}
}

// promptSchema returns the schema of the arguments of a prompt, in their place.
func promptSchema(p *config.Prompt) *config.Node {
	properties := value.NewBuilder(len(p.Arguments))
	var required []value.Value
	for _, a := range p.Arguments {
		s := value.NewBuilder(3)
		s.Set("type", value.FromString("string"))
		if a.Title != "" {
			s.Set("title", value.FromString(a.Title))
		}
		if a.Description != "" {
			s.Set("description", value.FromString(a.Description))
		}
		properties.Set(a.Name, s.Value())
		if a.Required {
			required = append(required, value.FromString(a.Name))
		}
	}
	place := p.Node
	if list := p.Node.Get("arguments"); list != nil {
		place = list
	}
	return place.Generated(closedObject(properties.Value(), required))
}

// resourceSchema returns the schema of the variables of a resource, in their place: a
// string each, or a list of strings with an asterisk (RFC 6570, 2.4.2). Those of a query
// (3.2.8) may be left out. One of which the URI has only a prefix (2.4.1) is no longer
// than that.
func resourceSchema(r *config.Resource) *config.Node {
	properties := value.NewBuilder(len(r.Variables))
	var required []value.Value
	for _, name := range r.Variables {
		inQuery, exploded, longest := formOf(r.URI.String(), name)
		text := []value.Entry{{Key: "type", Value: value.FromString("string")}}
		if longest > 0 {
			text = append(text, value.Entry{Key: "maxLength", Value: value.FromInt(int64(longest))})
		}
		one := value.FromEntries(text)
		if exploded {
			one = value.FromEntries([]value.Entry{{Key: "type", Value: value.FromString("array")}, {Key: "items", Value: one}})
		}
		properties.Set(name, one)
		if !inQuery {
			required = append(required, value.FromString(name))
		}
	}
	place := r.Node
	if n := r.Node.Get("uriTemplate"); n != nil {
		place = n
	}
	return place.Generated(closedObject(properties.Value(), required))
}

// formOf reports whether a variable of a URI template stands in a query, and whether it
// has an asterisk anywhere. longest is how many characters of it the URI has; 0: all.
func formOf(template, name string) (inQuery, exploded bool, longest int) {
	whole := false
	for _, part := range strings.Split(template, "{")[1:] {
		inside, _, _ := strings.Cut(part, "}")
		bare := strings.TrimLeft(inside, "+#./;?&")
		for _, spec := range strings.Split(bare, ",") {
			plain, asterisk := strings.CutSuffix(spec, "*")
			plain, prefix, cut := strings.Cut(plain, ":")
			if plain != name {
				continue
			}
			inQuery = inQuery || strings.HasPrefix(inside, "?") || strings.HasPrefix(inside, "&")
			exploded = exploded || asterisk
			whole = whole || !cut
			n, _ := strconv.Atoi(prefix) // digits: config has checked the template
			longest = max(longest, n)
		}
	}
	if whole {
		longest = 0
	}
	return inQuery, exploded, longest
}

// closedObject returns the schema of an object with no other properties than these.
func closedObject(properties value.Value, required []value.Value) value.Value {
	s := value.NewBuilder(4)
	s.Set("type", value.FromString("object"))
	s.Set("properties", properties)
	if len(required) > 0 {
		s.Set("required", value.FromArray(required))
	}
	s.Set("additionalProperties", value.False)
	return s.Value()
}

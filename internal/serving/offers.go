package serving

import (
	"context"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// offers returns the prompts and resources of a program.
func (s *Servers) offers(p *engine.Program, call server.CallFunc) (prompts []server.Prompt, resources []server.Resource) {
	for _, g := range p.Offers() {
		o := g.Offer
		if o.Kind != graph.PromptOffer {
			resources = append(resources, server.Resource{
				URI: o.URI, Template: o.Kind == graph.TemplateOffer, Name: o.Name, Title: g.Title, Description: g.Description,
				MIMEType: o.MIMEType, Annotations: o.Annotations, Icons: g.Icons, RequiredScopes: g.RequiredScopes,
				SubscribeEvery: o.SubscribeEvery, Read: call, Complete: s.completer(p, g),
			})
			continue
		}
		t := server.Prompt{
			Name: o.Name, Title: g.Title, Description: g.Description, Icons: g.Icons, RequiredScopes: g.RequiredScopes,
			Arguments: []server.PromptArgument{}, Get: call, Complete: s.completer(p, g),
		}
		for _, a := range o.Arguments {
			t.Arguments = append(t.Arguments, server.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required})
		}
		prompts = append(prompts, t)
	}
	return prompts, resources
}

// completer returns what completes the arguments of a graph; nil if nothing does.
func (s *Servers) completer(p *engine.Program, g *graph.Graph) server.CompleteFunc {
	if len(g.Offer.Completions) == 0 {
		return nil
	}
	return func(ctx context.Context, r *server.Request, argument, typed string, known value.Value) (server.Completion, error) {
		values, total, err := p.Complete(ctx, &r.Info, g.Name, argument, typed, known)
		if err != nil {
			return server.Completion{}, s.failed(p, &r.Info, err)
		}
		return server.Completion{Values: values, Total: total}, nil
	}
}

package server

import (
	"cmp"
	"context"
	"regexp"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Resource is a document, or a family of documents, that clients can read.
type Resource struct {
	// URI identifies the resource. If Template is true, it is a URI template
	// (RFC 6570, level 1).
	URI         string
	Template    bool
	Name        string
	Description string
	MIMEType    string
	// Read returns the text of the resource at uri for the caller of r. ok is
	// false if there is none.
	Read func(ctx context.Context, r *Request, uri string) (text string, ok bool)
}

// resources are the resources of a snapshot.
type resources struct {
	all       []Resource
	exact     map[string]*Resource
	templates []resourceTemplate

	listed, listedTemplates []byte // members of the results of the lists
}

type resourceTemplate struct {
	*Resource
	matches *regexp.Regexp
}

func newResources(all []Resource) resources {
	s := resources{all: slices.Clone(all), exact: map[string]*Resource{}}
	byName := slices.SortedStableFunc(slices.Values(s.all), func(a, b Resource) int { return cmp.Compare(a.Name, b.Name) })
	var exact, templates []value.Value
	for i := range byName {
		r := &byName[i]
		if r.Template {
			s.templates = append(s.templates, resourceTemplate{r, mcp.NewResourceTemplate(r.URI, r.Name).URITemplate.Regexp()})
			templates = append(templates, r.listed("uriTemplate"))
		} else {
			s.exact[r.URI] = r
			exact = append(exact, r.listed("uri"))
		}
	}
	s.listed = value.FromArray(exact).Append([]byte(`"resources":`))
	s.listedTemplates = value.FromArray(templates).Append([]byte(`"resourceTemplates":`))
	return s
}

// listed returns the resource as it appears in lists, with its URI under key.
func (r *Resource) listed(key string) value.Value {
	b := value.NewBuilder(4)
	b.Set(key, value.FromString(r.URI))
	b.Set("name", value.FromString(r.Name))
	if r.Description != "" {
		b.Set("description", value.FromString(r.Description))
	}
	if r.MIMEType != "" {
		b.Set("mimeType", value.FromString(r.MIMEType))
	}
	return b.Value()
}

// find returns the resource at uri; nil if there is none.
func (s *resources) find(uri string) *Resource {
	if r := s.exact[uri]; r != nil {
		return r
	}
	for _, t := range s.templates {
		if t.matches.MatchString(uri) {
			return t.Resource
		}
	}
	return nil
}

// same reports whether both show the same resources to clients.
func (s *resources) same(as *resources) bool {
	return slices.EqualFunc(s.all, as.all, func(a, b Resource) bool {
		return a.URI == b.URI && a.Template == b.Template && a.Name == b.Name &&
			a.Description == b.Description && a.MIMEType == b.MIMEType
	})
}

func (p *snapshot) checkResources(r *Request) *rpcError {
	if len(p.resources.all) == 0 {
		return rpcErrorf(mcp.METHOD_NOT_FOUND, "%s: this server has no resources", r.Method)
	}
	return nil
}

func (p *snapshot) listResources(_ context.Context, r *Request) ([]byte, *rpcError) {
	if rpcErr := checkCursor(r); rpcErr != nil {
		return nil, rpcErr
	}
	return p.message(r, p.resources.listed, true), nil
}

func (p *snapshot) listTemplates(_ context.Context, r *Request) ([]byte, *rpcError) {
	if rpcErr := checkCursor(r); rpcErr != nil {
		return nil, rpcErr
	}
	return p.message(r, p.resources.listedTemplates, true), nil
}

// readResource answers resources/read. Before revision 2026-07-28, an unknown
// URI has an error code of its own (MCP, Resources, Error Handling).
func (p *snapshot) readResource(ctx context.Context, r *Request) ([]byte, *rpcError) {
	at := r.params.Get("uri")
	if at.Kind() != value.String {
		return nil, rpcErrorf(mcp.INVALID_PARAMS, "%s: uri must be a string, found %s", r.Method, graph.Describe(at))
	}
	uri := at.Str()
	found := p.resources.find(uri)
	text, ok := "", false
	if found != nil {
		text, ok = found.Read(ctx, r, uri)
	}
	if err := memory.AccountOf(ctx).Err(); err != nil {
		return nil, busyError(err)
	}
	if !ok {
		code := mcp.RESOURCE_NOT_FOUND
		if r.modern {
			code = mcp.INVALID_PARAMS
		}
		rpcErr := rpcErrorf(code, "unknown resource %q", uri)
		rpcErr.Data = value.FromEntries([]value.Entry{{Key: "uri", Value: value.FromString(jsonrpc.Clip(uri))}})
		return nil, rpcErr
	}
	if err := memory.AccountOf(ctx).Grow(4 * int64(len(text))); err != nil {
		return nil, busyError(err)
	}
	members := value.AppendString([]byte(`"contents":[{"uri":`), uri)
	if found.MIMEType != "" {
		members = value.AppendString(append(members, `,"mimeType":`...), found.MIMEType)
	}
	members = value.AppendString(append(members, `,"text":`...), text)
	return p.message(r, append(members, "}]"...), true), nil
}

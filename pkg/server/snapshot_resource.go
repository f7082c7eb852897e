package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/internal/jsonrpc"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Resource is a document, or a family of documents, that clients can read (MCP
// 2025-11-25, Resources).
type Resource struct {
	// URI identifies the resource. If Template is true, it is a URI template
	// (RFC 6570) whose variables are the arguments of Read.
	URI         string
	Template    bool
	Name        string
	Title       string
	Description string
	MIMEType    string
	Size        int64       // in bytes; 0 if it is unknown
	Annotations value.Value // undefined if there are none
	Icons       value.Value // undefined if there are none
	// RequiredScopes are the scopes that a caller over HTTP needs.
	RequiredScopes []string
	// Instant reports that Read returns at once. It then takes no slot of
	// [Limits].
	Instant bool
	// Read returns the contents of the resource at r.URI for the caller of r: an
	// array of objects with uri, and text or blob (MCP 2025-11-25, Resource
	// Contents). r.Args has the variables of a template, and r.Tool is
	// "resources/NAME". The error is ErrNotFound if there is no such resource; each
	// error becomes a JSON-RPC error.
	Read CallFunc
	// Complete completes variables of a template; nil if nothing can be completed.
	Complete CompleteFunc
	// SubscribeEvery is how often Read is called again for clients that subscribe; 0
	// means that clients cannot subscribe, unless Subscribe is set.
	SubscribeEvery time.Duration
	// Subscribe calls updated whenever the resource at r.URI changes, until stop is
	// called. It replaces SubscribeEvery, and may be nil.
	Subscribe func(ctx context.Context, r *Request, updated func()) (stop func(), err error)
}

// ErrNotFound is returned by Resource.Read if there is no resource at the URI.
var ErrNotFound = errors.New("there is no such resource")

// ReadText returns a Resource.Read for a resource that is a text; ok is false if there
// is none.
func ReadText(mimeType string, read func(ctx context.Context, r *Request) (text string, ok bool)) CallFunc {
	return func(ctx context.Context, r *Request) (value.Value, error) {
		text, ok := read(ctx, r)
		if !ok {
			return value.Undef, ErrNotFound
		}
		b := value.NewBuilder(3)
		b.Set("uri", value.FromString(r.URI))
		setText(b, "mimeType", mimeType)
		b.Set("text", value.FromString(text))
		return value.FromArray([]value.Value{b.Value()}), nil
	}
}

func (s *Resource) subscribable() bool { return s.SubscribeEvery > 0 || s.Subscribe != nil }

func (s *Resource) offer() *offer {
	return &offer{
		target: resourceTarget + s.Name, label: fmt.Sprintf("resource %q", jsonrpc.Clip(s.Name)), scopes: s.RequiredScopes,
		call: s.Read, verbatim: true, instant: s.Instant, complete: s.Complete, mimeType: s.MIMEType, resource: s,
	}
}

func (s *Resource) listed() listed {
	b := value.NewBuilder(8)
	if s.Template {
		b.Set("uriTemplate", value.FromString(s.URI))
	} else {
		b.Set("uri", value.FromString(s.URI))
	}
	b.Set("name", value.FromString(s.Name))
	setText(b, "title", s.Title)
	setText(b, "description", s.Description)
	setText(b, "mimeType", s.MIMEType)
	b.Set("annotations", s.Annotations)
	if s.Size > 0 && !s.Template {
		b.Set("size", value.FromInt(s.Size))
	}
	b.Set("icons", s.Icons)
	text := b.Value().Append(nil)
	return listed{offer: s.offer(), key: s.URI, legacy: text, modern: text}
}

// Check returns an error if the resource cannot be published: its template is not
// one of RFC 6570.
func (s *Resource) Check() error {
	if !s.Template {
		return nil
	}
	_, err := newTemplate(s.URI)
	return err
}

// addResources adds resources.
func (c *catalog) addResources(all []Resource) error {
	for i := range all {
		s := &all[i]
		l := s.listed()
		if !s.Template {
			c.resources = append(c.resources, l)
			continue
		}
		t, err := newTemplate(s.URI)
		if err != nil {
			return err
		}
		l.arguments = t.variables
		c.templates = append(c.templates, l)
		c.matchers = append(c.matchers, templateOffer{t, l.offer})
	}
	c.resourcesByURI, c.templatesByURI = byKey(c.resources), byKey(c.templates)
	return nil
}

// templateOffer is a template and what it offers.
type templateOffer struct {
	*template
	*offer
}

func (c *catalog) hasResources() bool {
	return len(c.resources)+len(c.templates) > 0 || c.dynamic.Resources != nil || c.dynamic.Templates != nil
}

// subscribes reports whether some resource can be subscribed to.
func (c *catalog) subscribes() bool {
	for _, list := range [][]listed{c.resources, c.templates} {
		for _, l := range list {
			if l.resource.subscribable() {
				return true
			}
		}
	}
	return c.dynamic.Subscribes
}

// checkResources refuses methods of resources if there are none.
func checkResources(p *snapshot, r *Request) *rpcError {
	if !p.hasResources() {
		return rpcErrorf(mcp.METHOD_NOT_FOUND, "%s: this server has no resources", r.Method)
	}
	return nil
}

// findResource returns the resource at a URI, and the variables of the template that
// it belongs to; nil if there is none for the caller of r. One that is hidden from the
// caller also hides what else has the URI: later templates and upstream servers.
func (c *catalog) findResource(r *Request, uri string) (*offer, value.Value) {
	if len(uri) > maxURI {
		return nil, value.Undef
	}
	none := value.FromEntries(nil)
	if o := c.resourcesByURI[uri]; o != nil {
		return c.shown(r, o), none
	}
	for _, t := range c.matchers {
		if variables, ok := t.match(uri); ok {
			return c.shown(r, t.offer), variables
		}
	}
	if c.dynamic.Resource != nil {
		if found := c.dynamic.Resource(r, uri); found != nil {
			return found.offer(), none
		}
	}
	return nil, value.Undef
}

// checkRead refuses resources/read for a resource that does not exist or that the
// caller may not read.
func checkRead(p *snapshot, r *Request) *rpcError {
	if rpcErr := checkResources(p, r); rpcErr != nil {
		return rpcErr
	}
	o, variables := p.findResource(r, r.URI)
	if o == nil {
		return unknownResource(r)
	}
	r.offer, r.Tool, r.Args = o, o.target, variables
	return p.scopes.check(r, o)
}

// unknownResource returns the error for a URI at which there is nothing. Before
// revision 2026-07-28 it has a code of its own (MCP, Resources, Error Handling).
func unknownResource(r *Request) *rpcError {
	code := mcp.RESOURCE_NOT_FOUND
	if r.modern {
		code = mcp.INVALID_PARAMS
	}
	e := rpcErrorf(code, "unknown resource %q", r.URI)
	e.Data = value.FromEntries([]value.Entry{{Key: "uri", Value: value.FromString(jsonrpc.Clip(r.URI))}})
	return e
}

// findTemplate returns the template with this text, or the resource at this URI; nil
// if there is none for the caller of r.
func (c *catalog) findTemplate(r *Request, uri string) *offer {
	for _, m := range []map[string]*offer{c.templatesByURI, c.resourcesByURI} {
		if o := m[uri]; o != nil {
			return c.shown(r, o)
		}
	}
	if c.dynamic.Resource != nil && len(uri) <= maxURI {
		if found := c.dynamic.Resource(r, uri); found != nil {
			return found.offer()
		}
	}
	return nil
}

package upstream

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Bounds of a list of a server's: the pages that are read, and how many things may be on
// them together. Their bytes are bounded by the entry's maxMessageBytes.
const (
	maxPages  = 1000
	maxListed = 100_000
)

// listing is a list of what a server offers.
type listing struct {
	method mcp.MCPMethod
	member string // of the result
	key    string // a string that each of its objects has to have; empty: any will do
	needs  string // the capability
}

var (
	listOfTools     = listing{mcp.MethodToolsList, "tools", "", ""}
	listOfPrompts   = listing{mcp.MethodPromptsList, "prompts", "name", hasPrompts}
	listOfResources = listing{mcp.MethodResourcesList, "resources", "uri", hasResources}
	listOfTemplates = listing{mcp.MethodResourcesTemplatesList, "resourceTemplates", "uriTemplate", hasResources}
)

var listings = map[string]listing{
	string(mcp.MethodPromptsList): listOfPrompts, string(mcp.MethodResourcesList): listOfResources,
	string(mcp.MethodResourcesTemplatesList): listOfTemplates,
}

// offered lists what the server has, without what has not the key. A server that does
// not have such a list has nothing on it.
func (s *session) offered(ctx context.Context, l listing, t *try) ([]value.Value, error) {
	if !s.peer.has(l.needs) {
		return nil, nil
	}
	all, err := s.pages(ctx, l, t)
	if isUnknownMethod(err) {
		return nil, nil // it has resources, but no templates
	}
	usable := all[:0]
	for _, one := range all {
		if one.Get(l.key).Kind() == value.String {
			usable = append(usable, one)
		}
	}
	return s.redactListed(usable), err
}

// pages reads all pages of a list, for the call of t; nil: for us.
func (s *session) pages(ctx context.Context, l listing, t *try) ([]value.Value, error) {
	var all []value.Value
	var members []byte
	left := s.server.entry.MaxMessageBytes
	for range maxPages {
		if t != nil {
			if err := t.admit(ctx); err != nil {
				return nil, err
			}
		}
		page, err := s.request(ctx, &wire.Message{Method: string(l.method), Params: members}, s.server.entry.Timeout)
		if t != nil {
			t.ended()
			t.count(err)
		}
		if err != nil {
			return nil, err
		}
		items := page.Get(l.member)
		if items.Kind() != value.Array && l.key != "" {
			return nil, resultError(fmt.Sprintf("a result without the list %q", l.member))
		}
		if left -= int64(page.TextSize()); left < 0 {
			return nil, &wire.TooLongError{Limit: s.server.entry.MaxMessageBytes}
		}
		if all = append(all, items.Elems()...); len(all) > maxListed {
			return nil, resultError(fmt.Sprintf("a list of more than %d %s", maxListed, l.member))
		}
		cursor := page.Get("nextCursor")
		if cursor.Kind() != value.String {
			return s.withoutHuge(l, all), nil
		}
		members = cursor.Append([]byte(`"cursor":`))
	}
	return nil, resultError(fmt.Sprintf("a list of %s that does not end: %d pages were read", l.member, maxPages))
}

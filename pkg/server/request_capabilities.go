package server

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Modes of elicitation (MCP 2025-11-25, Elicitation).
const (
	FormMode = "form" // the person fills in a form
	URLMode  = "url"  // the person visits a URL
)

// capabilities are those of a client that matter to the server.
type capabilities struct{ form, url, sampling, roots bool }

// capabilitiesOf reads what a client declares. An empty object of elicitation means
// form mode (MCP 2025-11-25, Elicitation, Capabilities); before revision 2025-06-18
// there was no elicitation, and before 2025-11-25 no URL mode.
func capabilitiesOf(declared value.Value, version string) capabilities {
	can := capabilities{
		sampling: declared.Get("sampling").Kind() == value.Object,
		roots:    declared.Get("roots").Kind() == value.Object,
	}
	if elicitation := declared.Get("elicitation"); elicitation.Kind() == value.Object && version >= mcp.ProtocolVersion20250618 {
		form, url := elicitation.Has(FormMode), elicitation.Has(URLMode)
		can.form, can.url = form || !url, url && version >= mcp.ProtocolVersion20251125
	}
	return can
}

// capabilities returns what the client of the request declared.
func (r *Request) capabilities() capabilities {
	if r.modern {
		return capabilitiesOf(r.Meta.Get(mcp.MetaKeyClientCapabilities), r.Protocol)
	}
	return r.session.capabilities()
}

// CanElicit reports whether the client declared that it can ask its user in this
// mode.
func (r *Request) CanElicit(mode string) bool {
	can := r.capabilities()
	switch mode {
	case FormMode:
		return can.form
	case URLMode:
		return can.url
	}
	return false
}

// CanSample reports whether the client declared that it can ask a model.
func (r *Request) CanSample() bool { return r.capabilities().sampling }

// CanListRoots reports whether the client declared that it can list its roots.
func (r *Request) CanListRoots() bool { return r.capabilities().roots }

// CanAsk reports whether the client declared that it can answer any request of the
// server at all.
func (r *Request) CanAsk() bool { return r.capabilities() != capabilities{} }

// Needs returns a *[MissingCapabilityError] if the client did not declare what a
// request with these params needs, or nil.
func (r *Request) Needs(method string, params value.Value) error {
	can, name, inner := r.capabilities(), "elicitation", value.FromEntries(nil)
	switch method {
	case graph.AskModel:
		if can.sampling {
			return nil
		}
		name = "sampling"
	case graph.AskRoots:
		if can.roots {
			return nil
		}
		name = "roots"
	default:
		mode := params.Get("mode").Str()
		if mode == URLMode {
			inner = value.FromEntries([]value.Entry{{Key: URLMode, Value: inner}})
		} else {
			mode = FormMode
		}
		if r.CanElicit(mode) {
			return nil
		}
	}
	return &MissingCapabilityError{value.FromEntries([]value.Entry{{Key: name, Value: inner}})}
}

// MissingCapabilityError says that the client did not declare a capability that a
// request of the server needs. As the error of a [CallFunc] it becomes, from revision
// 2026-07-28 on, the JSON-RPC error -32021 with these capabilities.
type MissingCapabilityError struct {
	// Capabilities are those that are missing, an object as clients declare them.
	Capabilities value.Value
}

// rpcError returns the error as JSON-RPC has it (MCP 2026-07-28,
// MissingRequiredClientCapabilityError).
func (e *MissingCapabilityError) rpcError() *rpcError {
	failed := rpcErrorf(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "%s", e.Error())
	failed.Data = value.FromEntries([]value.Entry{{Key: "requiredCapabilities", Value: e.Capabilities}})
	return failed
}

// Error names the capability.
func (e *MissingCapabilityError) Error() string {
	name := "no"
	for _, one := range e.Capabilities.Entries() {
		if extensions := one.Value.Entries(); one.Key == "extensions" && len(extensions) > 0 {
			return "the client did not declare the extension " + extensions[0].Key
		}
		if name = one.Key; one.Value.Has(URLMode) {
			name += " (URL mode)"
		}
	}
	return "the client did not declare the capability " + name
}

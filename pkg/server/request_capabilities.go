package server

import (
	"github.com/mark3labs/mcp-go/mcp"

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

package upstream

import (
	"context"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
)

type infoKey struct{}

// withInfo returns a context for one call of this package, which carries info.
func withInfo(ctx context.Context, info *callinfo.Info) context.Context {
	if info == nil {
		return ctx
	}
	return context.WithValue(ctx, infoKey{}, info)
}

// infoFor returns info, or what the call of ctx carries if it is nil.
func infoFor(ctx context.Context, info *callinfo.Info) *callinfo.Info {
	if info != nil {
		return info
	}
	return infoOf(ctx)
}

// infoOf returns what the call of ctx carries; callinfo.None if that is nothing.
func infoOf(ctx context.Context) *callinfo.Info {
	info, _ := ctx.Value(infoKey{}).(*callinfo.Info)
	return info.OrNone()
}

// Token is a credential for a server, sent as "Authorization: Bearer VALUE"
// (RFC 6750, 2.1).
type Token struct {
	Value     string
	ExpiresAt time.Time // zero if it is not known
	// Identity is the user that the token stands for. Calls with the same identity
	// share sessions, caches and circuit breakers. If it is empty, only calls with
	// the same token share them.
	Identity string
}

// CredentialSource provides the credentials of a server, instead of the entry's
// auth.
type CredentialSource interface {
	// Token returns the token for a call to the server. It is called for each call
	// and should cache tokens. It must be safe for concurrent use. info is what the
	// call carries about its caller, and not nil. If refresh is set, the server has
	// just refused the token; the call is repeated once with the new one.
	Token(ctx context.Context, info *callinfo.Info, server string, refresh bool) (Token, error)
}

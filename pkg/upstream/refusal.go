package upstream

import (
	"errors"
	"net/http"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// refusalTexts are how servers say in words that a credential is not good (any
// more): the error codes of RFC 6750, 3.1, and what is common beside them.
var refusalTexts = []string{
	"invalid_token", "invalid token", "token is invalid", "token invalid",
	"expired token", "token expired", "token has expired", "token is expired", "token_expired", "expired_token",
	"unauthorized", "unauthenticated", "not authenticated", "authentication required",
	"invalid credentials", "invalid access token", "invalid api key", "http 401", "status 401", "status code 401",
}

// replyTexts are those of refusalTexts that count in a tool's own words too,
// which may be about anything.
var replyTexts = []string{"invalid_token", "token has expired", "token is expired", "token expired", "expired token", "401 unauthorized"}

// longestRefusal bounds the bytes of a text that can be a refusal.
const longestRefusal = 2048

// isRefusal reports whether the server refused the credentials of a request.
func isRefusal(err error) bool {
	if refusedCredential(err) {
		return true
	}
	var status *wire.StatusError
	if errors.As(err, &status) {
		return (status.Status == http.StatusForbidden || status.Status == http.StatusBadRequest) && containsAny(status.Body, replyTexts)
	}
	var reply *refusedReplyError
	if errors.As(err, &reply) {
		return true
	}
	var rpc *RPCError
	return errors.As(err, &rpc) && containsAny(rpc.Message, refusalTexts)
}

// refusedCredential reports whether the server refused the credentials of a request
// without regard to what it asked for: by HTTP 401, or 403 with a challenge (RFC
// 6750, 3.1). Any other refusal is known by its words alone, which may be those
// of a tool that has done its work.
func refusedCredential(err error) bool {
	var status *wire.StatusError
	if !errors.As(err, &status) {
		return false
	}
	switch status.Status {
	case http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
		code := credential.ParseChallenge(status.Header).Code
		return code == "insufficient_scope" || code == "invalid_token"
	}
	return false
}

// refusedReplyError is a tool's result that says that a credential is not good.
type refusedReplyError struct{ text string }

// Error returns what the tool said.
func (e *refusedReplyError) Error() string {
	return "the tool answered: " + redact.Quote([]byte(e.text))
}

func (*refusedReplyError) failureKind() Kind { return KindDenied }

// refusedReply returns the error that a tool's result stands for, where the
// result says that the credentials are not good.
func refusedReply(reply value.Value) error {
	if !reply.Get("isError").Bool() {
		return nil
	}
	for _, part := range reply.Get("content").Elems() {
		if text := part.Get("text").Str(); containsAny(text, replyTexts) {
			return &refusedReplyError{text}
		}
	}
	return nil
}

func containsAny(text string, of []string) bool {
	if len(text) > longestRefusal {
		return false
	}
	text = strings.ToLower(text)
	for _, t := range of {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}

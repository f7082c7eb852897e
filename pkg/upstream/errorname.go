package upstream

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
)

// Names of failures beside those that retryOn has.
const (
	failedUnauthorized = "unauthorized"
	failedBusy         = "busy"
	failedProtocol     = "protocol"
	failedCancelled    = "cancelled"
)

// FailureName returns the name by which rules of a graph know the failure:
// "connect", "closed", "timeout" or "malformed" as in retryOn, "unauthorized"
// where credentials are refused or missing, "busy" where the circuit is open or the
// rate limit left no turn in time, "drift" and "notLocked" where the lock file does
// not allow the call, "arguments" where its arguments do not fit the inputSchema of the
// tool, "cancelled" where the caller gave up, and
// "protocol" for every other answer.
func (e *Error) FailureName() string {
	raw := rawCause(e)
	var lacks *credential.Error
	var misfit *argumentsError
	switch {
	case errors.Is(raw, errDrift):
		return failedDrift
	case errors.Is(raw, errNotLocked):
		return failedNotLocked
	case errors.As(raw, &misfit):
		return failedArguments
	case errors.Is(raw, errCallerGaveUp):
		return failedCancelled
	case errors.Is(raw, errPoolClosed):
		return failedClosed
	case errors.Is(raw, policy.ErrCircuitOpen), errors.Is(raw, policy.ErrRateLimited):
		return failedBusy
	case errors.As(raw, &lacks), isRefusal(raw), statusOf(raw) == http.StatusUnauthorized, statusOf(raw) == http.StatusForbidden:
		return failedUnauthorized
	}
	for _, name := range classify(e).Names {
		if slices.Contains([]string{failedConnect, failedClosed, failedTimeout, failedMalformed}, name) {
			return name
		}
	}
	return failedProtocol
}

// FailureCode returns the HTTP status of the answer, else its JSON-RPC code. It is
// empty where there was no answer with either.
func (e *Error) FailureCode() string {
	raw := rawCause(e)
	if status := statusOf(raw); status != 0 {
		return strconv.Itoa(status)
	}
	var rpc *RPCError
	if errors.As(raw, &rpc) {
		return strconv.Itoa(rpc.Code)
	}
	return ""
}

// RetryAfter returns how long the server asks to be left alone (RFC 9110, section
// 10.2.3), 0 where it does not.
func (e *Error) RetryAfter() time.Duration { return classify(e).After }

// statusOf returns the HTTP status of an answer, 0 where there was none.
func statusOf(raw error) int {
	var status *wire.StatusError
	if errors.As(raw, &status) {
		return status.Status
	}
	return 0
}

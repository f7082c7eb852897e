package durable

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// reach returns why Temporal cannot be used, as far as that is known before the first
// run.
func (c *Client) reach(ctx context.Context) error {
	_, err := c.temporal.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: c.options.Namespace})
	var missing *serviceerror.NamespaceNotFound
	if errors.As(err, &missing) || isUnreachable(err) {
		return known(err)
	}
	return nil // who may start runs may not be allowed to ask this
}

// unavailableError says that a request did not come to Temporal, and why.
type unavailableError struct{ why string }

const unavailableText = "no connection to Temporal"

// Error returns the whole text, which can name machines of the operator.
func (e *unavailableError) Error() string { return unavailableText + ": " + e.why }

// Is reports whether target is runs.ErrUnavailable.
func (e *unavailableError) Is(target error) bool { return target == runs.ErrUnavailable }

// As sets target to what callers may know of the error.
func (e *unavailableError) As(target any) bool {
	f, ok := target.(**graph.Failure)
	if ok {
		*f = &graph.Failure{Name: graph.FailConnect, Message: unavailableText}
	}
	return ok
}

// isUnreachable reports whether a request did not come to Temporal.
func isUnreachable(err error) bool {
	var away *serviceerror.Unavailable
	return errors.As(err, &away)
}

// noConnection returns why there is no connection to an address.
func noConnection(ctx context.Context, address string, secured *tls.Config, err error) error {
	host, _, bad := net.SplitHostPort(address)
	if bad != nil {
		return fmt.Errorf("no connection to Temporal: the address is %q; expected HOST:PORT", address)
	}
	if closedEarly(err.Error()) && secured != nil {
		if why := refusal(ctx, address, secured); why != nil {
			err = why
		}
	}
	text := plainText(err)
	if strings.Contains(text, "no children to pick from") {
		text = fmt.Sprintf("the host %q is not known", host) // of gRPC, which does not say so
	}
	return fmt.Errorf("no connection to Temporal at %s: %s", address, text)
}

// closedEarly reports whether an error says that the connection was closed, and not why.
func closedEarly(text string) bool {
	return strings.Contains(text, "EOF") || strings.Contains(text, "connection reset") || strings.Contains(text, "broken pipe")
}

// refusal returns why a server closes connections with TLS. gRPC may not read that: it
// writes first, and the server has closed the connection by then.
func refusal(ctx context.Context, address string, secured *tls.Config) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	own := secured.Clone()
	own.NextProtos = []string{"h2"}
	conn, err := (&tls.Dialer{Config: own}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if until, ok := ctx.Deadline(); ok {
		_ = conn.SetReadDeadline(until)
	}
	_, err = conn.Read(make([]byte, 1))
	return err
}

// wrappings are what SDK and gRPC put around the reason.
var wrappings = []string{
	"failed reaching server: ", "connection error: desc = ", "rpc error: code = Unauthenticated desc = ",
	"rpc error: code = PermissionDenied desc = ", "rpc error: code = Unavailable desc = ",
	"transport: Error while dialing: ", "transport: authentication handshake failed: ",
	"error reading server preface: ", "tls: failed to verify certificate: ", "last connection error: ",
}

// hints are what to do about a reason, by a part of its text; the first that fits.
var hints = []struct{ part, hint string }{
	{"connection refused", "is it running? `temporal server start-dev` starts one for development"},
	{"tls: certificate required", "it wants a certificate of clients: set --temporal-cert and --temporal-key"},
	{"tls: bad certificate", "it refuses the certificate of --temporal-cert"},
	{"remote error: tls: expired certificate", "the certificate of --temporal-cert has expired"},
	{"remote error: tls: unknown certificate authority", "it does not know the authority of --temporal-cert"},
	{"certificate has expired", "its certificate must be renewed"},
	{"unknown authority", "name the authority of its certificate with --temporal-ca"},
	{"certificate is valid for", "set --temporal-server-name to the name in its certificate"},
	{"first record does not look like a TLS handshake", "it has no TLS: leave --temporal-tls and its like out"},
	{"EOF", mayWantTLS}, {"connection reset", mayWantTLS}, {"broken pipe", mayWantTLS},
	{"nauthorized", "check TEMPORAL_API_KEY"},
	{"nauthenticated", "check TEMPORAL_API_KEY"},
	{"ermission", "check TEMPORAL_API_KEY, and what it may do in the namespace"},
	{context.DeadlineExceeded.Error(), "it does not answer"},
}

const mayWantTLS = "it has closed the connection: it may want TLS (--temporal-tls), or a certificate of clients (--temporal-cert) that it knows"

// plainText returns the reason of an error, and what to do about it.
func plainText(err error) string {
	text := err.Error()
	for again := true; again; {
		again = false
		for _, wrapping := range wrappings {
			if _, rest, found := strings.Cut(text, wrapping); found {
				text, again = rest, true
			}
			if quoted, err := strconv.QuotedPrefix(text); err == nil {
				text, _ = strconv.Unquote(quoted)
			}
		}
	}
	for _, h := range hints {
		if strings.Contains(text, h.part) {
			return fmt.Sprintf("%s; %s", text, h.hint)
		}
	}
	return text
}

// missingNamespace is the error for a namespace that does not exist.
func missingNamespace(name string) error {
	return fmt.Errorf("namespace %q does not exist on Temporal; create it with `temporal operator namespace create --namespace %s`, or choose another one with --namespace", name, name)
}

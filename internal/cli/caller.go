package cli

import (
	"net/http"
	"net/textproto"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// caller is what stands for the caller's request where a command has no client:
// the credentials that entries with forwardHeaders or forwardMeta ask for.
type caller struct {
	headers []string
	meta    string
}

func (c *caller) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.headers, "header", nil, "simulate this client header, `\"NAME: VALUE\"` (repeatable)")
	cmd.Flags().StringVar(&c.meta, "meta", "", "simulate this `JSON` object as the client's _meta")
}

func (c *caller) given() bool { return len(c.headers) > 0 || c.meta != "" }

// info returns what the command's call carries.
func (c *caller) info() (*callinfo.Info, error) {
	headers, err := parseHeaders(c.headers)
	if err != nil {
		return nil, err
	}
	meta := value.Undef
	if c.meta != "" {
		if meta, err = value.ParseStrict(c.meta); err != nil || meta.Kind() != value.Object {
			return nil, usagef("--meta is not a JSON object")
		}
	}
	return &callinfo.Info{Header: headers, Meta: meta}, nil
}

// parseHeaders reads headers of the form "NAME: VALUE". Messages leave the
// value out: it may be a secret.
func parseHeaders(list []string) (http.Header, error) {
	headers := http.Header{}
	for _, h := range list {
		name, v, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t\r\n") {
			return nil, usagef("--header needs the form %q", "NAME: VALUE")
		}
		headers.Add(textproto.CanonicalMIMEHeaderKey(name), strings.TrimSpace(v))
	}
	return headers, nil
}

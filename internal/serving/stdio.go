package serving

import (
	"context"
	"io"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// Stdio serves one client, which writes to in and reads from out, until in ends
// or ctx is done.
func (s *Servers) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.serve(ctx, nil, func(ctx context.Context, srv *server.Server) (err error) {
		if r := s.engine.Current().Recorder(); r != nil {
			done := r.Session(ctx, server.Pipe)
			defer func() { done(err) }()
		}
		return srv.ServeStdio(ctx, in, out)
	})
}

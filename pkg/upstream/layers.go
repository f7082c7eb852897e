package upstream

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// layers is what stands between the calls of one server and the wire.
type layers struct{}

func newLayers(*server) *layers { return &layers{} }

// call makes one call of tool through the layers; next asks the server once.
func (l *layers) call(ctx context.Context, _ identity, _ string, _ value.Value, next func(context.Context) (value.Value, error)) (Result, error) {
	reply, err := next(ctx)
	if err != nil {
		return Result{}, err
	}
	return Result{Reply: reply, Attempts: 1}, nil
}

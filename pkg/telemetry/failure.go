package telemetry

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// errorType names the kind of an error; there are few (semantic conventions,
// error.type): the code of a JSON-RPC error or of JSONata, or a word. It
// happened in ctx.
func errorType(ctx context.Context, err error) string {
	var (
		limit  *executor.LimitError
		crash  *executor.PanicError
		ended  *executor.InterruptedError
		rpc    *upstream.RPCError
		call   *upstream.Error
		rule   *expr.Error
		reply  *nodes.ToolError
		failed *graph.Failure
		told   toldFailure
	)
	switch {
	case errors.As(err, &told) && told.ErrorType() != "":
		return told.ErrorType()
	case errors.As(err, &limit):
		return "limit_exceeded"
	case errors.As(err, &ended):
		return "interrupted"
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return "cancelled"
	case errors.As(err, &reply):
		return toolError
	case errors.As(err, &rpc):
		return strconv.Itoa(rpc.Code)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.As(err, &call):
		return "upstream_" + call.Op
	case errors.As(err, &rule) && rule.Code != "":
		return rule.Code
	case errors.As(err, &rule):
		return "expression"
	case errors.As(err, &crash):
		return "panic"
	case errors.As(err, &failed):
		return failed.Name
	}
	return other
}

// toldFailure is the error of a call that another process made and described with
// [DescribeError].
type toldFailure interface {
	ErrorType() string
	ExceptionType() string
}

// DescribeError returns what spans say of an error that happened in ctx: error.type
// and exception.type.
func DescribeError(ctx context.Context, err error) (errorTypeName, exceptionTypeName string) {
	return errorType(ctx, err), exceptionType(err)
}

// exceptionType names the type of an error.
func exceptionType(err error) string {
	err = executor.Unnamed(cause(err))
	if told, ok := err.(toldFailure); ok && told.ExceptionType() != "" {
		return told.ExceptionType()
	}
	return fmt.Sprintf("%T", err)
}

// cause returns the error beneath the place of a failure.
func cause(err error) error {
	var node *executor.NodeError
	if errors.As(err, &node) {
		err = node.Err
	}
	var at *graph.PosError
	if errors.As(err, &at) {
		err = at.Err
	}
	return err
}

package edit_test

import (
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/edit"
)

func asInvalid(err error, target **edit.InvalidError) bool { return errors.As(err, target) }

package jsonata

import (
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

func TestMain(m *testing.M) { testscale.Main(m) }

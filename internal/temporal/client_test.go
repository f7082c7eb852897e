package temporal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/cli"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
)

// TestHelpHasTheDefaults compares the help of the flags, which the program without
// Temporal prints as well, with what the client takes.
func TestHelpHasTheDefaults(t *testing.T) {
	t.Parallel()
	var help bytes.Buffer
	if code := cli.Main([]string{"worker", "--help"}, strings.NewReader(""), &help, &help, nil, nil); code != 0 {
		t.Fatalf("exit code %d: %s", code, &help)
	}
	words := strings.Join(strings.Fields(help.String()), " ")
	for what, standard := range map[string]string{
		"reach Temporal at HOST:PORT":                  "default " + durable.DefaultAddress,
		"use this NAMESPACE of Temporal":               "default " + durable.DefaultNamespace,
		"begin the names of all task queues with NAME": "default " + durable.DefaultTaskQueue,
	} {
		if want := what + "; " + standard; !strings.Contains(words, want) {
			t.Errorf("the help lacks %q:\n%s", want, &help)
		}
	}
}

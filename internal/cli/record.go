package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcpgraph/mcpgraph/internal/cassette"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// checkRecord refuses a file of --record that cannot be written, before anything is
// called.
func checkRecord(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return failedf("--record: %s is a folder", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return failedf("--record: %w", err)
	}
	return nil
}

// keepRecording replaces the file of --record by what was recorded of the call.
func keepRecording(ctx context.Context, r *toolRunner, info *callinfo.Info, args value.Value) error {
	exchanges, err := r.recorder.Exchanges(ctx, nil, r.engine.Redact)
	if err != nil {
		return failedf("--record: %w", err)
	}
	c := &cassette.Cassette{
		Path: r.record, Exchanges: exchanges,
		Run: &cassette.Run{Config: cassette.Relative(r.record, r.config), Tool: r.tool, Arguments: r.engine.RedactValue(info, args)},
	}
	if err := c.Write(); err != nil {
		return failedf("--record: %w", err)
	}
	fmt.Fprintf(r.stderr, "%s: recorded %s of upstream tools\n", r.record, textline.Count(len(exchanges), "call"))
	return nil
}

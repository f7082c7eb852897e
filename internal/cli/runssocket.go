package cli

import (
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/runsock"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// serveRuns lets mcpgraph runs see the runs of a server until close is called. It goes
// on without that where the system has no place for it.
func serveRuns(a *app, path string, file *config.File, view runs.View, log *slog.Logger) (closeSocket func()) {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if file != nil && file.Server.Name != "" {
		name = file.Server.Name
	}
	s, err := runsock.Listen(runsock.Folder(a.getenv), name, func() runs.View { return view })
	if err != nil {
		log.Info("mcpgraph runs cannot see the runs of this process", "error", err)
		return func() {}
	}
	return s.Close
}

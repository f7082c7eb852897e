package engine

import (
	"runtime/debug"
	"strings"

	"github.com/mcpgraph/mcpgraph/internal/project"
)

// Version returns the version of this module as the Go toolchain recorded it
// in the program, such as "v1.2.0"; "devel" where it recorded none.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return moduleVersion(info)
}

func moduleVersion(info *debug.BuildInfo) string {
	version := ""
	if info.Main.Path == project.Module {
		version = info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == project.Module {
			version = dep.Version
		}
	}
	if version = strings.Trim(version, "()"); version == "" {
		return "devel"
	}
	return version
}

package engine

import (
	"runtime/debug"
	"strings"
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

const modulePath = "github.com/mcpgraph/mcpgraph"

func moduleVersion(info *debug.BuildInfo) string {
	version := ""
	if info.Main.Path == modulePath {
		version = info.Main.Version
	}
	for _, dep := range info.Deps {
		if dep.Path == modulePath {
			version = dep.Version
		}
	}
	if version = strings.Trim(version, "()"); version == "" {
		return "devel"
	}
	return version
}

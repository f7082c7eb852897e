// Package project has the addresses of this project on the web. All are made from the
// path of the module.
package project

import "regexp"

// Module is the path of the Go module.
const Module = "github.com/mcpgraph/mcpgraph"

// URL is the address of the project.
const URL = "https://" + Module

// Names of the JSON Schemas for editors, as releases publish them.
const (
	ConfigSchema = "mcpgraph.schema.json"
	TestSchema   = "mcpgraph-test.schema.json"
)

// Latest is the folder of the files of the latest release, Documents that of the files
// of the repository.
const (
	Latest    = URL + "/releases/latest/download/"
	Documents = URL + "/blob/main/"
)

var (
	// versions are those of releases (semver.org), and of builds from a commit.
	versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	commits  = regexp.MustCompile(`[-.]\d{14}-[0-9a-f]{12}$`)
)

// Released returns the address of a file of the release with a version, such as v1.2.0.
// It is empty if the version is not that of a release, so that nothing is there.
func Released(version, file string) string {
	if !versions.MatchString(version) || commits.MatchString(version) {
		return ""
	}
	return URL + "/releases/download/" + version + "/" + file
}

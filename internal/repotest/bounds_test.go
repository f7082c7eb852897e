package repotest

import "testing"

// wholeFiles are the files that may read files of any size, each with the reason.
var wholeFiles = map[string]string{
	"pkg/durable/storage.go":                          "mcpgraph wrote these files, and bounded them then",
	"pkg/jsonata/internal/bench/compare/reference.go": "compares with what npm installed",
	"internal/footprint/main.go":                      "reads programs that it has built",
	"internal/mcptest/conformance.go":                 "part of tests",
	"internal/mcptest/script.go":                      "part of tests",
	"web/build/licenses.go":                           "builds the page",
	"web/build/main.go":                               "builds the page",
}

// TestLayersReadFilesWithinBounds checks that files of users are read by
// internal/boundedfile, so that a device that never ends takes no memory.
func TestLayersReadFilesWithinBounds(t *testing.T) {
	onlyIn(t, "os.ReadFile(", "read it with internal/boundedfile", wholeFiles)
}

package diag_test

import (
	"os"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

func ExampleWriteText() {
	found := []diag.Diagnostic{{
		File: "tools.yaml", Pos: diag.Pos{Line: 2, Col: 9}, End: diag.Pos{Line: 2, Col: 12},
		Severity: diag.Error, Code: diag.CodeUnknownNode, Message: "there is no such node", Hint: "did you mean \"end\"?",
	}}
	sources := diag.Sources{"tools.yaml": []byte("- id: a\n  next: edn\n")}
	_ = diag.WriteText(os.Stdout, found, sources, diag.TextOptions{})
	// Output:
	// tools.yaml:2:9: error: there is no such node [unknown-node]
	//    2 |   next: edn
	//      |         ^~~
	//      = hint: did you mean "end"?
}

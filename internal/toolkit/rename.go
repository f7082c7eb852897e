package toolkit

import (
	"fmt"
	"path/filepath"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// renameInTests lets the tests of a tool name it as it is called now. It returns a
// text for the message of the edit: which test files were changed, and which could not
// be; empty if no test names the tool.
func renameInTests(t *Toolkit, old, to string) string {
	message := ""
	for _, path := range t.testFiles() {
		switch changed, err := renameInFile(path, old, to); {
		case err != nil:
			message += fmt.Sprintf("; tests in %s still call %q: %v", filepath.Base(path), old, err)
		case changed:
			message += fmt.Sprintf("; its tests in %s were changed, too", filepath.Base(path))
		}
	}
	return message
}

func renameInFile(path, old, to string) (changed bool, err error) {
	text, err := boundedfile.Read(path)
	if err != nil {
		return false, err
	}
	doc, err := edit.Parse(path, text)
	if err != nil {
		return false, err
	}
	var ops []edit.Operation
	for i, test := range doc.Value().Get("tests").Elems() {
		at := fmt.Sprintf("/tests/%d", i)
		if test.Get("tool").Str() == old {
			ops = append(ops, edit.Set(at+"/tool", value.FromString(to)))
		}
		for j, one := range test.Get("cases").Elems() {
			if one.Get("tool").Str() == old {
				ops = append(ops, edit.Set(fmt.Sprintf("%s/cases/%d/tool", at, j), value.FromString(to)))
			}
		}
	}
	if ops == nil {
		return false, nil
	}
	_, next, err := doc.Edit(ops...)
	if err != nil {
		return false, err
	}
	return true, edit.Write(path, doc.Revision(), next.Source())
}

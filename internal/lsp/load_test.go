package lsp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

const loadHead = "version: \"1.0\"\nserver: {name: s, version: \"1\"}\n"

// TestLaterTextsEndEarlierChecks types while a check goes on: the change is read at
// once, and the check of the text before ends without a word.
func TestLaterTextsEndEarlierChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, goOn := make(chan struct{}), make(chan struct{})
		c := connect(t, Options{Getenv: func(name string) (string, bool) {
			if name == "SLOW" {
				close(begun)
				<-goOn
			}
			return "x", true
		}})
		c.initialize(nil)
		const uri = "file:///x.yaml"
		c.open(uri, loadHead+"mcpServers: {s: {command: \"${SLOW}\"}}\ntools: []\nbad: 1\n")
		<-begun
		c.notify("textDocument/didChange", object{
			"textDocument": object{"uri": uri, "version": 2}, "contentChanges": []any{object{"text": loadHead + "tools: []\nworse: 1\n"}},
		})
		if found := c.diagnostics(uri); len(found) != 1 || !strings.Contains(found[0].Message, "worse") {
			t.Errorf("while the first check goes on: %+v", found)
		}
		close(goOn)
		if found := c.diagnostics(uri); found != nil {
			t.Errorf("the check of a text that was replaced said %+v", found)
		}
		c.end()
	})
}

// TestFilesThatDoNotFitHaveAProblem opens a file of 19 kB that takes 40 MB.
func TestFilesThatDoNotFitHaveAProblem(t *testing.T) {
	var b strings.Builder
	b.WriteString(loadHead + "tools: []\nx-merged:\n  - &a0 {k0: 0}\n")
	for i := range 620 {
		fmt.Fprintf(&b, "  - &a%d {<<: *a%d, k%d: 1}\n", i+1, i, i+1)
	}
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, Options{Memory: memory.New(memory.MinLimit)})
		c.initialize(nil)
		const uri = "file:///x.yaml"
		c.open(uri, b.String())
		if found := c.diagnostics(uri); len(found) != 1 || !strings.Contains(found[0].Message, "the file is not checked: ") {
			t.Errorf("%+v", found)
		}
		c.notify("textDocument/didChange", object{
			"textDocument": object{"uri": uri, "version": 2}, "contentChanges": []any{object{"text": loadHead + "tools: []\n"}},
		})
		if found := c.diagnostics(uri); found == nil || len(found) != 0 {
			t.Errorf("a small text: %+v", found)
		}
		c.end()
	})
}

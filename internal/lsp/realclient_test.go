package lsp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
)

// serverVariable makes the program of the tests a language server.
const serverVariable = "MCPGRAPH_TEST_LSP"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) == "" {
		os.Exit(m.Run())
	}
	if err := Serve(context.Background(), os.Stdin, os.Stdout, Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestAClientOfVSCode drives the server with vscode-languageserver-protocol.
func TestAClientOfVSCode(t *testing.T) {
	path, _ := folder(t, map[string]string{"house.yaml": house, "house.test.yaml": houseTest})
	var got struct {
		Encoding     string
		Clean, Wrong []diagnostic
		Actions      []string
		Completion   []string
		Hover        string
		Definition   int
		References   int
		Prepared     string
		Renamed      map[string]int
		Taken        string
		Symbols      []string
		Formatting   int
		Cancelled    any
		Registered   []string
		Code         int
	}
	text := mcptest.RunClient(t, "vscode-languageserver-protocol", []string{path}, []string{serverVariable + "=1"}, &got)
	wrong := len(got.Wrong) == 1 && got.Wrong[0].Code == "unknown-node"
	renamed := got.Renamed["house.yaml"] == 2 && got.Renamed["house.test.yaml"] == 1
	cancelled := got.Cancelled == "answered" || got.Cancelled == float64(codeCancelled)
	if got.Encoding != "utf-16" || len(got.Clean) != 0 || !wrong || !renamed || !cancelled || got.Code != 0 ||
		!slices.Equal(got.Actions, []string{"Replace exti by exit"}) || !slices.Equal(got.Completion, []string{"list", "exit"}) ||
		got.Definition != 10 || got.References != 3 || got.Prepared != "list" || got.Taken != `node "exit" already exists` ||
		!slices.Equal(got.Symbols, []string{"mcpServers", "tools"}) || got.Hover == "" ||
		!slices.Equal(got.Registered, []string{"workspace/didChangeWatchedFiles"}) {
		t.Errorf("%s", text)
	}
}

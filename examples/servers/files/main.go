// Command files is a small MCP server that reads one folder:
//
//	go run ./examples/servers/files DIR
//
// Its tools have the names and results of those of
// @modelcontextprotocol/server-filesystem, so that a graph works with either. It
// shows what an MCP server is: a list of tools, each with a schema and a
// function, on standard input and output.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: files DIR")
		os.Exit(2)
	}
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "files:", err)
		os.Exit(1)
	}
}

// serve answers on standard input and output until the input ends. Standard
// output carries protocol messages only; anything else goes to standard error.
func serve(dir string) error {
	f, err := open(dir)
	if err != nil {
		return err
	}
	s := server.NewMCPServer("files", "1.0.0")
	add := func(name, description string, do func(path string, r mcp.CallToolRequest) (string, error), more ...mcp.ToolOption) {
		options := append([]mcp.ToolOption{
			mcp.WithDescription(description),
			mcp.WithString("path", mcp.Required(), mcp.Description("below the folder of the server")),
			mcp.WithReadOnlyHintAnnotation(true),
			mcp.WithDestructiveHintAnnotation(false),
			mcp.WithOpenWorldHintAnnotation(false),
		}, more...)
		s.AddTool(mcp.NewTool(name, options...), answer(do))
	}
	lines := []mcp.ToolOption{
		mcp.WithNumber("head", mcp.Description("only so many lines from the start")),
		mcp.WithNumber("tail", mcp.Description("only so many lines from the end")),
	}
	add("list_directory", "The names in a folder, one a line, marked [FILE] or [DIR]", f.list)
	add("list_directory_with_sizes", "As list_directory, with the size of each file and their sum", f.listSizes,
		mcp.WithString("sortBy", mcp.Enum("name", "size"), mcp.DefaultString("name")))
	add("read_text_file", "The text of a file", f.read, lines...)
	add("read_file", "The same as read_text_file", f.read, lines...)
	add("get_file_info", "Size, time of the last change, kind and permissions of a file or folder", f.info)
	return server.ServeStdio(s)
}

// answer returns the function of a tool. It calls do with the requested path.
// The result has the text twice: as content for a model to read, and as the
// member "content" of the structured content for a program. An error is a result
// with isError.
func answer(do func(path string, r mcp.CallToolRequest) (string, error)) server.ToolHandlerFunc {
	return func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		path, err := r.RequireString("path")
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		text, err := do(path, r)
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultStructured(map[string]string{"content": text}, text), nil
	}
}

// open opens the folder to serve.
func open(dir string) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{dir, root}, nil
}

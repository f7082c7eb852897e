// Package web holds the built page of mcpgraph ui. Its sources are beside it.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files returns the files of the page, index.html among them. Scripts and styles are
// compressed: main.js is main.js.gz.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is valid
	}
	return files
}

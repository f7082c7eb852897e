// Build bundles the page: from web/src and web/node_modules it makes web/dist, or
// another folder that its argument names, the same bytes each time. Run it with
// `go run -C web/build .` after `npm ci --ignore-scripts` in web. With -units and a
// folder it bundles the tests of the page's parts instead.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/evanw/esbuild/pkg/api"
)

// limit is what the page loads when it opens may take, compressed: layout.js, too.
const limit = 250_000

// laterLimit is what it may load when somebody edits the file: CodeMirror.
const laterLimit = 180_000

// later are the files that the page loads when they are needed.
var later = []string{"editor.js"}

func main() {
	dist, make := filepath.Join("..", "dist"), build
	if len(os.Args) > 2 && os.Args[1] == "-units" {
		dist, make = os.Args[2], units
	} else if len(os.Args) > 1 {
		dist = os.Args[1]
	}
	if err := make("..", dist); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

// build makes the folder dist from the sources in the folder web.
func build(web, dist string) error {
	web, err := filepath.Abs(web)
	if err != nil {
		return err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: web,
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "src/main.tsx", OutputPath: "main"},
			{InputPath: "src/yaml/editor.ts", OutputPath: "editor"},
			{InputPath: "src/graph/layout.worker.ts", OutputPath: "layout"},
		},
		Outdir:            dist,
		Bundle:            true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		JSX:               api.JSXAutomatic,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		// React Flow moves by transitions of D3, whose interpolation of colours is never used.
		Alias:    map[string]string{"d3-color": filepath.Join(web, "src", "graph", "nocolor.ts")},
		Define:   map[string]string{"process.env.NODE_ENV": `"production"`},
		Metafile: true,
	})
	if n := len(result.Errors); n > 0 {
		for _, text := range api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage}) {
			fmt.Fprint(os.Stderr, text)
		}
		return fmt.Errorf("%d errors; is web/node_modules there (npm ci --ignore-scripts)?", n)
	}
	licenses, err := licenses(web, result.Metafile)
	if err != nil {
		return err
	}
	files := map[string][]byte{"LICENSES.txt": licenses}
	for _, file := range result.OutputFiles {
		files[filepath.Base(file.Path)] = file.Contents
	}
	if files["index.html"], err = os.ReadFile(filepath.Join(web, "src", "index.html")); err != nil {
		return err
	}
	return write(dist, files)
}

// write replaces the files of a folder, and prints their sizes.
func write(dist string, files map[string][]byte) error {
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	first, rest := 0, 0
	for _, name := range names {
		small := compressed(files[name])
		file, text := name, files[name]
		if ext := filepath.Ext(name); ext == ".js" || ext == ".css" {
			file, text = name+".gz", small // the program has no use for the text
		}
		if err := os.WriteFile(filepath.Join(dist, file), text, 0o644); err != nil {
			return err
		}
		size := len(small)
		switch {
		case slices.Contains(later, name):
			rest += size
		case name != "LICENSES.txt":
			first += size
		}
		fmt.Printf("%-14s %8d bytes, %7d compressed\n", name, len(files[name]), size)
	}
	fmt.Printf("%-14s %8s        %7d compressed, and %d later\n", "at first", "", first, rest)
	if first > limit || rest > laterLimit {
		return fmt.Errorf("the page takes %d and %d bytes compressed, more than %d and %d", first, rest, limit, laterLimit)
	}
	return nil
}

// compressed returns what gzip makes of a text: the same bytes each time, as long as
// the version of Go is the same.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.Write(text) // a buffer never fails
	w.Close()
	return b.Bytes()
}

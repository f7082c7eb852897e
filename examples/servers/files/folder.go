package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// folder is the folder that the server can read. Its root refuses every path
// that leads out of it, also with ".." and through symbolic links.
type folder struct {
	dir  string
	root *os.Root
}

// refusal is an error with the message of @modelcontextprotocol/server-filesystem.
type refusal string

func (r refusal) Error() string { return string(r) }

// inside returns path relative to the folder. A relative path starts at the
// working directory.
func (f *folder) inside(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(f.dir, absolute)
	if err != nil || !filepath.IsLocal(inside) {
		return "", refusal("Access denied - path outside allowed directories: " + absolute + " not in " + f.dir)
	}
	return inside, nil
}

// because makes the error of an operation that failed.
func because(operation, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return refusal("ENOENT: no such file or directory, " + operation + " '" + path + "'")
	}
	return err
}

// entry is one line of a listing.
type entry struct {
	name  string
	isDir bool
	size  int64
}

func (e entry) kind() string {
	if e.isDir {
		return "[DIR]"
	}
	return "[FILE]"
}

func (f *folder) entries(path string) ([]entry, error) {
	inside, err := f.inside(path)
	if err != nil {
		return nil, err
	}
	found, err := fs.ReadDir(f.root.FS(), filepath.ToSlash(inside))
	if err != nil {
		return nil, because("scandir", path, err)
	}
	var entries []entry
	for _, d := range found {
		e := entry{name: d.Name(), isDir: d.IsDir()}
		if info, err := d.Info(); err == nil && !e.isDir {
			e.size = info.Size()
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (f *folder) list(path string, _ mcp.CallToolRequest) (string, error) {
	entries, err := f.entries(path)
	var lines []string
	for _, e := range entries {
		lines = append(lines, e.kind()+" "+e.name)
	}
	return strings.Join(lines, "\n"), err
}

func (f *folder) listSizes(path string, r mcp.CallToolRequest) (string, error) {
	entries, err := f.entries(path)
	if err != nil {
		return "", err
	}
	if r.GetString("sortBy", "name") == "size" {
		slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(b.size, a.size) })
	}
	var (
		text        strings.Builder
		files, dirs int
		total       int64
	)
	for _, e := range entries {
		size := ""
		if e.isDir {
			dirs++
		} else {
			files++
			size = fmt.Sprintf("%10s", readable(e.size))
		}
		total += e.size
		fmt.Fprintf(&text, "%s %-30s %s\n", e.kind(), e.name, size)
	}
	fmt.Fprintf(&text, "\nTotal: %d files, %d directories\nCombined size: %s", files, dirs, readable(total))
	return text.String(), nil
}

// readable writes a size with its unit: 512 B, 1.50 KB.
func readable(size int64) string {
	if size < 1024 {
		return fmt.Sprintf("%d B", size)
	}
	amount, unit := float64(size), ""
	for _, unit = range []string{"KB", "MB", "GB", "TB"} {
		if amount /= 1024; amount < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.2f %s", amount, unit)
}

func (f *folder) read(path string, r mcp.CallToolRequest) (string, error) {
	inside, err := f.inside(path)
	if err != nil {
		return "", err
	}
	content, err := f.root.ReadFile(inside)
	if err != nil {
		return "", because("open", path, err)
	}
	text := string(content)
	head, tail := r.GetInt("head", 0), r.GetInt("tail", 0)
	switch {
	case head > 0 && tail > 0:
		return "", refusal("Cannot specify both head and tail parameters simultaneously")
	case head > 0:
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		text = strings.Join(lines[:min(head, len(lines))], "\n")
	case tail > 0:
		lines := strings.Split(text, "\n")
		text = strings.Join(lines[max(0, len(lines)-tail):], "\n")
	}
	return text, nil
}

func (f *folder) info(path string, _ mcp.CallToolRequest) (string, error) {
	inside, err := f.inside(path)
	if err != nil {
		return "", err
	}
	i, err := f.root.Stat(inside)
	if err != nil {
		return "", because("stat", path, err)
	}
	return fmt.Sprintf("size: %d\nmodified: %s\nisDirectory: %t\nisFile: %t\npermissions: %o",
		i.Size(), i.ModTime().Format(time.RFC3339), i.IsDir(), i.Mode().IsRegular(), i.Mode().Perm()), nil
}

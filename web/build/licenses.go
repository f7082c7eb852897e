package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// packageFolder is the folder of the npm package that a file belongs to.
var packageFolder = regexp.MustCompile(`^node_modules/(?:.*/node_modules/)?(?:@[^/]+/)?[^/]+`)

// allowed are the licences that what ships may have.
var allowed = []string{"MIT", "ISC", "BSD-3-Clause", "Apache-2.0"}

// licenses returns the licence texts of the npm packages that contribute bytes
// to an output. It returns an error for a package with another licence, or
// without its text.
func licenses(web, metafile string) ([]byte, error) {
	var meta struct {
		Outputs map[string]struct {
			Inputs map[string]struct{ BytesInOutput int }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	var folders []string
	for _, output := range meta.Outputs {
		for input, size := range output.Inputs {
			if folder := packageFolder.FindString(input); folder != "" && size.BytesInOutput > 0 && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	slices.Sort(folders)
	var text bytes.Buffer
	text.WriteString("The page of mcpgraph contains these npm packages.\n")
	for _, folder := range folders {
		if err := license(&text, filepath.Join(web, filepath.FromSlash(folder))); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// license writes name, version and licence of the package in a folder.
func license(text *bytes.Buffer, folder string) error {
	source, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return err
	}
	var about struct{ Name, Version, License string }
	if err := json.Unmarshal(source, &about); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	if !slices.Contains(allowed, about.License) {
		return fmt.Errorf("%s has the licence %q, which must not ship", about.Name, about.License)
	}
	files, err := filepath.Glob(filepath.Join(folder, "LICEN[SC]E*"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s lacks the text of its licence", about.Name)
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(text, "\n%s\n%s %s (%s)\n\n%s\n", strings.Repeat("-", 72), about.Name, about.Version, about.License,
		strings.TrimSpace(strings.ReplaceAll(string(body), "\r\n", "\n")))
	return nil
}

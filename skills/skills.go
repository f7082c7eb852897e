// Package skills holds the skill for agents that write graph tools: the files that
// `mcpgraph skill` installs and prints, and that the help of the toolkit shows.
package skills

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed mcpgraph
var files embed.FS

// Name is the name of the skill and of its folder.
const Name = "mcpgraph"

// Overview is the topic of the skill's main file.
const Overview = "overview"

// Files returns the files of the skill: SKILL.md and the folder references.
func Files() fs.FS {
	sub, _ := fs.Sub(files, Name) // it is embedded
	return sub
}

// Topics returns the topics of help: Overview, and the names of the references.
func Topics() []string {
	topics := []string{}
	entries, _ := fs.ReadDir(Files(), "references") // it is embedded
	for _, e := range entries {
		topics = append(topics, strings.TrimSuffix(e.Name(), ".md"))
	}
	slices.Sort(topics)
	return append([]string{Overview}, topics...)
}

// Topic returns the text of a topic, and reports whether there is one. The front
// matter of the skill is left out.
func Topic(name string) (string, bool) {
	if name == Overview {
		text, _ := fs.ReadFile(Files(), "SKILL.md") // it is embedded
		_, body, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
		return strings.TrimLeft(body, "\n"), true
	}
	if strings.ContainsAny(name, "/\\.") {
		return "", false
	}
	text, err := fs.ReadFile(Files(), path.Join("references", name+".md"))
	return string(text), err == nil
}

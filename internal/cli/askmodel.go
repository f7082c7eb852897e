package cli

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// asModel shows a prompt for a model, and takes its answer: lines up to an empty one.
func (s *answers) asModel(ctx context.Context, q executor.Question) (value.Value, error) {
	fmt.Fprintf(s.app.stderr, "\n%s asks a model:\n", q.Path)
	if system := q.Value.Get("systemPrompt").Str(); system != "" {
		s.quote("system", system)
	}
	for _, m := range q.Value.Get("messages").Elems() {
		for _, block := range graph.Blocks(m.Get("content")) {
			text := block.Get("text").Str()
			if kind := block.Get("type").Str(); kind != "text" {
				text = "(" + kind + ")"
			}
			s.quote(m.Get("role").Str(), text)
		}
	}
	var lines []string
	for prompt := "the answer, ended by an empty line (nothing declines): "; ; prompt = "" {
		said, err := s.prompt.line(ctx, prompt)
		if err != nil {
			return value.Undef, err
		}
		if said == "" {
			break
		}
		lines = append(lines, said)
	}
	if len(lines) == 0 {
		return q.Result(value.FromString(graph.Decline))
	}
	return q.Result(value.FromString(strings.Join(lines, "\n")))
}

// quote shows what somebody says in a conversation.
func (s *answers) quote(role, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(s.app.stderr, "  %s: %s\n", visible(role), visible(line))
	}
}

// asRoots asks for folders; the default is the current one.
func (s *answers) asRoots(ctx context.Context, q executor.Question) (value.Value, error) {
	fmt.Fprintf(s.app.stderr, "\n%s asks for the folders that you work on (roots)\n", q.Path)
	said, err := s.prompt.line(ctx, "folders, separated by commas (default: the current one; n declines): ")
	if err != nil {
		return value.Undef, err
	}
	if said == "n" || said == "no" {
		return q.Result(value.FromString(graph.Decline))
	}
	if said == "" {
		said = "."
	}
	var roots []value.Value
	for folder := range strings.SplitSeq(said, ",") {
		if folder = strings.TrimSpace(folder); !strings.Contains(folder, "://") {
			path, err := filepath.Abs(folder)
			if err != nil {
				return value.Undef, err
			}
			path = "/" + strings.TrimPrefix(filepath.ToSlash(path), "/") // C:/a becomes /C:/a
			folder = (&url.URL{Scheme: "file", Path: path}).String()
		}
		roots = append(roots, value.FromString(folder))
	}
	return q.Result(value.FromArray(roots))
}

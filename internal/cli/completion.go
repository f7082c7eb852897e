package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/schematext"
	"github.com/mcpgraph/mcpgraph/internal/textline"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// completeConfig offers YAML and JSON files.
func completeConfig(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeOne offers a file for the first argument and nothing for others.
func completeOne(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeConfig(cmd, args, prefix)
}

// completeTool offers a file for the first argument and one of its tools for the
// second.
func completeTool(a *app, mcpFiles *[]string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return toolNames(a, args[0], *mcpFiles), cobra.ShellCompDirectiveNoFileComp
		}
		return completeOne(cmd, args, prefix)
	}
}

// completeServer offers a file for the first argument and one of its servers for
// the second. Their tools are not offered: that would start them.
func completeServer(a *app, mcpFiles *[]string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return completeOne(cmd, args, prefix)
		}
		engine := completing(a, args[0], *mcpFiles, mcpgraph.WithServersOnly())
		if engine == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer engine.Close()
		var names []string
		for _, u := range engine.File().Upstreams {
			names = append(names, u.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completing loads a file for completion. It returns nil if the file has
// errors.
func completing(a *app, path string, mcpFiles []string, opts ...mcpgraph.Option) *mcpgraph.Engine {
	opts = append(opts, mcpgraph.WithGetenv(a.getenv), mcpgraph.WithInputs(a.inputs), mcpgraph.WithMCPFiles(mcpFiles...))
	engine, err := mcpgraph.Load(path, opts...)
	if err != nil {
		return nil
	}
	return engine
}

// toolNames returns the tools, prompts and resources of a file, each with its
// description.
func toolNames(a *app, path string, mcpFiles []string) []string {
	engine := completing(a, path, mcpFiles)
	if engine == nil {
		return nil
	}
	defer engine.Close()
	var names []string
	for _, t := range append(engine.Tools(), engine.Offers()...) {
		names = append(names, described(t.Name, t.Description))
	}
	return names
}

// completeArgument offers NAME= for --arg, and then the values that the tool's
// inputSchema lists.
func completeArgument(a *app, mcpFiles, given *[]string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		if len(args) < 2 {
			return nil, directive
		}
		engine := completing(a, args[0], *mcpFiles)
		if engine == nil {
			return nil, directive
		}
		defer engine.Close()
		g, err := engine.Graph(args[1])
		if err != nil {
			return nil, directive
		}
		schema, err := value.Parse(g.Input.Raw())
		if err != nil {
			return nil, directive
		}
		if name, _, ok := strings.Cut(prefix, "="); ok {
			var values []string
			for _, text := range valuesOf(schema, schema.Get("properties").Get(name)) {
				values = append(values, name+"="+text)
			}
			return values, directive
		}
		var names []string
		for _, arg := range schematext.Fields(schema) {
			if !slices.ContainsFunc(*given, func(one string) bool { return strings.HasPrefix(one, arg.Name+"=") }) {
				names = append(names, described(arg.Name+"=", fieldSummary(arg)))
			}
		}
		return names, directive | cobra.ShellCompDirectiveNoSpace
	}
}

// valuesOf returns the values that a schema allows, in the syntax of --arg.
func valuesOf(root, schema value.Value) []string {
	var values []string
	for _, v := range schema.Get("enum").Elems() {
		if v.Kind() == value.String {
			values = append(values, v.Str())
		} else {
			values = append(values, v.JSON())
		}
	}
	if values == nil && slices.Equal(schematext.Types(root, schema), []string{"boolean"}) {
		values = []string{"true", "false"}
	}
	return values
}

// completeLogins returns the servers of a file that a person can log in to.
func completeLogins(a *app, path string, mcpFiles []string) []string {
	engine := completing(a, path, mcpFiles)
	if engine == nil {
		return nil
	}
	defer engine.Close()
	var names []string
	for _, u := range engine.File().Upstreams {
		if u.Auth != nil && u.Auth.Flow == config.FlowAuthorizationCode {
			names = append(names, u.Name)
		}
	}
	return names
}

// described is a completion with its description, on one line.
func described(name, text string) string {
	if text = strings.TrimSpace(textline.Clean(text)); text == "" {
		return name
	}
	return name + "\t" + text
}

package cli

import (
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// serverOrigin is the server that a new file calls.
type serverOrigin struct {
	name  string
	entry value.Value // of mcpServers, as the new file has it
	file  string      // that has the server, of another program; empty if entry is all
}

// knownFiles are where desktop clients keep the servers of a project.
var knownFiles = []string{".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", "mcp.json"}

// chosenOrigin returns the server that flags or answers name; nil is the example.
func chosenOrigin(ctx context.Context, a *app, o initOptions, p *prompt, adds bool) (*serverOrigin, error) {
	switch {
	case adds:
		return existingOrigin(ctx, a, o, p)
	case o.from != "":
		return originFrom(ctx, a, p, o.from, o.server, o.file)
	case o.server != "":
		return parseServer(o.server)
	}
	return askOrigin(ctx, a, p, o.file)
}

func askOrigin(ctx context.Context, a *app, p *prompt, target string) (*serverOrigin, error) {
	fmt.Fprintln(a.stderr, "Which MCP server should the tool call? Type its command, its URL, or a file with mcpServers.")
	for _, file := range knownFiles {
		if _, err := os.Stat(file); err == nil {
			fmt.Fprintf(a.stderr, "There is %s.\n", file)
		}
	}
	fmt.Fprintln(a.stderr, "Enter alone writes an example, which counts files.")
	for {
		said, err := p.ask(ctx, "server: ")
		if err != nil || said == "" {
			return nil, err
		}
		if info, err := os.Stat(said); err == nil && !info.IsDir() && strings.Contains(said, ".json") {
			return originFrom(ctx, a, p, said, "", target)
		}
		origin, err := parseServer(said)
		if err != nil {
			fmt.Fprintf(a.stderr, "%v\n", err)
			continue
		}
		name, err := p.ask(ctx, fmt.Sprintf("name of the server [%s]: ", origin.name))
		if err != nil {
			return nil, err
		}
		if name = serverLabel(name); name != serverLabel("") {
			origin.name = name
		}
		return origin, nil
	}
}

var (
	namedServer = regexp.MustCompile(`^([A-Za-z0-9_.-]+)=(.*)$`)
	// serverSuffixes are parts of the names of packages that say nothing.
	serverSuffixes = regexp.MustCompile(`^(mcp-)?(server-)?|(-mcp)?(-server)?(@.*)?$`)
)

// parseServer reads NAME=COMMAND, NAME=URL, or one of them without a name.
func parseServer(text string) (*serverOrigin, error) {
	o := &serverOrigin{}
	if m := namedServer.FindStringSubmatch(text); m != nil {
		o.name, text = m[1], m[2]
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") ||
		strings.HasPrefix(text, "ws://") || strings.HasPrefix(text, "wss://") {
		o.entry = value.ObjectOf("url", value.FromString(text))
		if o.name == "" {
			o.name = "server"
		}
		return o, nil
	}
	words, err := splitWords(text)
	if err != nil {
		return nil, usagef("--server %s: %w", text, err)
	}
	if len(words) == 0 {
		return nil, usagef("--server %q has no command; expected NAME=COMMAND or NAME=URL", o.name+"=")
	}
	args := value.Undef
	if len(words) > 1 {
		args = texts(words[1:])
	}
	o.entry = value.ObjectOf("command", value.FromString(words[0]), "args", args)
	if o.name == "" {
		o.name = guessedName(words)
	}
	return o, nil
}

// guessedName names a server by its package or program.
func guessedName(words []string) string {
	name := words[0]
	switch name {
	case "npx", "uvx", "bunx", "node", "python", "python3", "uv", "docker", "go", "deno":
		for _, word := range words[1:] {
			if strings.ContainsAny(word, "/.@") && !strings.HasPrefix(word, "-") || strings.Contains(word, "mcp") {
				name = word
				break
			}
		}
	}
	name = path.Base(strings.ReplaceAll(strings.TrimPrefix(name, "@"), `\`, "/"))
	for range 2 {
		name = serverSuffixes.ReplaceAllString(name, "")
	}
	return serverLabel(name)
}

// originFrom takes a server from another program's file, for the file target.
func originFrom(ctx context.Context, a *app, p *prompt, file, name, target string) (*serverOrigin, error) {
	engine, err := a.loadShowing(ctx, file, showAll, mcpgraph.WithServersOnly(), mcpgraph.WithUnsetVariables())
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	var names []string
	for _, u := range engine.File().Upstreams {
		names = append(names, u.Name)
	}
	switch {
	case len(names) == 0:
		return nil, failedf("%s has no servers", file)
	case name == "" && len(names) == 1:
		name = names[0]
	case name == "" && p == nil:
		return nil, usagef("%s has several servers; name one of them with --server: %s", file, strings.Join(names, ", "))
	case name == "":
		if name, err = p.choose(ctx, "server: ", names); err != nil {
			return nil, err
		}
	}
	if _, err := entryOf(engine, name); err != nil {
		return nil, err
	}
	// Variables stay variables in the new file, and secrets stay out of it: also those
	// that are defaults.
	opts := config.Options{
		Getenv: func(string) (string, bool) { return "", false }, ServersOnly: true, AllowUnset: true,
		WorkspaceFolder: portablePath(config.WorkspaceFolder(file), target),
	}
	named := func(u *config.Upstream) bool { return u.Name == name }
	expanded, _, _ := config.Load(file, nil, nil, opts)
	opts.KeepVariables = true
	abstract, _, _ := config.Load(file, nil, nil, opts)
	i, j := slices.IndexFunc(abstract.Upstreams, named), slices.IndexFunc(expanded.Upstreams, named)
	if i < 0 || j < 0 {
		return nil, failedf("%s changed while it was read", file)
	}
	entry, unset := entryValue(abstract.Upstreams[i], expanded.Upstreams[j].Secrets)
	if len(unset) > 0 {
		fmt.Fprintf(a.stderr, "mcpgraph: secrets were not copied from %s; set %s before you use the new file\n", file, strings.Join(unset, ", "))
	}
	return &serverOrigin{name: name, entry: entry, file: file}, nil
}

// entryValue returns an entry, whose variables are kept, as a file has it. secrets are
// those of its defaults, beside its own. The names of variables that take the place of
// secrets are returned too.
func entryValue(u *config.Upstream, secrets []string) (entry value.Value, unset []string) {
	c := copying{secrets: slices.Concat(u.Secrets, secrets), variables: map[string]string{}}
	// One may be part of another.
	slices.SortStableFunc(c.secrets, func(a, b string) int { return len(b) - len(a) })
	nameless := u.Name + "_SECRET" // in an address or an argument
	if u.Transport != config.Stdio {
		headers := value.NewBuilder(len(u.Headers))
		for _, h := range u.Headers {
			headers.Set(h.Name, c.text(h.Name, h.Value))
		}
		kind := value.FromString(u.Transport)
		if u.MayBeSSE {
			kind = value.Undef
		}
		entry = value.ObjectOf("type", kind, "url", c.text(nameless, u.URL), "headers", unlessEmpty(headers.Value()))
		return entry, c.unset
	}
	env := value.NewBuilder(len(u.Env))
	for _, e := range u.Env {
		env.Set(e.Name, c.text(e.Name, e.Value))
	}
	args := make([]value.Value, len(u.Args))
	for i, arg := range u.Args {
		args[i] = c.text(nameless, arg)
	}
	cwd := value.Undef
	if u.Cwd != "" {
		cwd = value.FromString(u.Cwd)
	}
	entry = value.ObjectOf("command", value.FromString(u.Command), "args", unlessEmpty(value.FromArray(args)),
		"env", unlessEmpty(env.Value()), "cwd", cwd)
	return entry, c.unset
}

// copying puts variables in the place of secrets.
type copying struct {
	secrets   []string
	variables map[string]string // by secret
	unset     []string          // in their order
}

// text returns a text without secrets. What stood under name in the file goes into a
// variable of that name.
func (c *copying) text(name, text string) value.Value {
	name = variableOf(name)
	text = variableInText.ReplaceAllStringFunc(text, c.withoutSecretDefault)
	var pairs []string // replaced together: no name of a variable is taken for a secret
	for _, secret := range c.secrets {
		isPart := len(secret) >= minSecretPart && strings.Contains(text, secret)
		if strings.Contains(secret, "${") || !isPart && text != secret {
			continue // a variable, or another's
		}
		variable, known := c.variables[secret]
		if !known {
			variable = name
			for n := 2; slices.Contains(c.unset, variable); n++ {
				variable = fmt.Sprintf("%s_%d", name, n)
			}
			c.variables[secret] = variable
			c.unset = append(c.unset, variable)
		}
		pairs = append(pairs, secret, "${"+variable+"}")
	}
	return value.FromString(strings.NewReplacer(pairs...).Replace(text))
}

// variableInText is a variable of the environment, with its name, and its default after
// ":-" if it has one.
var variableInText = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_]\w*)(:-[^}]*)?\}`)

// withoutSecretDefault returns a variable in mcpgraph's form. It leaves out a default that
// is a secret or part of one.
func (c *copying) withoutSecretDefault(variable string) string {
	m := variableInText.FindStringSubmatch(variable)
	name, fallback := m[1], strings.TrimPrefix(m[2], ":-")
	if fallback != "" && slices.ContainsFunc(c.secrets, func(secret string) bool {
		return strings.Contains(secret, variable) || len(secret) >= minSecretPart && strings.Contains(fallback, secret)
	}) {
		if !slices.Contains(c.unset, name) {
			c.unset = append(c.unset, name)
		}
		return "${" + name + "}"
	}
	return "${" + name + m[2] + "}"
}

// variableOf returns the name of a variable.
func variableOf(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToUpper(r)
		}
		return '_'
	}, name)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// minSecretPart is the length from which a secret is looked for in texts.
const minSecretPart = 3

func unlessEmpty(v value.Value) value.Value {
	if v.Len() == 0 {
		return value.Undef
	}
	return v
}

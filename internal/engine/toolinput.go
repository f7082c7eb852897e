package engine

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// toolInput is the inputSchema of a tool of an upstream server. It is compiled by the
// first call of the tool.
type toolInput struct {
	text     string
	log      *slog.Logger
	once     sync.Once
	compiled *graph.ToolInput // nil if it cannot be used
	secrets  value.Value      // the schema, undefined if it declares no secrets
}

var _ upstream.Input = (*toolInput)(nil)

func (t *toolInput) compile() {
	t.once.Do(func() {
		schema, err := value.Parse(t.text)
		if err == nil {
			if declaresSecrets(t.text) {
				t.secrets = schema
			}
			t.compiled, err = graph.NewToolInput(schema)
		}
		if err != nil {
			t.log.Debug("arguments are not checked: the inputSchema of an upstream tool cannot be used", "error", err)
		}
	})
}

// Check implements upstream.Input.
func (t *toolInput) Check(ctx context.Context, args value.Value) (wrong string, at []string, err error) {
	if t.compile(); t.compiled == nil {
		return "", nil, nil
	}
	return t.compiled.Check(ctx, args)
}

// secretSchema returns the schema, undefined if it declares no secrets.
func (t *toolInput) secretSchema() value.Value {
	t.compile()
	return t.secrets
}

// Secrets implements upstream.Input.
func (t *toolInput) Secrets(args value.Value) []string {
	schema := t.secretSchema()
	if schema.IsUndefined() {
		return nil
	}
	w := &secretWalk{root: schema, levels: maxSecretMembers}
	w.arguments(args)
	return w.found
}

// declaresSecrets reports whether a schema may declare values as secrets.
func declaresSecrets(schema string) bool {
	return strings.Contains(schema, `"writeOnly"`) || strings.Contains(schema, `"password"`)
}

// maxToolInputs bounds the schemas that servers have listed, in bytes of their text. The
// arguments of tools beyond it are not checked.
const maxToolInputs = 16 << 20

// toolInputs are the inputs of the tools that servers have listed. Callers that get the
// same list share them, and those that nobody uses any more are dropped.
type toolInputs struct {
	log    *slog.Logger
	mu     sync.Mutex
	byText map[string]weak.Pointer[toolInput]
	bytes  int // of the keys
}

// of returns the input for a schema, or nil if it is no object or there is no room.
func (c *toolInputs) of(schema value.Value) upstream.Input {
	if schema.Kind() != value.Object {
		return nil
	}
	text := schema.JSON()
	c.mu.Lock()
	defer c.mu.Unlock()
	before, known := c.byText[text]
	if in := before.Value(); in != nil {
		return in
	}
	if !known {
		if c.bytes+len(text) > maxToolInputs {
			return nil
		}
		c.bytes += len(text)
	}
	in := &toolInput{text: text, log: c.log}
	own := weak.Make(in)
	if c.byText == nil {
		c.byText = map[string]weak.Pointer[toolInput]{}
	}
	c.byText[text] = own
	runtime.AddCleanup(in, func(text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.byText[text] == own { // nobody has asked for it again
			delete(c.byText, text)
			c.bytes -= len(text)
		}
	}, text)
	return in
}

// lockedInputs are the inputs of the tools of a lock file, made when they are first
// needed.
type lockedInputs struct {
	lock *lock.File
	log  *slog.Logger
	made sync.Map // *toolInput by *lock.Tool
}

// of returns the input of a locked tool, or nil if it is not locked.
func (l *lockedInputs) of(server, tool string) upstream.Input {
	if l == nil {
		return nil
	}
	t := l.lock.Tool(server, tool)
	if t == nil || t.InputSchema.Kind() != value.Object {
		return nil
	}
	in, ok := l.made.Load(t)
	if !ok {
		in, _ = l.made.LoadOrStore(t, &toolInput{text: t.InputSchema.JSON(), log: l.log})
	}
	return in.(*toolInput)
}

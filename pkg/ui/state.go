package ui

import (
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/edit"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// current is the program in use. It is safe for concurrent use.
type current struct {
	engine atomic.Pointer[mcpgraph.Engine]

	mu         sync.Mutex
	generation int
	loaded     loaded
}

// loaded is what is known of the program in use.
type loaded struct {
	engine   *mcpgraph.Engine
	file     *config.File
	revision string // of the text of the file
	pointers map[*config.Node]string
}

// use makes an engine, or what it has read now, the program in use.
func (c *current) use(e *mcpgraph.Engine) {
	file := e.File()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.engine.Store(e)
	c.generation++
	c.loaded = loaded{engine: e, file: file, revision: string(edit.RevisionOf(file.Source))}
}

// program returns the engine, or an error that tells why there is none.
func (c *current) program() (*mcpgraph.Engine, error) {
	if e := c.engine.Load(); e != nil {
		return e, nil
	}
	return nil, refused("no_program", "the file has had errors since the page began; correct them first")
}

// version returns what is known of the program, and how many there were.
func (c *current) version() (loaded, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded, c.generation
}

// pointed is version with the pointers of the nodes.
func (c *current) pointed() loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded.pointers == nil {
		c.loaded.pointers = map[*config.Node]string{}
		point(c.loaded.pointers, c.loaded.file.Root, "")
	}
	return c.loaded
}

type state struct {
	Version    string     `json:"version"`
	Mode       string     `json:"mode" ts:"'ui' | 'serve'"`
	ReadOnly   bool       `json:"readOnly"` // no command but eval
	File       fileInfo   `json:"file"`
	Generation int        `json:"generation"` // raised by each reload; 0: the file was never good
	Revision   string     `json:"revision"`   // of the text that is loaded; file.revision is of the text on disk
	Tools      []toolInfo `json:"tools"`
	Servers    []string   `json:"servers"`
	// Durable is absent where no runs are kept outside of this process.
	Durable  *durableState `json:"durable,omitempty"`
	Problems []problem     `json:"problems"` // of the file on disk
	Openings []opening     `json:"openings"`
	Last     int64         `json:"last"` // the number of the newest event
}

type fileInfo struct {
	Path     string `json:"path"`
	Name     string `json:"name"`
	Revision string `json:"revision"`
	Editable bool   `json:"editable"`
}

type toolInfo struct {
	Name           string      `json:"name"`
	Title          string      `json:"title,omitempty"`
	Description    string      `json:"description,omitempty"`
	Private        bool        `json:"private,omitempty"`
	InputSchema    value.Value `json:"inputSchema"`
	OutputSchema   value.Value `json:"outputSchema,omitzero"`
	RequiredScopes []string    `json:"requiredScopes,omitempty"`
	Nodes          int         `json:"nodes"`
}

func getState(p *Page, w http.ResponseWriter, _ *http.Request) error {
	last := p.events.last()
	f := p.texts.refresh()
	at, generation := p.version()
	s := state{
		Version: mcpgraph.Version(), Mode: "ui", ReadOnly: p.opts.ReadOnly, Generation: generation, Revision: at.revision,
		File:  fileInfo{p.opts.Path, filepath.Base(p.opts.Path), f.revision, !p.opts.ReadOnly},
		Tools: []toolInfo{}, Servers: []string{}, Openings: []opening{}, Problems: f.problems, Last: last,
	}
	if p.remotes != nil {
		s.Durable = &durableState{p.remotes.from.Name(), p.remotes.troubled()}
	}
	if p.opts.Serve {
		s.Mode = "serve"
	}
	if at.engine != nil {
		for _, t := range append(at.engine.Tools(), at.engine.Offers()...) {
			info := toolInfo{
				Name: t.Name, Title: t.Title, Description: t.Description, Private: t.Private,
				InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, RequiredScopes: t.RequiredScopes,
			}
			if g, err := at.engine.Graph(t.Name); err == nil {
				info.Nodes = count(g)
			}
			s.Tools = append(s.Tools, info)
		}
		s.Openings = openingsOf(at.engine.Upstreams())
		for _, u := range at.file.Upstreams {
			s.Servers = append(s.Servers, u.Name)
		}
	}
	respond(w, s)
	return nil
}

// count returns how many nodes a graph has, those of bodies included.
func count(g *graph.Graph) int {
	n := len(g.Nodes)
	for _, node := range g.Nodes {
		for _, body := range node.Bodies {
			n += count(body)
		}
	}
	return n
}

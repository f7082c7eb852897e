package language

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// role is what a value means, as far as other places of the files have to do with
// it.
type role uint8

const (
	plain        role = iota
	nodeID            // the id of a node that the place can lead to
	anyNodeID         // the id of any node of a tool
	serverName        // the name of an upstream server
	upstreamTool      // the name of a tool of an upstream server
	ownTool           // the name of a tool of the file
	expression        // JSONata
	failureName       // the name of a failure
	argument          // keys are the arguments of a call
	property          // the name of a property of the schema around it
)

// shape is what can be written in a place.
type shape struct {
	role   role
	values []string // that a scalar can have, where they can be listed
	absent string   // what the value is where it is left out, as JSON
	// keys returns the keys of a map; node is the map as it is written, or nil.
	// nil means that the value is no map with keys of the language.
	keys func(node *config.Node) []key
	// free is the shape of the values of a map with any keys, items that of the
	// elements of a list; nil where the value is none.
	free, items func() *shape
	// named is what the keys of free are.
	named role
}

// key is one key of a map.
type key struct {
	name, doc string
	required  bool
	alias     bool // an older name of another key
	of        *shape
}

func (k *key) isMap() bool  { return k.of.keys != nil || k.of.free != nil }
func (k *key) isList() bool { return k.of.items != nil && !k.isMap() }

// below returns the shape of the value under one step of a path, or nil. node is
// the value as it is written, or nil.
func (s *shape) below(step any, node *config.Node) *shape {
	if s == nil {
		return nil
	}
	name, isKey := step.(string)
	if !isKey {
		if s.items != nil {
			return s.items()
		}
		return nil
	}
	if s.keys != nil {
		keys := s.keys(node)
		if i := slices.IndexFunc(keys, func(k key) bool { return k.name == name }); i >= 0 {
			return keys[i].of
		}
	}
	if s.free != nil {
		return s.free()
	}
	return nil
}

// find returns the shape at a path, and the key that leads to it where that is a
// key of the language. root is the file as it is written, as far as it is known.
func (s *shape) find(path []any, root *config.Node) (*shape, *key) {
	var last *key
	for _, step := range path {
		last = nil
		if name, ok := step.(string); ok && s != nil && s.keys != nil {
			for _, k := range s.keys(root) {
				if k.name == name {
					last = &k
				}
			}
		}
		s, root = s.below(step, root), root.At(step)
	}
	return s, last
}

// constant returns a function that returns s.
func constant(s *shape) func() *shape { return func() *shape { return s } }

// fixed returns the keys of a map that do not depend on what is written.
func fixed(keys []key) func(*config.Node) []key { return func(*config.Node) []key { return keys } }

var anything = &shape{}

// settingKeys returns the keys that settings describe.
func settingKeys(settings []config.Setting, special map[string]*shape) []key {
	keys := make([]key, 0, len(settings))
	for i := range settings {
		s := &settings[i]
		of := special[s.Name]
		if of == nil {
			of = settingShape(s, special)
		}
		keys = append(keys, key{name: s.Name, doc: s.Description(), required: s.Required, of: of})
	}
	return keys
}

// settingShape returns the shape of a setting in all of its forms. special are
// shapes of fields below it, by name.
func settingShape(s *config.Setting, special map[string]*shape) *shape {
	out := settingForm(s, special)
	for i := range s.Or {
		other := settingForm(&s.Or[i], special)
		if out.keys == nil {
			out.keys = other.keys
		}
		if out.items == nil {
			out.items = other.items
		}
	}
	return out
}

func settingForm(s *config.Setting, special map[string]*shape) *shape {
	out := &shape{values: s.Values, absent: s.Default}
	fields := func() *shape { return &shape{keys: fixed(settingKeys(s.Fields, special))} }
	switch s.Shape {
	case config.BoolShape:
		out.values = []string{"true", "false"}
	case config.MapShape:
		out.keys = fields().keys
	case config.ListShape:
		out.items = constant(fields())
	case config.EntriesShape, config.TokensShape:
		out.free = constant(fields())
	case config.ScalarsShape:
		out.free = constant(anything)
	case config.StringsShape, config.TextsShape, config.WordsShape:
		out.items = constant(&shape{values: s.Values})
	case config.FailuresShape:
		out.items = constant(&shape{role: failureName})
	case config.ObjectSchemaShape, config.AnySchemaShape:
		return jsonSchema()
	case config.NodesShape:
		return nodeList(false, false)
	case config.FlatNodesShape:
		return nodeList(true, false)
	case config.CatchShape:
		return catchShape()
	case config.ExprShape:
		out.keys = template(false).keys
	case config.CompleteShape:
		out.free = constant(&shape{keys: template(false).keys})
	case config.ObjectShape:
		if s.Name == "content" {
			return template(false)
		}
	}
	return out
}

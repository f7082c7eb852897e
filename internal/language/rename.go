package language

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// Edit replaces a range of bytes of a file by a text.
type Edit struct {
	Location
	New string
}

// ErrNoName is the error of a rename where no id of a node is.
var ErrNoName = errors.New("there is no id of a node here")

// Renamed returns the id of a node at an offset, and where it is written.
func Renamed(d *Document, offset int) (Span, string, error) {
	o, ok := d.at(offset)
	if !ok || o.kind != nodeName {
		return Span{}, "", ErrNoName
	}
	if home := d.home(); home == nil || home.model == nil || d.model == nil {
		return Span{}, "", errors.New("the file has a YAML error; correct it before you rename")
	}
	return o.word(d.Text), o.name, nil
}

// word returns the bytes of the name without quotes of an expression.
func (o occurrence) word(text string) Span {
	s := o.Span
	if s.To-s.From >= 2 && s.To <= len(text) && (o.quote != 0 || text[s.From] == '`') {
		s.From, s.To = s.From+1, s.To-1
	}
	return s
}

// Rename returns the edits that give the node whose id is at an offset another id:
// in the file, its expressions, and the given test files. The error says why that
// cannot be done.
func Rename(d *Document, offset int, id string, tests []*Document) ([]Edit, error) {
	_, old, err := Renamed(d, offset)
	if err != nil {
		return nil, err
	}
	o, _ := d.at(offset)
	return renameAll(d, o, old, id, tests)
}

// RenameNode returns the edits that give a node of a tool another id, in the file
// and its expressions. The error says why that cannot be done.
func RenameNode(d *Document, tool, old, id string) ([]Edit, error) {
	if d.model == nil || d.Kind != Config {
		return nil, errors.New("the file has a YAML error; correct it before you rename")
	}
	for i := range d.model.units {
		u := &d.model.units[i]
		if u.Node(old) != nil && slices.ContainsFunc(u.Graphs, func(g *graph.Graph) bool { return g.Name == tool }) {
			return renameAll(d, occurrence{kind: nodeName, scope: i, name: old}, old, id, nil)
		}
	}
	return nil, fmt.Errorf("tool %q has no node %q", tool, old)
}

// renameAll returns the edits that replace the id of a node wherever it is named.
func renameAll(d *Document, o occurrence, old, id string, tests []*Document) ([]Edit, error) {
	home := d.home()
	unit := &home.model.units[o.scope]
	switch {
	case !isID(id):
		return nil, fmt.Errorf("%q cannot be an id: use letters, digits and _, and begin with a letter", id)
	case id == old:
		return nil, nil
	case unit.Node(id) != nil:
		return nil, fmt.Errorf("node %q already exists", id)
	}
	var edits []Edit
	for _, doc := range d.around(tests) {
		if doc.model == nil {
			return nil, fmt.Errorf("%s has a YAML error; correct it before you rename", filepath.Base(doc.Path))
		}
		for _, other := range doc.occurrences(doc.model) {
			if !other.same(o) {
				continue
			}
			if other.unsure {
				return nil, fmt.Errorf("an expression in line %d of %s names node %q in a way that cannot be changed", doc.Pos(other.From).Line, filepath.Base(doc.Path), old)
			}
			span := other.Span
			if other.quote != 0 {
				span = other.word(doc.Text)
			}
			edits = append(edits, Edit{Location{doc.Path, span}, id})
		}
	}
	return unique(edits), nil
}

// unique drops edits of the same place, which aliases lead to.
func unique(edits []Edit) []Edit {
	seen := map[Location]bool{}
	return slices.DeleteFunc(edits, func(e Edit) bool {
		was := seen[e.Location]
		seen[e.Location] = true
		return was
	})
}

// isID reports whether a name can be written as an id everywhere without quotes.
func isID(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "function", "and", "or", "in", "_":
		return false
	}
	return true
}

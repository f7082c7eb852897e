package edit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Operation is one change of a file. Its path is a JSON pointer (RFC 6901), such as
// /tools/0/nodes/2/next.
type Operation struct {
	kind  operationKind
	path  string
	value value.Value
	key   string // of Rename
	to    int    // of Move
}

type operationKind uint8

const (
	setKind operationKind = iota
	insertKind
	removeKind
	renameKind
	moveKind
)

// Set replaces the value at a path, or adds a key to a map. Strings of several
// lines become block scalars. In braces or brackets, the new value is written so,
// too. A comment behind the value stays.
func Set(path string, v value.Value) Operation {
	return Operation{kind: setKind, path: path, value: decoded(v)}
}

// Insert adds an element to a list, in front of the one at the path, or at the end
// if the last step of the path is the length of the list or "-". Or it adds a key
// to a map, in the documented order if there is one, else at the end.
func Insert(path string, v value.Value) Operation {
	return Operation{kind: insertKind, path: path, value: decoded(v)}
}

// decoded returns a value that is not still the text that it was parsed from: results
// are compared by their JSON, in which escapes of such a text would differ.
func decoded(v value.Value) value.Value { return value.NewDraft(v, nil).Value() }

// Remove removes an element of a list or a key of a map, with the comments in it
// and behind it. The comments above stay.
func Remove(path string) Operation { return Operation{kind: removeKind, path: path} }

// Rename changes a key of a map to another one.
func Rename(path, key string) Operation { return Operation{kind: renameKind, path: path, key: key} }

// Move moves an element of a list, with the comments above it, to another index.
func Move(path string, to int) Operation { return Operation{kind: moveKind, path: path, to: to} }

// String returns the operation for messages: `set /tools/0/name`.
func (o Operation) String() string {
	name := [...]string{"set", "insert", "remove", "rename", "move"}[o.kind]
	return name + " " + o.path
}

// ErrPath is in the error of an operation on something that is not there, or is
// there already.
var ErrPath = errors.New("the path does not fit the file")

// steps returns the steps of a JSON pointer.
func steps(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(pointer, "/")
	if !ok {
		return nil, fmt.Errorf("%w: a path begins with a slash", ErrPath)
	}
	list := strings.Split(rest, "/")
	for i, s := range list {
		list[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(s)
	}
	return list, nil
}

// index returns a step as an index of a list with so many elements.
func index(step string, length int) (int, error) {
	i, err := strconv.Atoi(step)
	if err != nil || i < 0 || i >= length || strconv.Itoa(i) != step {
		return 0, fmt.Errorf("%w: there is no element %q in a list of %d", ErrPath, step, length)
	}
	return i, nil
}

// changed returns a value after the change of the part at a path.
func changed(v value.Value, path []string, change func(parent value.Value, last string) value.Value) value.Value {
	if len(path) == 1 {
		return change(v, path[0])
	}
	if v.Kind() == value.Array {
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= v.Len() {
			return value.Undef
		}
		list := slices.Clone(v.Elems())
		list[i] = changed(list[i], path[1:], change)
		return value.FromArray(list)
	}
	fields := slices.Clone(v.Entries())
	for i := range fields {
		if fields[i].Key == path[0] {
			fields[i].Value = changed(fields[i].Value, path[1:], change)
		}
	}
	return value.FromEntries(fields)
}

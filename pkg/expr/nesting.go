package expr

import (
	"unsafe"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// bounded refuses a value that is nested too deeply for the next walk:
// a loop can wrap what it has in one more list each turn. Only a rule that
// built that many lists can have made one.
func (st *state) bounded(v value.Value) error {
	if st.built <= value.MaxDepth || !composite(v) {
		return nil
	}
	w := walk{st: st, heights: map[unsafe.Pointer]int{}}
	_, err := w.height(v, 0)
	return err
}

// walk measures how deeply a value is nested, each part once however often it
// is shared.
type walk struct {
	st      *state
	heights map[unsafe.Pointer]int
}

func (w *walk) height(v value.Value, depth int) (int, error) {
	var key unsafe.Pointer
	switch v.Kind() {
	case value.Array:
		key = unsafe.Pointer(unsafe.SliceData(v.Elems()))
	case value.Object:
		key = unsafe.Pointer(unsafe.SliceData(v.Entries()))
	default:
		return 0, nil
	}
	known, ok := w.heights[key]
	if depth+max(known, 1) > value.MaxDepth {
		return 0, exceeded("the value is nested too deeply")
	}
	if ok {
		return known, nil
	}
	if err := w.st.spend(1 + v.Len()); err != nil {
		return 0, err
	}
	height := 0
	for _, e := range v.Elems() {
		h, err := w.height(e, depth+1)
		if err != nil {
			return 0, err
		}
		height = max(height, h)
	}
	for _, e := range v.Entries() {
		h, err := w.height(e.Value, depth+1)
		if err != nil {
			return 0, err
		}
		height = max(height, h)
	}
	w.heights[key] = height + 1
	return height + 1, nil
}

package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// joined returns lines with a line break before each.
func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\n" + strings.Join(lines, "\n")
}

// spaced returns what stands behind a colon or dash.
func spaced(head string) string {
	if head == "" {
		return ""
	}
	return " " + head
}

// replaceValue writes another value at a place.
func (e *editor) replaceValue(s slot, v value.Value) error {
	old := s.v
	if s.flow {
		return e.replaceInFlow(s, v)
	}
	scalar := v.Kind() != value.Array && v.Kind() != value.Object
	col := s.col + indentation
	if old.Style == config.BlockStyle {
		if was := e.column(old.Content); was > s.col {
			col = was
		}
	}
	head, body := blockText(v, col, s.item)
	switch {
	case scalar && body == nil && !old.IsEmpty():
		head = scalarText(v, old.Style)
	case !scalar && old.Style == config.FlowStyle && !hasBreaks(v):
		head, body = flowText(v), nil
	}
	end := e.end(s)
	switch isLater := bytes.IndexByte(e.src[s.after:max(s.after, old.Start)], '\n') >= 0; {
	case old.IsEmpty():
		e.edit(s.after, s.after, spaced(head))
		e.edit(lineEnd(e.src, s.after), lineEnd(e.src, s.after), joined(body))
	case old.Style == config.BlockStyle && s.item && !isLater && !old.HasProperties():
		e.edit(s.after, lineEnd(e.src, end), spaced(head)+joined(body))
	case old.Style == config.BlockStyle:
		on := s.after
		if !isLater && old.HasProperties() {
			on = propertiesEnd(e.src, old.Start)
		}
		e.edit(s.after, on, spaced(head))
		e.edit(lineStart(e.src, old.Content)-1, lineEnd(e.src, end), joined(body))
	case isLater:
		e.edit(s.after, s.after, spaced(head))
		e.edit(lineStart(e.src, old.Start)-1, end, joined(body))
	case isBlockScalar(old):
		headEnd := old.Content + indicators(string(e.src[old.Content:lineEnd(e.src, old.Content)]))
		e.edit(s.after, headEnd, spaced(head))
		e.edit(lineEnd(e.src, headEnd), max(end, lineEnd(e.src, headEnd)), joined(body))
	case body == nil && e.src[s.after] == ' ' && old.Start == s.after+1:
		e.edit(old.Start, old.End, head)
	default:
		e.edit(s.after, old.End, spaced(head))
		e.edit(lineEnd(e.src, old.End), lineEnd(e.src, old.End), joined(body))
	}
	return nil
}

// replaceInFlow writes another value in braces or brackets.
func (e *editor) replaceInFlow(s slot, v value.Value) error {
	text := flowText(v)
	if v.Kind() == value.String {
		text = scalarText(v, s.v.Style)
	}
	switch {
	case !s.v.IsEmpty():
		e.edit(s.v.Start, s.v.End, text)
	case s.key != nil && s.after > s.key.End:
		e.edit(s.after, s.after, " "+text)
	case s.key != nil:
		e.edit(s.after, s.after, ": "+text)
	default:
		return fmt.Errorf("%w: the value has an unusual form", ErrUnsafe)
	}
	return nil
}

// insertKey adds a key to a map.
func (e *editor) insertKey(s slot, key string, v value.Value) (func(value.Value, string) value.Value, error) {
	n := s.items()
	i := n
	if rank, ok := e.grammar.rank(s.kind, s.v, key); ok {
		for j := range n {
			if r, known := e.grammar.rank(s.kind, s.v, s.v.Items[2*j].Text); known && r > rank {
				i = j
				break
			}
		}
	}
	change := func(old value.Value, _ string) value.Value {
		// What merge keys bring stands among the keys of the map.
		at := old.Len()
		if i < n {
			at = slices.IndexFunc(old.Entries(), func(f value.Entry) bool { return f.Key == s.v.Items[2*i].Text })
		}
		return value.FromEntries(slices.Insert(slices.Clone(old.Entries()), max(0, at), value.Entry{Key: key, Value: v}))
	}
	if n == 0 {
		return change, e.fill(s, value.FromEntries([]value.Entry{{Key: key, Value: v}}))
	}
	if s.v.Style == config.FlowStyle {
		e.insertInFlow(s, i, keyText(key)+": "+flowText(v))
		return change, nil
	}
	col := e.entry(s, 0).col
	head, body := blockText(v, col+indentation, false)
	e.insertLines(s, i, col, keyText(key)+":"+spaced(head), body)
	return change, nil
}

// insertElement adds an element to a list.
func (e *editor) insertElement(s slot, step string, v value.Value) (func(value.Value, string) value.Value, error) {
	n := s.items()
	i := n
	if step != "-" {
		var err error
		if i, err = index(step, n+1); err != nil {
			return nil, err
		}
	}
	change := func(old value.Value, _ string) value.Value {
		return value.FromArray(slices.Insert(slices.Clone(old.Elems()), i, v))
	}
	if n == 0 {
		return change, e.fill(s, value.FromArray([]value.Value{v}))
	}
	if s.v.Style == config.FlowStyle {
		e.insertInFlow(s, i, flowText(v))
		return change, nil
	}
	col := e.element(s, 0).col
	head, body := blockText(v, col+indentation, true)
	allFlow := !slices.ContainsFunc(s.v.Items, func(l *config.Layout) bool { return l.Style != config.FlowStyle })
	if text := flowText(v); allFlow && v.Kind() == value.Object && !hasBreaks(v) && col+len("- ")+len(text) <= width {
		head, body = text, nil
	}
	e.insertLines(s, i, col, "-"+spaced(head), body)
	return change, nil
}

// fill puts the first element into an empty map or list, which is in braces or
// brackets.
func (e *editor) fill(s slot, v value.Value) error {
	if s.flow || s.after == 0 || s.v.HasProperties() {
		e.edit(s.v.Content, s.v.End, flowText(v))
		return nil
	}
	if bytes.IndexByte(e.src[s.v.Start:s.v.End], '#') >= 0 {
		return fmt.Errorf("%w: a comment stands in the empty brackets", ErrUnsafe)
	}
	// The brackets go, and the first element gets a line.
	head, body := blockText(v, s.col+indentation, s.item)
	if s.kind != nodeList && s.kind != tools && v.Kind() == value.Array && !hasBreaks(v) && isFlat(v) {
		head, body = flowText(v), nil
	} else if v.Kind() == value.Array && body == nil {
		item, lines := blockText(v.Elems()[0], s.col+2*indentation, true)
		head, body = "", append([]string{strings.Repeat(" ", s.col+indentation) + "-" + spaced(item)}, lines...)
	}
	e.edit(s.after, s.v.End, spaced(head))
	e.edit(lineEnd(e.src, s.v.End), lineEnd(e.src, s.v.End), joined(body))
	return nil
}

// insertInFlow writes a new item before the i-th one in braces or brackets.
func (e *editor) insertInFlow(s slot, i int, text string) {
	if i < s.items() {
		first := e.at(s, i)
		at := first.v.Start
		if first.key != nil {
			at = first.key.Start
		}
		e.edit(at, at, text+", ")
		return
	}
	last := e.at(s, i-1)
	at := max(last.v.End, last.after)
	e.edit(at, at, ", "+text)
}

// insertLines writes a new item before the i-th one of a block.
func (e *editor) insertLines(s slot, i, col int, first string, rest []string) {
	margin := strings.Repeat(" ", col)
	if i == 0 {
		at := s.v.Content
		if s.v.Kind == config.List {
			at = e.dash(at)
		}
		before := lineStart(e.src, at) - 1
		if len(bytes.TrimSpace(e.src[before+1:at])) > 0 || s.after == 0 || before < 0 {
			// It begins behind a dash, or at the start of the file.
			e.edit(at, at, first+joined(rest)+"\n"+margin)
			return
		}
		if s.v.Kind == config.List {
			before = lineEnd(e.src, s.after) // above the comments of the first element
		}
		e.edit(before, before, "\n"+margin+first+joined(rest))
		return
	}
	last := e.at(s, i-1)
	gap := ""
	next := i
	if next == s.items() {
		next = i - 1
	}
	if s.v.Kind == config.List && next > 0 && e.isApart(s, next) {
		gap = "\n"
	}
	at := e.regionEnd(last)
	e.edit(at, at, gap+"\n"+margin+first+joined(rest))
}

// isApart reports whether a blank line stands before an element.
func (e *editor) isApart(s slot, i int) bool {
	end := e.regionEnd(e.element(s, i-1))
	return bytes.HasPrefix(e.src[end:], []byte("\n\n"))
}

// remove removes the i-th item.
func (e *editor) remove(s slot, i int) error {
	n := s.items()
	here := e.at(s, i)
	begin := here.v.Start
	if here.key != nil {
		begin = here.key.Start
	}
	switch {
	case n == 1 && s.after == 0:
		return fmt.Errorf("%w: it is all that the file holds", ErrPath)
	case n == 1 && s.v.Style == config.FlowStyle:
		e.edit(s.v.Content+1, s.v.End-1, "")
		return nil
	case n == 1:
		empty := value.FromArray(nil)
		if s.v.Kind == config.Map {
			empty = value.FromEntries(nil)
		}
		return e.replaceValue(s, empty)
	case s.v.Style == config.FlowStyle && i < n-1:
		next := e.at(s, i+1)
		to := next.v.Start
		if next.key != nil {
			to = next.key.Start
		}
		e.edit(begin, to, "")
		return nil
	case s.v.Style == config.FlowStyle:
		before := e.at(s, i-1)
		e.edit(max(before.v.End, before.after), max(here.v.End, here.after), "")
		return nil
	}
	if here.item {
		begin = here.after - 1
	}
	end := e.regionEnd(here)
	from := lineStart(e.src, begin)
	if len(bytes.TrimSpace(e.src[from:begin])) > 0 {
		// It begins behind a dash. The next item takes its place.
		next := e.at(s, i+1)
		to := next.after - 1
		if next.key != nil {
			to = next.key.Start
		}
		if e.gap(end, to).hasComments() {
			return fmt.Errorf("%w: a comment would move to another line", ErrUnsafe)
		}
		e.edit(begin, to, "")
		return nil
	}
	e.edit(from, min(end+1, len(e.src)), "")
	return nil
}

// move moves an element of a list.
func (e *editor) move(s slot, i, to int) error {
	if i == to {
		return nil
	}
	if s.v.Style == config.FlowStyle {
		return e.moveInFlow(s, i, to)
	}
	start := func(i int) int {
		if i > 0 {
			return e.regionEnd(e.element(s, i-1))
		}
		dash := e.dash(s.v.Content)
		if s.after == 0 || len(bytes.TrimSpace(e.src[lineStart(e.src, dash):dash])) > 0 {
			return -1
		}
		return lineEnd(e.src, s.after)
	}
	from, end := start(i), e.regionEnd(e.element(s, i))
	at := start(to)
	if to > i {
		at = e.regionEnd(e.element(s, to))
	}
	if from < 0 || at < 0 {
		return fmt.Errorf("%w: the first element shares its line", ErrUnsafe)
	}
	text := string(e.src[from:end])
	if !strings.HasPrefix(text, "\n") {
		return fmt.Errorf("%w: the element shares its line", ErrUnsafe)
	}
	e.edit(from, end, "")
	e.edit(at, at, text)
	return nil
}

// moveInFlow moves an element in brackets. What stands between the elements stays
// where it is.
func (e *editor) moveInFlow(s slot, i, to int) error {
	order := make([]*config.Layout, len(s.v.Items))
	copy(order, s.v.Items)
	order = slices.Insert(slices.Delete(order, i, i+1), to, s.v.Items[i])
	for j, l := range s.v.Items {
		if l.IsEmpty() {
			return fmt.Errorf("%w: the list has an unusual form", ErrUnsafe)
		}
		if order[j] != l {
			e.edit(l.Start, l.End, string(e.src[order[j].Start:order[j].End]))
		}
	}
	return nil
}

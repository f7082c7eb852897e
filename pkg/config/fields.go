package config

import (
	"fmt"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// required gives a field of a map that has to be there and of a kind; it
// reports what is wrong and then gives nil.
func (d *decoder) required(n *Node, owner, name string, kind Kind) *Node {
	if n.Get(name) == nil {
		d.report(n.Missing(owner, name))
		return nil
	}
	return d.optional(n, name, kind)
}

var kindNames = map[Kind]string{Map: "a map", List: "a list"}

// optional gives a field of a map; nil where it is not there or, which it
// reports, of another kind.
func (d *decoder) optional(n *Node, name string, kind Kind) *Node {
	f := n.Get(name)
	if f != nil && f.Kind() != kind {
		d.report(f.Expected(fmt.Sprintf("%q", name), kindNames[kind]))
		return nil
	}
	return f
}

// list gives the elements of a node that has to be a list: nil where it is
// none, which is reported, and not nil where it is empty.
func (d *decoder) list(n *Node, what string) []*Node {
	if n.Kind() != List {
		d.report(n.Expected(what, "a list"))
		return nil
	}
	if items := n.Items(); items != nil {
		return items
	}
	return []*Node{}
}

// str gives a field that has to be a string where it is there.
func (d *decoder) str(n *Node, name string) string {
	f := n.Get(name)
	if f == nil {
		return ""
	}
	if !f.IsString() {
		d.report(d.notAString(f, name))
		return ""
	}
	return f.Text().String()
}

// notAString tells how to make a string of a number or boolean.
func (d *decoder) notAString(n *Node, name string) diag.Diagnostic {
	e := n.Expected(fmt.Sprintf("%q", name), "a string")
	if k := n.Value().Kind(); k == value.Number || k == value.Bool {
		e.Hint = fmt.Sprintf("put quotes around it: %s: %q", name, n.Text().String())
	}
	return e
}

// name gives a field that has to be a string with something in it.
func (d *decoder) name(n *Node, owner, field string) Text {
	f := n.Get(field)
	switch {
	case f == nil:
		d.report(n.Missing(owner, field))
	case !f.IsString():
		d.report(d.notAString(f, field))
	case f.Text().String() == "":
		d.report(f.Problem(diag.CodeValue, fmt.Sprintf("%q of %s is empty", field, owner)))
	default:
		return f.Text()
	}
	return Text{}
}

// boolean gives a field that has to be true or false where it is there, else
// what it is without.
func (d *decoder) boolean(n *Node, name string, absent bool) bool {
	f := n.Get(name)
	if f == nil {
		return absent
	}
	if f.Value().Kind() != value.Bool {
		d.report(f.Expected(fmt.Sprintf("%q", name), "true or false"))
		return absent
	}
	return f.Value().Bool()
}

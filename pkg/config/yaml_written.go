package config

import (
	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// written is how and where a value is written: what is kept of the YAML library's
// node, which takes twice the room and can go once the Nodes are built.
type written struct {
	raw        string      // the characters of a scalar, the name of an alias
	properties *properties // nil if it has none
	line, col  int32
	flags      uint8 // of its style
	scalar     bool
	alias      bool // that stands for nothing
	kind       Kind
	as         value.Kind // what a scalar is
}

// properties are the tag and the anchor of a value. The tag of one that the library
// resolved by itself is not among them.
type properties struct{ tag, anchor string }

func writtenOf(y *yaml.Node) written {
	w := written{
		raw: y.Value, line: int32(y.Line), col: int32(y.Column), flags: uint8(y.Style),
		scalar: y.Kind == yaml.ScalarNode, alias: y.Kind == yaml.AliasNode,
	}
	tagged := y.Style&yaml.TaggedStyle != 0 || y.Tag == "!"
	if tagged || y.Anchor != "" {
		w.properties = &properties{anchor: y.Anchor}
		if tagged {
			w.properties.tag = y.Tag
		}
	}
	return w
}

func (w *written) style() yaml.Style { return yaml.Style(w.flags) }

func (w *written) pos() diag.Pos { return diag.Pos{Line: int(w.line), Col: int(w.col)} }

func (w *written) tag() string {
	if w.properties == nil {
		return ""
	}
	return w.properties.tag
}

func (w *written) anchor() string {
	if w.properties == nil {
		return ""
	}
	return w.properties.anchor
}

package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

// maxLinearKeys is up to how many keys a map is searched from its start.
const maxLinearKeys = 16

// keySet finds the fields of a map that is being built.
type keySet struct {
	fields []Field
	index  map[string]int
}

func (s *keySet) find(key string) (int, bool) {
	if s.index != nil {
		i, ok := s.index[key]
		return i, ok
	}
	for i, f := range s.fields {
		if f.Key.String() == key {
			return i, true
		}
	}
	return 0, false
}

func (s *keySet) add(f Field) {
	s.fields = append(s.fields, f)
	switch {
	case s.index != nil:
		s.index[f.Key.String()] = len(s.fields) - 1
	case len(s.fields) > maxLinearKeys:
		s.index = make(map[string]int, 4*maxLinearKeys)
		for i, f := range s.fields {
			s.index[f.Key.String()] = i
		}
	}
}

func (b *builder) buildMap(n *Node, content []*yaml.Node) {
	n.kind = Map
	b.checkTag(n, "!!map")
	if len(content) == 0 {
		return
	}
	in := &inner{weight: 1, height: 1}
	n.inner.Store(in)
	set := &keySet{fields: make([]Field, 0, len(content)/2)}
	var merges []merge
	for i := 0; i+1 < len(content); i += 2 {
		isMerge, keep := isMerge(content[i]), b.keepTree
		b.keepTree = keep || isMerge
		key, child := b.build(content[i]), b.build(content[i+1])
		b.keepTree = keep
		if i+2 == len(content) {
			in.last = b.at(child, content[i+1])
		}
		if isMerge {
			merges = append(merges, merge{child, content[i+1], len(set.fields)})
			continue
		}
		b.addChild(n, child, content[i+1])
		b.release(content, i)
		b.release(content, i+1)
		if key.kind != Scalar {
			b.report(b.badKey(key))
			continue
		}
		f := Field{Key: Text{key}, Value: child}
		if at, ok := set.find(f.Key.String()); ok {
			b.report(duplicateKey(f.Key, set.fields[at].Key))
			continue
		}
		set.add(f)
	}
	if merges != nil {
		set = b.mergeAll(n, set, merges)
	}
	in.fields, in.index = set.fields, set.index
}

// merge is a merge key: what it is given, where that is written, and how many of
// the map's own keys stand before it.
type merge struct {
	source *Node
	place  *yaml.Node
	before int
}

// mergeAll puts what merge keys bring at their places among the map's own keys.
func (b *builder) mergeAll(n *Node, own *keySet, merges []merge) *keySet {
	out := &keySet{}
	for i := 0; i <= len(own.fields); i++ {
		for ; len(merges) > 0 && merges[0].before == i; merges = merges[1:] {
			b.merge(n, own, out, merges[0].source, merges[0].place)
		}
		if i < len(own.fields) {
			out.add(own.fields[i])
		}
	}
	return out
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" &&
		(key.Tag == "!!merge" || key.Style&(quotedStyles|blockStyles|yaml.TaggedStyle) == 0 && key.Tag != "!")
}

// maxMerged is how many keys the merge keys of a file may copy. A copied key takes
// memory, unlike an alias.
const maxMerged = 200_000

// mergedBytes is what a copied key takes, about: as a field, in the index of its map and
// in its value.
const mergedBytes = 200

// merge adds to out what neither it nor the map itself has; so of several
// sources the first that has a key wins (the YAML type tag:yaml.org,2002:merge).
func (b *builder) merge(n *Node, own, out *keySet, source *Node, place *yaml.Node) {
	switch {
	case source.kind == Map:
		for _, f := range source.Fields() {
			if _, ok := own.find(f.Key.String()); ok {
				continue
			}
			if _, ok := out.find(f.Key.String()); ok {
				continue
			}
			if b.merged++; b.merged > maxMerged {
				b.fail(b.problemAt(source, place, diag.CodeAliasBomb, fmt.Sprintf(
					"merge keys (<<) copy more than %d keys in this file", maxMerged)))
				return
			}
			if b.stopped = b.stopped || !b.meter.Hold(mergedBytes); b.stopped {
				return
			}
			out.add(f)
			b.addChild(n, f.Value, place)
		}
	case source.kind == List && !slices.ContainsFunc(source.Items(), func(s *Node) bool { return s.kind != Map }):
		for i, s := range source.Items() {
			at := place
			if place.Kind == yaml.SequenceNode {
				at = place.Content[i]
			}
			b.merge(n, own, out, s, at)
		}
	default:
		b.report(source.Problem(diag.CodeMerge, "a merge key (<<) needs a map or a list of maps, found "+source.Describe()))
	}
}

func (b *builder) badKey(key *Node) diag.Diagnostic {
	d := key.Problem(diag.CodeKey, fmt.Sprintf("a key must be a string, found %s", key.Describe()))
	if key.style()&yaml.FlowStyle != 0 {
		d.Hint = "put quotes around text that begins with a brace or a bracket"
	}
	return d
}

func duplicateKey(again, first Text) diag.Diagnostic {
	d := again.Problem(diag.CodeDuplicateKey, fmt.Sprintf("duplicate key %q", again.String()))
	d.Related = []diag.Related{{File: first.File(), Pos: first.Pos(), Message: "first used here"}}
	return d
}

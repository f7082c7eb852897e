package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
)

// document is one YAML file as it was read.
type document struct {
	path   string
	source []byte // without a byte order mark
	lines  *diag.Lines
}

var byteOrderMark = []byte("\ufeff")

// ParseYAML parses a single YAML document, of any kind of file, into a node that
// knows where everything was written. The places are those of the source without
// a byte order mark. The node is nil if the source is not one YAML document; then
// there is an error among the diagnostics.
func ParseYAML(path string, source []byte) (*Node, []diag.Diagnostic) {
	return ParseYAMLContext(context.Background(), path, source)
}

// ParseYAMLContext is [ParseYAML], and stops when ctx ends or when its account (see
// [memory.WithAccount]) has no room. The node is nil then, and ctx has the cause.
func ParseYAMLContext(ctx context.Context, path string, source []byte) (*Node, []diag.Diagnostic) {
	_, n, ds := read(path, source, memory.NewMeter(ctx))
	return n, ds
}

// read parses a file into positioned nodes. The root is nil where the file is
// not a single YAML document; then there is an error among the diagnostics. It is
// nil, too, if the meter stops.
func read(path string, source []byte, meter *memory.Meter) (*document, *Node, []diag.Diagnostic) {
	d, root, _, ds := readTree(path, source, meter, false)
	return d, root, ds
}

// readTree is read that also returns the library's tree, if it is kept. Nodes do not keep
// it: it takes more memory than they do.
func readTree(path string, source []byte, meter *memory.Meter, keep bool) (d *document, root *Node, tree *yaml.Node, _ []diag.Diagnostic) {
	source = bytes.TrimPrefix(source, byteOrderMark)
	d = &document{path: path, source: source, lines: diag.NewLines(source)}
	if bad := d.checkEncoding(); bad != nil {
		return d, nil, nil, []diag.Diagnostic{*bad}
	}
	if !meter.Hold(2*len(source) + libraryNode*about(source)) {
		return d, nil, nil, nil
	}
	text, undo := makeCompatible(source)
	tree, bad := d.load(text, meter)
	if bad != nil {
		return d, nil, nil, []diag.Diagnostic{*bad}
	}
	b := &builder{doc: d, restore: undo, anchors: map[*yaml.Node]*Node{}, meter: meter, keepTree: keep}
	root = b.build(tree)
	if b.fatal || b.stopped {
		root = nil
	}
	return d, root, tree, b.diagnostics
}

// What a value of a file takes, in bytes: as the library has it, and as a Node.
const (
	libraryNode = 180
	nodeBytes   = 128
)

// about returns about how many values a YAML text has.
func about(source []byte) int {
	n := bytes.Count(source, []byte(","))
	for i, c := range source {
		if (c == ':' || c == '-') && (i+1 == len(source) || isSpace(source[i+1])) {
			n += 2 // a key and a value; the lines of a list have one of them
		}
	}
	return n
}

// load returns the YAML library's tree of the only document of text.
func (d *document) load(text []byte, meter *memory.Meter) (*yaml.Node, *diag.Diagnostic) {
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithPlugin(yamlLimits{meter}))
	if err != nil {
		return nil, syntaxProblem(d, err)
	}
	var doc, more yaml.Node
	if err := loader.Load(&doc); err == io.EOF {
		return nil, d.problem(diag.Pos{Line: 1, Col: 1}, diag.CodeEmpty, "the file is empty",
			`begin the configuration with version: "1.0"`)
	} else if err != nil {
		return nil, syntaxProblem(d, err)
	}
	if err := loader.Load(&more); err == nil {
		return nil, d.problem(diag.Pos{Line: more.Line, Col: more.Column}, diag.CodeDocuments,
			"a configuration must be a single YAML document; a second one starts here", "put each server into a file of its own")
	} else if err != io.EOF {
		return nil, syntaxProblem(d, err)
	}
	if len(doc.Content) == 0 {
		return nil, d.problem(diag.Pos{Line: 1, Col: 1}, diag.CodeEmpty, "the file is empty", "")
	}
	return doc.Content[0], nil
}

// maxDepth is how deeply a file may be nested.
const maxDepth = 1000

// yamlLimits stops the YAML library at maxDepth, and when the meter does. Aliases are
// bounded by builder, which sees what they stand for.
type yamlLimits struct{ meter *memory.Meter }

var _ yaml.LoaderLimitsPlugin = yamlLimits{}

var errDepth = errors.New("nested too deeply")

func (l yamlLimits) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth || !l.meter.Hold(0) {
		return errDepth
	}
	return nil
}

func (yamlLimits) CheckAlias(int, int) error { return nil }

// checkEncoding finds the first byte that YAML does not allow (YAML 1.2.2, 5.1
// and 5.2), for which the library reports no line.
func (d *document) checkEncoding() *diag.Diagnostic {
	src := d.source
	if name := wideEncoding(src); name != "" {
		return d.problem(diag.Pos{Line: 1, Col: 1}, diag.CodeEncoding, "the file is "+name, "save it as UTF-8")
	}
	for i := 0; i < len(src); {
		c := src[i]
		if c >= 0x20 && c < utf8.RuneSelf || isSpace(c) {
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return d.problem(d.lines.Pos(i), diag.CodeEncoding, fmt.Sprintf("byte 0x%02X is not valid UTF-8", c), "save the file as UTF-8")
		case r < 0x20 || r == 0xFFFE || r == 0xFFFF:
			return d.problem(d.lines.Pos(i), diag.CodeEncoding, fmt.Sprintf("the control character U+%04X is not allowed", r),
				fmt.Sprintf("in a double-quoted string, write it as \"\\u%04X\"", r))
		}
		i += size
	}
	return nil
}

// wideEncoding returns the encoding of a text if its beginning is that of UTF-16 or
// UTF-32 (YAML 1.2.2, 5.2), and an empty string otherwise.
func wideEncoding(src []byte) string {
	begins := func(prefix string) bool { return bytes.HasPrefix(src, []byte(prefix)) }
	zeros := "" // which of the first bytes are zero
	for _, c := range src[:min(4, len(src))] {
		zeros += map[bool]string{true: "0", false: "x"}[c == 0]
	}
	switch {
	case begins("\xff\xfe\x00\x00"), begins("\x00\x00\xfe\xff"), zeros == "000x", zeros == "x000":
		return "UTF-32"
	case begins("\xff\xfe"), begins("\xfe\xff"), zeros == "0x0x", zeros == "x0x0":
		return "UTF-16"
	}
	return ""
}

func (d *document) problem(pos diag.Pos, code, message, hint string) *diag.Diagnostic {
	return &diag.Diagnostic{
		File: d.path, Pos: pos, Severity: diag.SeverityOf(code), Code: code, Message: message, Hint: hint,
	}
}

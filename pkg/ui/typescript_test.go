package ui

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// shared are the types that the page knows, by their names there.
var shared = [][2]string{
	{"apiError", "ApiError"}, {"pos", "Pos"}, {"place", "Span"}, {"span", "Range"}, {"cut", "Cut"}, {"cutInfo", "CutInfo"},
	{"state", "State"}, {"fileInfo", "FileInfo"}, {"durableState", "DurableState"}, {"opening", "Opening"}, {"toolInfo", "ToolInfo"},
	{"problem", "Problem"}, {"fix", "Fix"}, {"textEdit", "TextEdit"}, {"saved", "Saved"}, {"completion", "Completion"},
	{"graphJSON", "Graph"}, {"nodeJSON", "GNode"}, {"edgeJSON", "GEdge"}, {"bodyJSON", "GBody"},
	{"start", "Start"}, {"startFrom", "StartFrom"}, {"nodeValue", "NodeValue"}, {"breakpoint", "Breakpoint"}, {"breakOn", "BreakOn"},
	{"runState", "RunState"}, {"paused", "Paused"}, {"activity", "Active"}, {"durableInfo", "DurableInfo"}, {"question", "Question"},
	{"said", "Said"}, {"failure", "Failure"}, {"record", "Rec"}, {"attempt", "Attempt"},
	{"serverInfo", "ServerInfo"}, {"peerInfo", "Peer"}, {"serverTool", "ServerTool"}, {"event", "EventFields"},
}

const generatedTypes = "../../web/src/api/generated.ts"

// TestTypesOfThePage compares the types of the page with those here, of which they are
// made. A tag ts has the type of a field there; a ? before it makes the field optional.
func TestTypesOfThePage(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	structs := map[string]*ast.StructType{}
	docs := map[string]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && len(d.Specs) == 1 {
				if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
					docs[s.Name.Name] = strings.Join(strings.Fields(d.Doc.Text()), " ")
				}
			}
			if s, ok := n.(*ast.TypeSpec); ok {
				if body, ok := s.Type.(*ast.StructType); ok {
					structs[s.Name.Name] = body
				}
			}
			return true
		})
	}
	names := map[string]string{}
	for _, s := range shared {
		names[s[0]] = s[1]
	}
	var b bytes.Buffer
	b.WriteString("// Made from the types of pkg/ui by UPDATE=1 go test ./pkg/ui -run TypesOfThePage; do not edit.\nimport type { Json } from \"./types\";\n")
	for _, s := range shared {
		body := structs[s[0]]
		if body == nil {
			t.Fatalf("there is no type %s", s[0])
		}
		if doc := docs[s[0]]; doc != "" {
			fmt.Fprintf(&b, "\n// %s", strings.Replace(doc, s[0]+" ", s[1]+" ", 1))
		}
		fmt.Fprintf(&b, "\nexport interface %s {\n", s[1])
		for _, f := range body.Fields.List {
			writeField(t, &b, names, f)
		}
		b.WriteString("}\n")
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(generatedTypes, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(generatedTypes)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, b.Bytes()) {
		t.Errorf("web/src/api/generated.ts is not what the types of pkg/ui make: run make update")
	}
}

// writeField writes a field as TypeScript has it.
func writeField(t *testing.T, b *bytes.Buffer, names map[string]string, f *ast.Field) {
	if f.Tag == nil {
		return
	}
	tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	if name == "" || name == "-" {
		return
	}
	as, optional := strings.CutPrefix(tag.Get("ts"), "?")
	if as == "" {
		as = typeScript(t, names, f.Type)
	}
	if optional || strings.Contains(options, "omit") {
		name += "?"
	}
	fmt.Fprintf(b, "  %s: %s;", name, as)
	comment := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
	if comment != "" {
		b.WriteString(" // " + comment)
	}
	b.WriteString("\n")
}

// typeScript returns a type as TypeScript has it.
func typeScript(t *testing.T, names map[string]string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeScript(t, names, e.X)
	case *ast.ArrayType:
		return typeScript(t, names, e.Elt) + "[]"
	case *ast.MapType:
		return "{ [key: string]: " + typeScript(t, names, e.Value) + " }"
	case *ast.SelectorExpr:
		if e.Sel.Name == "Time" {
			return "string"
		}
		return "Json"
	case *ast.Ident:
		switch e.Name {
		case "string":
			return "string"
		case "bool":
			return "boolean"
		case "int", "int64", "float64":
			return "number"
		case "any":
			return "Json"
		}
		if name := names[e.Name]; name != "" {
			return name
		}
	}
	t.Fatalf("the page has no type for %v", e)
	return ""
}

// TestEventsOfThePage compares the fields of events in the page with those here.
func TestEventsOfThePage(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../web/src/api/types.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, union, _ := strings.Cut(string(text), "export type Event =")
	union, _, _ = strings.Cut(union, ")>;")
	known := map[string]bool{}
	for f := range reflect.TypeFor[event]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = true
	}
	found := regexp.MustCompile(`(\w+)\??: `).FindAllStringSubmatch(regexp.MustCompile(`//.*`).ReplaceAllString(union, ""), -1)
	if len(found) < len(known) {
		t.Errorf("the page has %d fields of events; expected more", len(found))
	}
	for _, m := range found {
		if !known[m[1]] {
			t.Errorf("the page has the field %s in an event, which no event has", m[1])
		}
	}
}

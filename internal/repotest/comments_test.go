package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commentWordRE finds words with a capital behind a small letter.
var commentWordRE = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*[a-z][A-Z][A-Za-z0-9_]*`)

// TestCommentsNameWhatExists finds words in comments that look like identifiers and are
// in no source, file of a test or document: things that have other names now.
func TestCommentsNameWhatExists(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	type word struct{ text, place string }
	var words []word
	wordRE := regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case d.IsDir() || strings.HasPrefix(filepath.ToSlash(path), "internal/jsonschema/"):
			return nil
		}
		switch filepath.Ext(path) {
		case ".go":
		case ".md", ".yaml", ".txtar", ".ts", ".tsx", ".json", ".mjs":
			for _, w := range wordRE.FindAllString(readFile(t, path), -1) {
				known[w] = true
			}
			return nil
		default:
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				known[n.Name] = true
			case *ast.BasicLit:
				for _, w := range wordRE.FindAllString(n.Value, -1) {
					known[w] = true
				}
			}
			return true
		})
		for _, d := range file.Decls {
			names, doc := declared(d)
			first, _, _ := strings.Cut(strings.TrimSuffix(doc.Text(), "\n"), " ")
			if commentWordRE.FindString(first) == first && first != "" && len(names) > 0 && !slices.Contains(names, first) {
				t.Errorf("%s: the comment begins with %s, which is above %s", fset.Position(doc.Pos()), first, names[0])
			}
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				for _, w := range commentWordRE.FindAllString(c.Text, -1) {
					words = append(words, word{w, fset.Position(c.Pos()).String()})
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(words) < 1000 {
		t.Errorf("found %d words; expected those of all comments", len(words))
	}
	for _, w := range words {
		if !known[w.text] && !ofOthers[w.text] {
			t.Errorf("%s: %s is no name in this module", w.place, w.text)
		}
	}
}

// declared returns what a declaration alone declares, and its comment.
func declared(d ast.Decl) ([]string, *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}, d.Doc
	case *ast.GenDecl:
		var names []string
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
		return names, d.Doc
	}
	return nil, nil
}

// ofOthers are names of other programs and standards, which comments mention.
var ofOthers = map[string]bool{
	"adA": true, // an output
	// The Go libraries.
	"WaitGroups": true, "FindSubmatchIndex": true, "RecordError": true, "TestName": true,
	// Kubernetes.
	"ConfigMap": true,
	// The Language Server Protocol.
	"CompletionItemKind": true, "SymbolKind": true, "PositionEncodingKind": true, "ErrorCodes": true,
	// ECMAScript and JSONata.
	"ToNumber": true, "ToString": true, "StringToNumber": true, "ToIntegerOrInfinity": true, "ToBoolean": true, "encodeURI": true,
	"dateTime": true, "CharacterClassEscape": true, "LineTerminator": true,
	// Unicode.
	"SpecialCasing": true,
	// MCP.
	"ElicitRequestFormParams": true, "PrimitiveSchemaDefinition": true, "ToolExecution": true,
	"MissingRequiredClientCapabilityError": true, "CompleteRequest": true,
}

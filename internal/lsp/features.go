package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mcpgraph/mcpgraph/internal/language"
)

func (s *server) initialize(p initializeParams) initializeResult {
	s.watches = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	s.hierarchical = p.Capabilities.TextDocument.DocumentSymbol.Hierarchical
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range p.Capabilities.General.PositionEncodings {
		if e == utf8Units || e == utf16Units || e == utf32Units {
			s.encoding = e
			break
		}
	}
	for _, f := range p.WorkspaceFolders {
		s.addFolder(f.URI)
	}
	if len(p.WorkspaceFolders) == 0 && p.RootURI != "" {
		s.addFolder(p.RootURI)
	}
	const incremental = 2
	c := serverCapabilities{
		PositionEncoding:   s.encoding,
		TextDocumentSync:   syncOptions{OpenClose: true, Change: incremental, Save: true},
		CompletionProvider: completionOptions{TriggerCharacters: []string{".", "$", " ", "\"", "'", "`", "{", "[", ","}},
		HoverProvider:      true, DefinitionProvider: true, ReferencesProvider: true, DocumentHighlightProvider: true,
		DocumentSymbolProvider: true, DocumentFormattingProvider: true,
		CodeActionProvider: codeActionOptions{[]string{quickFix}},
		RenameProvider:     renameOptions{PrepareProvider: true},
	}
	c.Workspace.WorkspaceFolders.Supported = true
	c.Workspace.WorkspaceFolders.ChangeNotifications = true
	return initializeResult{c, serverInfo{"mcpgraph", s.opts.Version}}
}

const quickFix = "quickfix"

// register asks the client to tell of changes on disk.
func (s *server) register() {
	if !s.watches {
		return
	}
	const method = "workspace/didChangeWatchedFiles"
	s.send(call{Version: "2.0", ID: "watch-files", Method: "client/registerCapability", Params: registrationParams{
		[]registration{{ID: "watch-files", Method: method, Options: watchOptions{[]watcher{
			{GlobPattern: "**/*.{yaml,yml}"}, {GlobPattern: "**/*.json"},
		}}}},
	}})
}

// methods returns what prepares the answer of each method: it reads the params and
// takes hold of the text that they are about.
func (s *server) methods() map[string]func(json.RawMessage) (answer, error) {
	return map[string]func(json.RawMessage) (answer, error){
		"textDocument/completion":        at(s, s.completion),
		"textDocument/hover":             at(s, s.hover),
		"textDocument/definition":        at(s, s.definition),
		"textDocument/documentHighlight": at(s, s.highlights),
		"textDocument/prepareRename":     at(s, s.prepareRename),
		"textDocument/references":        on(s, func(p referenceParams) string { return p.TextDocument.URI }, s.references),
		"textDocument/rename":            on(s, func(p renameParams) string { return p.TextDocument.URI }, s.rename),
		"textDocument/codeAction":        on(s, func(p actionParams) string { return p.TextDocument.URI }, s.actions),
		"textDocument/formatting":        on(s, func(p documentParams) string { return p.TextDocument.URI }, s.format),
		"textDocument/documentSymbol":    on(s, func(p documentParams) string { return p.TextDocument.URI }, s.symbols),
	}
}

// on returns what prepares a request about a file. The result is null for one that
// is not open.
func on[P any](s *server, uri func(P) string, f func(*text, P) (any, error)) func(json.RawMessage) (answer, error) {
	return func(params json.RawMessage) (answer, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, errors.New("the params are not those of the protocol")
		}
		t := s.textOf(pathOf(uri(p)))
		if t == nil {
			return func() (any, error) { return nil, nil }, nil
		}
		return func() (any, error) { return f(t, p) }, nil
	}
}

// at is on for requests about a position.
func at(s *server, f func(t *text, offset int) (any, error)) func(json.RawMessage) (answer, error) {
	return on(s, func(p positionParams) string { return p.TextDocument.URI }, func(t *text, p positionParams) (any, error) {
		return f(t, t.lines().offset(p.Position))
	})
}

// Kinds of completion items (LSP 3.17, CompletionItemKind).
var itemKinds = map[language.ItemKind]int{
	language.KeyItem: 10, language.ValueItem: 12, language.NodeItem: 18, language.ServerItem: 9,
	language.ToolItem: 2, language.FunctionItem: 3, language.VariableItem: 6, language.PropertyItem: 5,
}

func (s *server) completion(t *text, offset int) (any, error) {
	items, whole := language.Complete(t.document(), offset)
	x := t.lines()
	list := completionList{IsIncomplete: !whole, Items: make([]completionItem, 0, len(items))}
	for n, i := range items {
		order := "1"
		if i.First {
			order = "0"
		}
		item := completionItem{
			Label: i.Label, Kind: itemKinds[i.Kind], Detail: i.Detail, Documentation: i.Doc,
			SortText:   fmt.Sprintf("%s%04d", order, n),
			FilterText: filter(t.content[i.From:offset], i.Label),
			TextEdit:   &textEdit{x.span(i.Span), i.Insert},
		}
		if i.Deprecated {
			const deprecated = 1
			item.Tags = []int{deprecated}
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// filter returns what a client compares with the text that an item replaces: it
// has to begin with what was typed, where that is a quote or white space.
func filter(typed, label string) string {
	if typed == "" || typed[0] != ' ' {
		return label
	}
	return typed[:1] + label
}

func (s *server) hover(t *text, offset int) (any, error) {
	markdown, span, ok := language.Hover(t.document(), offset)
	if !ok {
		return nil, nil
	}
	return hover{markup{"markdown", markdown}, t.lines().span(span)}, nil
}

// locations returns places as the protocol has them.
func (s *server) locations(list []language.Location) []location {
	out := make([]location, 0, len(list))
	indexes := map[string]*lineIndex{}
	for _, l := range list {
		x, known := indexes[l.Path]
		if !known {
			x = linesOf(s, l.Path)
			indexes[l.Path] = x
		}
		if x != nil {
			out = append(out, location{uriIn(s, l.Path), x.span(l.Span)})
		}
	}
	return out
}

func (s *server) definition(t *text, offset int) (any, error) {
	return s.locations(t.document().Definition(offset)), nil
}

func (s *server) highlights(t *text, offset int) (any, error) {
	x, out := t.lines(), []highlight{}
	for _, span := range t.document().Highlights(offset) {
		out = append(out, highlight{x.span(span)})
	}
	return out, nil
}

func (s *server) references(t *text, p referenceParams) (any, error) {
	doc := t.document()
	found := doc.References(t.lines().offset(p.Position), p.Context.IncludeDeclaration, s.tests(doc))
	return s.locations(found), nil
}

// tests returns the documents of the test files around a document: those that are
// open, and those on disk below its folder, that of its configuration, and the
// workspace folders that they are in.
func (s *server) tests(doc *language.Document) []*language.Document {
	home := doc.Path
	if c := doc.ConfigPath(); c != "" {
		home = c
	}
	var docs []*language.Document
	paths := map[string]bool{}
	s.mu.Lock()
	folders := []string{}
	for _, f := range s.folders {
		if rel, err := filepath.Rel(f, home); err == nil && filepath.IsLocal(rel) {
			folders = append(folders, f)
		}
	}
	for path := range s.open {
		paths[path] = true
	}
	s.mu.Unlock()
	if filepath.IsAbs(home) {
		folders = append(folders, filepath.Dir(home))
		for _, path := range testFiles(folders) {
			paths[path] = true
		}
	}
	for path := range paths {
		if d := s.document(path); d != nil && d.Kind == language.Test {
			docs = append(docs, d)
		}
	}
	slices.SortFunc(docs, func(a, b *language.Document) int { return compare(a.Path, b.Path) })
	return docs
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (s *server) prepareRename(t *text, offset int) (any, error) {
	span, name, err := language.Renamed(t.document(), offset)
	if errors.Is(err, language.ErrNoName) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return prepared{t.lines().span(span), name}, nil
}

func (s *server) rename(t *text, p renameParams) (any, error) {
	doc := t.document()
	edits, err := language.Rename(doc, t.lines().offset(p.Position), p.NewName, s.tests(doc))
	if err != nil {
		return nil, err
	}
	return s.workspaceEdit(edits), nil
}

func (s *server) workspaceEdit(edits []language.Edit) workspaceEdit {
	out := workspaceEdit{map[string][]textEdit{}}
	indexes := map[string]*lineIndex{}
	for _, e := range edits {
		x, known := indexes[e.Path]
		if !known {
			x = linesOf(s, e.Path)
			indexes[e.Path] = x
		}
		if x != nil {
			uri := uriIn(s, e.Path)
			out.Changes[uri] = append(out.Changes[uri], textEdit{x.span(e.Span), e.New})
		}
	}
	return out
}

func (s *server) actions(t *text, p actionParams) (any, error) {
	out := []codeAction{}
	if p.Context.Only != nil && !slices.Contains(p.Context.Only, quickFix) {
		return out, nil
	}
	x, doc := t.lines(), t.document()
	for _, a := range language.Actions(doc, language.Span{From: x.offset(p.Range.Start), To: x.offset(p.Range.End)}) {
		out = append(out, codeAction{
			Title: a.Title, Kind: quickFix, IsPreferred: true,
			Diagnostics: []diagnostic{diagnosticOf(s, t, doc.Diagnostics[a.Diagnostic], map[string]*lineIndex{})},
			Edit:        s.workspaceEdit(a.Edits),
		})
	}
	return out, nil
}

// format returns the edits that format a file. One that is not valid YAML cannot be
// formatted; its diagnostics say why.
func (s *server) format(t *text, _ documentParams) (any, error) {
	x, out := t.lines(), []textEdit{}
	edits, err := language.Format(t.document())
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		out = append(out, textEdit{x.span(e.Span), e.New})
	}
	return out, nil
}

// Kinds of symbols (LSP 3.17, SymbolKind).
var symbolKinds = map[language.ItemKind]int{
	language.KeyItem: 3, language.NodeItem: 8, language.ServerItem: 2, language.ToolItem: 12,
}

func (s *server) symbols(t *text, _ documentParams) (any, error) {
	x := t.lines()
	symbols := language.Symbols(t.document())
	if s.hierarchical {
		return nested(x, symbols), nil
	}
	uri := uriIn(s, t.path)
	flat := []symbolInformation{}
	var add func(list []language.Symbol, container string)
	add = func(list []language.Symbol, container string) {
		for _, y := range list {
			flat = append(flat, symbolInformation{y.Name, symbolKinds[y.Kind], location{uri, x.span(y.Span)}, container})
			add(y.Children, y.Name)
		}
	}
	add(symbols, "")
	return flat, nil
}

func nested(x *lineIndex, list []language.Symbol) []documentSymbol {
	out := []documentSymbol{}
	for _, y := range list {
		out = append(out, documentSymbol{
			Name: y.Name, Detail: y.Detail, Kind: symbolKinds[y.Kind],
			Range: x.span(y.Span), SelectionRange: x.span(y.Selection), Children: nested(x, y.Children),
		})
	}
	return out
}

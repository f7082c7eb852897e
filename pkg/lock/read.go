package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// MaxBytes is how long a lock file may be.
const MaxBytes = 64 << 20

// Parse reads the text of a lock file. path names it in the diagnostic, which is
// the first problem: a text that is not JSON, a member that is missing or has
// another type, or content that does not match the digest. The file is nil then.
func Parse(path string, text []byte) (*File, []diag.Diagnostic) {
	r := &reader{path: path, text: text}
	f := r.file()
	if r.problem != nil {
		return nil, []diag.Diagnostic{*r.problem}
	}
	return f, nil
}

// reader reads one file up to its first problem.
type reader struct {
	path    string
	text    []byte
	problem *diag.Diagnostic
}

const rewrite = "write it again with `mcpgraph lock CONFIG`"

// fail reports a problem at a byte offset.
func (r *reader) fail(offset int, message, hint string) {
	if r.problem == nil {
		r.problem = &diag.Diagnostic{
			File: r.path, Pos: diag.NewLines(r.text).Pos(offset), Severity: diag.SeverityOf(diag.CodeLock), Code: diag.CodeLock,
			Message: message, Hint: hint,
		}
	}
}

// failAt reports a problem of the member that keys lead to.
func (r *reader) failAt(message, hint string, keys ...string) {
	if r.problem == nil {
		r.fail(offsetOf(r.text, keys), message, hint)
	}
}

func (r *reader) file() *File {
	if len(r.text) > MaxBytes {
		r.fail(0, fmt.Sprintf("the lock file is longer than %d bytes", MaxBytes), rewrite)
		return nil
	}
	root, err := value.ParseStrict(string(r.text))
	if err != nil {
		offset, message := 0, err.Error()
		var syntax *value.SyntaxError
		if errors.As(err, &syntax) {
			offset, message = syntax.Offset, syntax.Message
		}
		r.fail(offset, "the lock file is not JSON: "+message, rewrite)
		return nil
	}
	if root.Kind() != value.Object {
		r.fail(0, "the lock file must be an object", rewrite)
		return nil
	}
	switch v := root.Get(keyVersion); {
	case v.Kind() != value.Number:
		r.failAt("the lock file has no "+strconv.Quote(keyVersion), rewrite, keyVersion)
	case v.Float() != version:
		r.failAt(fmt.Sprintf("the lock file has version %s; this mcpgraph reads version %d", v.JSON(), version),
			"use the version of mcpgraph that wrote it, or "+rewrite, keyVersion)
	}
	servers := r.object(root, keyServers)
	if r.problem != nil {
		return nil
	}
	if want := digest(servers); root.Get(keyDigest).Str() != want {
		r.failAt("the content of the lock file does not match its digest: it was changed by hand or merged", rewrite, keyDigest)
		return nil
	}
	f := &File{}
	for _, e := range servers.Entries() {
		f.Servers = append(f.Servers, r.server(e.Key, servers))
	}
	slices.SortFunc(f.Servers, func(a, b *Server) int { return strings.Compare(a.Name, b.Name) })
	return f
}

func (r *reader) server(name string, servers value.Value) *Server {
	at := []string{keyServers}
	v := r.object(servers, name, at...)
	at = append(at, name)
	s := &Server{
		Name: name, ServerName: r.string(v, keyName, at), Version: r.string(v, keyRelease, at), Protocol: r.string(v, keyProtocol, at), Issuer: r.string(v, keyIssuer, at),
	}
	switch tasks := v.Get(keyTasks); {
	case tasks.Kind() == value.Bool:
		s.NoTasks = !tasks.Bool()
	case !tasks.IsUndefined():
		r.failAt(fmt.Sprintf("%q must be true or false", keyTasks), rewrite, append(slices.Clip(at), keyTasks)...)
	}
	names := v.Get(keyToolNames)
	for _, n := range names.Elems() {
		if n.Kind() != value.String {
			names = value.Undef
		}
		s.ToolNames = append(s.ToolNames, n.Str())
	}
	if names.Kind() != value.Array {
		r.failAt(fmt.Sprintf("%q must be a list of names", keyToolNames), rewrite, append(at, keyToolNames)...)
	}
	slices.Sort(s.ToolNames)
	tools := r.object(v, keyTools, at...)
	at = append(at, keyTools)
	for _, e := range tools.Entries() {
		one := r.object(tools, e.Key, at...)
		s.Tools = append(s.Tools, &Tool{
			Name: e.Key, Description: r.string(one, keyDescription, append(slices.Clip(at), e.Key)),
			InputSchema: one.Get(keyInputSchema), OutputSchema: one.Get(keyOutputSchema), Annotations: one.Get(keyAnnotations), Execution: one.Get(keyExecution),
		})
	}
	sortTools(s.Tools)
	return s
}

// object returns a member that must be an object.
func (r *reader) object(of value.Value, key string, at ...string) value.Value {
	v := of.Get(key)
	if v.Kind() != value.Object {
		r.failAt(fmt.Sprintf("%q must be an object", key), rewrite, append(slices.Clip(at), key)...)
	}
	return v
}

// string returns an optional member that must be a string.
func (r *reader) string(of value.Value, key string, at []string) string {
	v := of.Get(key)
	if !v.IsUndefined() && v.Kind() != value.String {
		r.failAt(fmt.Sprintf("%q must be a string", key), rewrite, append(slices.Clip(at), key)...)
	}
	return v.Str()
}

// offsetOf returns the byte offset of the member that keys lead to, or of the last
// one on the way that is there.
func offsetOf(text []byte, keys []string) int {
	d := json.NewDecoder(bytes.NewReader(text))
	at := 0
	for _, key := range keys {
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return at
		}
		for {
			t, err := d.Token()
			name, ok := t.(string)
			if err != nil || !ok {
				return at
			}
			if name == key {
				// The offset is behind the key; the value follows the colon.
				at = int(d.InputOffset())
				at += bytes.IndexFunc(text[at:], func(c rune) bool { return !strings.ContainsRune(" \t\r\n:", c) })
				break
			}
			var skipped json.RawMessage
			if d.Decode(&skipped) != nil {
				return at
			}
		}
	}
	return at
}

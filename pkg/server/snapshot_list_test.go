package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// pagesOf reads a list to its end and returns the names on each page.
func pagesOf(t *testing.T, c *stdioClient, method, member, key string) (pages [][]string, cursors []string) {
	t.Helper()
	params := "{}"
	for {
		c.send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
		result := parse(t, c.line()).Get("result")
		var page []string
		for _, e := range result.Get(member).Elems() {
			page = append(page, e.Get(key).Str())
		}
		pages = append(pages, page)
		next := result.Get("nextCursor")
		if next.IsUndefined() {
			return pages, cursors
		}
		cursors = append(cursors, next.Str())
		params = `{"cursor":` + next.JSON() + `}`
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	read := server.ReadText("", func(context.Context, *server.Request) (string, bool) { return "", true })
	opts := server.Options{Call: echo}
	for i := range 1001 {
		opts.Tools = append(opts.Tools, tool(t, fmt.Sprintf("t%d", i)))
	}
	for i := range 250 {
		opts.Prompts = append(opts.Prompts, server.Prompt{Name: fmt.Sprintf("p%d", i), Get: echo})
		opts.Resources = append(opts.Resources,
			server.Resource{URI: fmt.Sprintf("a://%d", i), Name: "r", Read: read},
			server.Resource{URI: fmt.Sprintf("b%d://{x}", i), Template: true, Name: "t", Read: read})
	}
	c := start(t, opts)
	c.initialize("2025-11-25")
	given := map[string][]string{}
	for _, list := range []struct {
		method, member, key, last string
		sizes                     string
	}{
		{"tools/list", "tools", "name", "t1000", "[1000 1]"},
		{"prompts/list", "prompts", "name", "p249", "[100 100 50]"},
		{"resources/list", "resources", "uri", "a://249", "[100 100 50]"},
		{"resources/templates/list", "resourceTemplates", "uriTemplate", "b249://{x}", "[100 100 50]"},
	} {
		pages, cursors := pagesOf(t, c, list.method, list.member, list.key)
		var sizes []int
		seen := map[string]bool{}
		for _, page := range pages {
			sizes = append(sizes, len(page))
			for _, name := range page {
				seen[name] = true
			}
		}
		last := pages[len(pages)-1]
		if fmt.Sprint(sizes) != list.sizes || last[len(last)-1] != list.last || len(seen) != sizes[0]*(len(sizes)-1)+sizes[len(sizes)-1] {
			t.Errorf("%s has pages of %v, %d different, the last is %s", list.method, sizes, len(seen), last[len(last)-1])
		}
		given[list.method] = cursors
	}
	// A cursor is good for its list alone, and only while that is the same.
	refused := func(method, cursor string) {
		t.Helper()
		c.send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"cursor":%q}}`, method, cursor)
		if line := c.line(); !strings.Contains(line, `"code":-32602`) {
			t.Errorf("%s takes %q: %.300s", method, cursor, line)
		}
	}
	refused("resources/list", given["prompts/list"][0])
	for _, cursor := range []string{"x", strings.Repeat("A", 22), given["prompts/list"][0] + "A", given["prompts/list"][0][1:], strings.Repeat("A", 1<<20)} {
		refused("prompts/list", cursor)
	}
	next := opts
	next.Prompts = opts.Prompts[1:]
	c.replace(next)
	if line := c.line(); line != `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}` {
		t.Errorf("got %s", line)
	}
	refused("prompts/list", given["prompts/list"][0])
	// Other servers with the same list take it.
	c.replace(opts)
	c.line()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"cursor":%q}}`, given["prompts/list"][1])
	if line := c.line(); !strings.Contains(line, `"prompts":[{"name":"p200"}`) {
		t.Errorf("got %.300s", line)
	}
	c.closed()
}

func FuzzCursor(f *testing.F) {
	keys := []string{"a", "b", "c"}
	f.Add(server.CursorAt(1, keys))
	f.Add("AAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, cursor string) {
		if at, ok := server.ReadCursor(cursor, keys); ok && (at < 1 || at > 2 || server.CursorAt(at, keys) != cursor) {
			t.Fatalf("%q begins at %d", cursor, at)
		}
	})
}

// What changes while the server runs is listed, looked up and called as it is now.
func TestDynamicLists(t *testing.T) {
	t.Parallel()
	listed := func(text ...string) func(context.Context, *server.Request) []value.Value {
		return func(_ context.Context, r *server.Request) []value.Value {
			var all []value.Value
			for _, one := range text {
				all = append(all, parse(t, one))
			}
			return all
		}
	}
	read := func(_ context.Context, r *server.Request) (value.Value, error) {
		if r.URI == "up://missing" {
			return value.Undef, server.ErrNotFound
		}
		return parse(t, `[{"uri":"`+r.URI+`","text":"up"}]`), nil
	}
	opts := named(server.Options{
		Call:    echo,
		Prompts: []server.Prompt{{Name: "own", Get: func(context.Context, *server.Request) (value.Value, error) { return parse(t, `{"messages":[]}`), nil }}},
		Dynamic: &server.Dynamic{
			Version:   "1",
			Prompts:   listed(`{"name":"own","description":"hidden by the other"}`, `{"name":"up.a","x-more":[1]}`, `{"name":"up.a"}`),
			Resources: listed(`{"uri":"up://a","name":"a"}`),
			Templates: listed(`{"uriTemplate":"up://{x}","name":"t"}`),
			Prompt: func(_ *server.Request, name string) *server.Prompt {
				if !strings.HasPrefix(name, "up.") {
					return nil
				}
				return &server.Prompt{Name: name, Get: func(_ context.Context, r *server.Request) (value.Value, error) {
					return parse(t, `{"messages":[],"description":`+value.FromString(r.Tool+r.Args.JSON()).JSON()+`}`), nil
				}}
			},
			Resource: func(_ *server.Request, uri string) *server.Resource {
				if !strings.HasPrefix(uri, "up://") {
					return nil
				}
				return &server.Resource{URI: uri, Name: "up", Read: read}
			},
		},
	})
	c := start(t, opts)
	c.initialize("2025-11-25")
	c.want(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"own"},{"name":"up.a","x-more":[1]}]}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"up://a","name":"a"}]}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"resourceTemplates":[{"uriTemplate":"up://{x}","name":"t"}]}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"own"}}`, `{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"up.b","arguments":{"any":"x"}}}`, `{"jsonrpc":"2.0","id":1,"result":{"messages":[],"description":"prompts/up.b{\"any\":\"x\"}"}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"down"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown prompt \"down\"; did you mean \"own\"?"}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"elsewhere"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown prompt \"elsewhere\""}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"up://b"}}`, `{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"up://b","text":"up"}]}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"up://missing"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"unknown resource \"up://missing\"","data":{"uri":"up://missing"}}}`)
	same := *opts.Dynamic
	opts.Dynamic = &same
	c.replace(opts) // nothing has changed
	changed := same
	changed.Version = "2"
	opts.Dynamic = &changed
	c.replace(opts)
	for _, want := range []string{"prompts", "resources"} {
		if got := c.line(); got != `{"jsonrpc":"2.0","method":"notifications/`+want+`/list_changed"}` {
			t.Errorf("got %s", got)
		}
	}
	c.server.NotifyChanged(true, false)
	if got := c.line(); got != `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}` {
		t.Errorf("got %s", got)
	}
	c.closed()
}

// A list of several pages is made once for the client that reads it.
func TestPagesOfADynamicListAreThoseOfOneList(t *testing.T) {
	t.Parallel()
	made, length := map[string]int{}, 1050
	list := func(key string) func(context.Context, *server.Request) []value.Value {
		return func(_ context.Context, r *server.Request) []value.Value {
			made[key+r.Info.Meta.Get("who").Str()]++
			var all []value.Value
			for i := range length {
				all = append(all, value.FromEntries([]value.Entry{{Key: key, Value: value.FromString(fmt.Sprintf("%d", i))}, {Key: "name", Value: value.FromString("n")}}))
			}
			return all
		}
	}
	budget := memory.New(1 << 30)
	opts := named(server.Options{
		Call: echo, Memory: budget,
		Prompts: []server.Prompt{{Name: "own", Get: echo}},
		Dynamic: &server.Dynamic{
			Prompts: list("name"), Resources: list("uri"), Templates: list("uriTemplate"),
			Identity: func(r *server.Request) string { return r.Info.Meta.Get("who").Str() },
		},
	})
	c := start(t, opts)
	c.initialize("2025-11-25")
	for _, l := range []struct{ method, member, key string }{
		{"prompts/list", "prompts", "name"}, {"resources/list", "resources", "uri"}, {"resources/templates/list", "resourceTemplates", "uriTemplate"},
	} {
		for n := range 2 { // each time as it is now
			pages, _ := pagesOf(t, c, l.method, l.member, l.key)
			if len(pages) != 11 || made[l.key] != n+1 {
				t.Errorf("%s has %d pages, and was made %d times", l.method, len(pages), made[l.key])
			}
		}
	}
	// Nobody gets the list of somebody else, but may read on in the same list.
	_, cursors := pagesOf(t, c, "resources/list", "resources", "uri")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":%q,"_meta":{"who":"bob"}}}`, cursors[0])
	if line := c.line(); !strings.Contains(line, `"uri":"100"`) || made["uribob"] != 1 {
		t.Errorf("made %d times: %.300s", made["uribob"], line)
	}
	// A cursor of a list that is not this one is not guessed at.
	length = 1049
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":%q,"_meta":{"who":"carol"}}}`, cursors[0])
	if line := c.line(); !strings.Contains(line, "the list has changed") {
		t.Errorf("got %.300s", line)
	}
	c.want(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	if budget.Held() == 0 {
		t.Error("lists that are kept do not count")
	}
	c.replace(opts)
	c.want(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	if n := budget.Held(); n > 1<<20 {
		t.Errorf("%d bytes are held after a reload", n)
	}
	c.closed()
}

package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// How many entries a page of a list has. Some clients read the first page only, and
// without a tool nobody can call it.
const (
	// definitionsKept is the first revision whose clients keep the definitions of an
	// outputSchema.
	definitionsKept = "2025-11-25"

	pageSize      = 100
	toolsPageSize = 1000
)

func listTools(_ context.Context, r *reply) ([]byte, *rpcError) {
	return page(r, "tools", r.from.visible(r.Request, r.from.tools), toolsPageSize)
}

func listPrompts(ctx context.Context, r *reply) ([]byte, *rpcError) {
	return pageOf(ctx, r, "prompts", "name", r.from.prompts, r.from.promptsByName, r.from.dynamic.Prompts)
}

func listResources(ctx context.Context, r *reply) ([]byte, *rpcError) {
	return pageOf(ctx, r, "resources", "uri", r.from.resources, r.from.resourcesByURI, r.from.dynamic.Resources)
}

func listTemplates(ctx context.Context, r *reply) ([]byte, *rpcError) {
	return pageOf(ctx, r, "resourceTemplates", "uriTemplate", r.from.templates, r.from.templatesByURI, r.from.dynamic.Templates)
}

// pageOf returns a page of a list that more may add to.
func pageOf(ctx context.Context, r *reply, members, key string, list []listed, static map[string]*offer, more func(context.Context, *Request) []value.Value) ([]byte, *rpcError) {
	list = r.from.visible(r.Request, list)
	if more == nil {
		return page(r, members, list, pageSize)
	}
	k := dynamicKey{of: r.from, members: members}
	if r.from.dynamic.Identity != nil {
		k.identity = r.from.dynamic.Identity(r.Request)
	}
	if r.params.Has("cursor") {
		if d := r.from.lists.find(k); d != nil {
			text, rpcErr := pages{members, list, d.list, d.digest, pageSize}.after(r)
			if rpcErr == nil {
				return text, nil
			}
		}
	}
	values := more(ctx, r.Request)
	size := int64(0)
	for _, v := range values {
		size += int64(v.TextSize())
	}
	if err := memory.AccountOf(ctx).Grow(2 * size); err != nil {
		return nil, busyError(err)
	}
	d := &dynamicList{list: dynamicListed(values, key, static)}
	d.digest = listDigest(members, d.list)
	r.from.lists.keep(k, d)
	return pages{members, list, d.list, d.digest, pageSize}.after(r)
}

// page returns the page of a list that the cursor of the request names.
func page(r *reply, members string, list []listed, size int) ([]byte, *rpcError) {
	return pages{members: members, list: list, size: size}.after(r)
}

// pages are the pages of a list, and what more adds to it, whose digest is known.
type pages struct {
	members    string
	list, more []listed
	moreDigest []byte
	size       int // of a page
}

func (l pages) len() int { return len(l.list) + len(l.more) }

func (l pages) at(i int) listed {
	if i < len(l.list) {
		return l.list[i]
	}
	return l.more[i-len(l.list)]
}

// after returns the page that the cursor of the request names.
func (l pages) after(r *reply) ([]byte, *rpcError) {
	given, rpcErr := r.param("cursor", value.String)
	if rpcErr != nil {
		return nil, rpcErr
	}
	from := 0
	if given.Str() != "" {
		var ok bool
		if from, ok = l.readCursor(given.Str()); !ok {
			return nil, rpcErrorf(mcp.INVALID_PARAMS, "%s: unknown cursor, or the list has changed; list again without it", r.Method)
		}
	}
	next := min(l.len(), from+l.size)
	dst := append(value.AppendString(nil, l.members), ':', '[')
	for i := from; i < next; i++ {
		if i > from {
			dst = append(dst, ',')
		}
		switch one := l.at(i); {
		case r.modern:
			dst = append(dst, one.modern...)
		case one.oldest != nil && r.Protocol < definitionsKept:
			dst = append(dst, one.oldest...)
		default:
			dst = append(dst, one.legacy...)
		}
	}
	dst = append(dst, ']')
	if next < l.len() {
		dst = value.AppendString(append(dst, `,"nextCursor":`...), l.cursorAt(next))
	}
	return r.message(dst, true), nil
}

// A cursor is where a page begins, and a digest of the list. It works with every
// server that has the same list, and with no other list.
const digestBytes = 12

var cursorEncoding = base64.RawURLEncoding.Strict()

func (l pages) cursorAt(at int) string {
	raw := binary.BigEndian.AppendUint32(nil, uint32(at))
	return cursorEncoding.EncodeToString(append(raw, l.digest()...))
}

// digest identifies the whole list.
func (l pages) digest() []byte { return listDigest(l.members+string(l.moreDigest), l.list) }

// readCursor returns where a page begins. It reports false for a cursor that this
// list has not given.
func (l pages) readCursor(cursor string) (at int, ok bool) {
	if len(cursor) != cursorEncoding.EncodedLen(4+digestBytes) {
		return 0, false
	}
	raw, err := cursorEncoding.DecodeString(cursor)
	if err != nil || len(raw) != 4+digestBytes || string(raw[4:]) != string(l.digest()) {
		return 0, false
	}
	at = int(binary.BigEndian.Uint32(raw))
	return at, at > 0 && at < l.len()
}

// listDigest identifies a list by the keys of its entries, in their order.
func listDigest(members string, list []listed) []byte {
	h := sha256.New()
	h.Write([]byte(members))
	var length [8]byte
	for _, l := range list {
		h.Write(binary.BigEndian.AppendUint64(length[:0], uint64(len(l.key))))
		h.Write([]byte(l.key))
	}
	return h.Sum(nil)[:digestBytes]
}

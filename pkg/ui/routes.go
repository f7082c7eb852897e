package ui

import (
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
)

// route is a path under /api and who answers there. A command runs, controls or
// changes something: a page that is read-only refuses it.
type route struct {
	pattern string // METHOD PATH
	command bool
	answer  func(w http.ResponseWriter, r *http.Request) error
}

func (p *Page) table() []route {
	return slices.Concat(sessionCommands(p), durableCommands(p), []route{
		{"GET /api/state", false, on(p, getState)},
		{"GET /api/tools/{name}/graph", false, on(p, getGraph)},
		{"GET /api/file", false, p.texts.getFile},
		{"PUT /api/file", true, p.texts.putFile},
		{"POST /api/file/check", false, p.texts.checkText},
		{"POST /api/file/format", false, p.texts.formatText},
		{"POST /api/file/complete", false, p.texts.completeText},
		{"POST /api/file/hover", false, p.texts.hoverText},
		{"POST /api/file/edit", true, p.texts.editFile},
		{"GET /api/servers", false, p.servers.listServers},
		{"POST /api/servers/{name}/check", true, p.servers.checkServer},
		{"POST /api/servers/{name}/tools/{tool}/call", true, p.servers.tryTool},
		{"GET /api/runs", false, p.listRuns},
		{"GET /api/runs/{id}", false, p.getRun},
		{"GET /api/runs/{id}/records", false, p.getRecords},
		{"GET /api/runs/{id}/value", false, p.getValue},
		{"GET /api/runs/{id}/export", false, on(p, exportRun)},
		{"GET /api/runs/compare", false, on(p, compareRuns)},
		{"POST /api/runs/import", true, on(p, importRun)},
		{"GET /api/runs/{id}/document", false, on(p, getDocument)},
		{"POST /api/runs/{id}/eval", false, on(p, evaluate)},
		{"GET /api/events", false, on(p, streamEvents)},
	})
}

// streams are the paths of requests that do not take a slot.
const eventsPath = "/api/events"

// routes returns what answers all requests that the guard lets through.
func (p *Page) routes() http.Handler {
	mux := http.NewServeMux()
	byPath := map[string]map[string]http.HandlerFunc{}
	for _, rt := range p.table() {
		method, path, _ := strings.Cut(rt.pattern, " ")
		if byPath[path] == nil {
			byPath[path] = map[string]http.HandlerFunc{}
		}
		byPath[path][method] = p.serve(rt)
	}
	for path, methods := range byPath {
		allowed := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if answer := methods[r.Method]; answer != nil {
				answer(w, r)
				return
			}
			w.Header().Set("Allow", allowed)
			refuse(w, http.StatusMethodNotAllowed, "bad_method", "expected "+allowed)
		})
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "there is no such path")
	})
	mux.Handle("/", p.assets)
	return mux
}

// serve answers at a route.
func (p *Page) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if rt.command && p.opts.ReadOnly {
			refuse(w, http.StatusForbidden, "read_only", "this page is read-only")
			return
		}
		if r.URL.Path != eventsPath {
			select {
			case p.slots <- struct{}{}:
				defer func() { <-p.slots }()
			default:
				w.Header().Set("Retry-After", "1")
				refuse(w, http.StatusServiceUnavailable, "busy", "too many requests are under way")
				return
			}
		}
		defer func() {
			if failed := recover(); failed != nil {
				p.opts.Log.Error("internal error while the page was answered", "path", r.URL.Path, "panic", fmt.Sprint(failed), "stack", string(debug.Stack()))
				refuse(w, http.StatusInternalServerError, "internal", "internal error; the log has more")
			}
		}()
		if err := rt.answer(w, r); err != nil {
			writeError(w, p.clean(err))
		}
	}
}

// on returns what answers at a route with a page.
func on(p *Page, answer func(*Page, http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error { return answer(p, w, r) }
}

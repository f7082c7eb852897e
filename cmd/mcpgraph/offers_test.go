package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
)

const offersFile = "testdata/offers.yaml"

// wantOffers is what clients get of the file. What begins with "refused: " is part of
// an error.
var wantOffers = []string{
	"review", "Review 7,Which file?", `refused: prompts/get: prompt "review": missing required argument "number"`,
	"offers://text,offers://changing", "offers://bytes/{of}", "a text", "YSBi",
	"refused: there is none", `refused: unknown resource "offers://nothing"`, "1,12", "two", "offers://changing",
}

func checkOffers(t *testing.T, got []string) {
	t.Helper()
	if len(got) != len(wantOffers) {
		t.Fatalf("got %q", got)
	}
	for i, want := range wantOffers {
		refused, text := strings.CutPrefix(want, "refused: ")
		if text && !(strings.HasPrefix(got[i], "refused: ") && strings.Contains(got[i], refused)) || !text && got[i] != want {
			t.Errorf("result %d: got %q, want %q", i, got[i], want)
		}
	}
}

// TestOffersForTheGoSDK uses prompts and resources through the official Go SDK in both
// eras of the protocol over both transports.
func TestOffersForTheGoSDK(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2024-11-05", "2025-06-18", legacyRevision, modernRevision} {
		for _, over := range []string{"stdio", "http"} {
			if revision == "2024-11-05" && over == "http" {
				continue // it has another transport
			}
			t.Run(revision+" "+over, func(t *testing.T) {
				t.Parallel()
				updated := make(chan string, 100)
				c := official.NewClient(&official.Implementation{Name: "test", Version: "1"}, &official.ClientOptions{
					ResourceUpdatedHandler: func(_ context.Context, r *official.ResourceUpdatedNotificationRequest) {
						select {
						case updated <- r.Params.URI:
						default:
						}
					},
				})
				var transport official.Transport = &official.CommandTransport{Command: exec.Command(binary, "serve", offersFile)}
				if over == "http" {
					w := serveWeb(t, nil, offersFile)
					defer w.stop()
					transport = &official.StreamableClientTransport{Endpoint: w.base + "/mcp"}
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				s, err := c.Connect(ctx, transport, &official.ClientSessionOptions{ProtocolVersion: revision})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				checkOffers(t, offersOfGoSDK(ctx, t, s, updated))
			})
		}
	}
}

func offersOfGoSDK(ctx context.Context, t *testing.T, s *official.ClientSession, updated <-chan string) []string {
	t.Helper()
	joined := func(all []string, err error) string {
		if err != nil {
			return "refused: " + err.Error()
		}
		return strings.Join(all, ",")
	}
	get := func(args map[string]string) string {
		r, err := s.GetPrompt(ctx, &official.GetPromptParams{Name: "review", Arguments: args})
		var all []string
		if err == nil {
			for _, m := range r.Messages {
				all = append(all, m.Content.(*official.TextContent).Text)
			}
		}
		return joined(all, err)
	}
	read := func(uri string) string {
		r, err := s.ReadResource(ctx, &official.ReadResourceParams{URI: uri})
		if err != nil {
			return joined(nil, err)
		}
		if blob := r.Contents[0].Blob; blob != nil {
			text, _ := json.Marshal(blob)
			return strings.Trim(string(text), `"`)
		}
		return r.Contents[0].Text
	}
	complete := func(ref *official.CompleteReference, name, value string) string {
		r, err := s.Complete(ctx, &official.CompleteParams{Ref: ref, Argument: official.CompleteParamsArgument{Name: name, Value: value}})
		if err != nil {
			return joined(nil, err)
		}
		return joined(r.Completion.Values, nil)
	}
	var prompts, resources, templates []string
	var failed error
	for p, err := range s.Prompts(ctx, nil) {
		if failed = err; err == nil {
			prompts = append(prompts, p.Name)
		}
	}
	out := []string{joined(prompts, failed), get(map[string]string{"number": "7"}), get(nil)}
	for r, err := range s.Resources(ctx, nil) {
		if failed = err; err == nil {
			resources = append(resources, r.URI)
		}
	}
	out = append(out, joined(resources, failed))
	for r, err := range s.ResourceTemplates(ctx, nil) {
		if failed = err; err == nil {
			templates = append(templates, r.URITemplate)
		}
	}
	out = append(out, joined(templates, failed), read("offers://text"), read("offers://bytes/a%20b"), read("offers://bytes/none"), read("offers://nothing"),
		complete(&official.CompleteReference{Type: "ref/prompt", Name: "review"}, "number", "1"),
		complete(&official.CompleteReference{Type: "ref/resource", URI: "offers://bytes/{of}"}, "of", "t"))
	subscribed := make(chan error, 1)
	go func() { subscribed <- s.Subscribe(ctx, &official.SubscribeParams{URI: "offers://changing"}) }() // without a session it lasts
	select {
	case uri := <-updated:
		return append(out, uri)
	case <-ctx.Done():
		return append(out, "refused: no notification came")
	}
}

// TestOffersForTheTypeScriptSDK uses prompts and resources through both generations of
// the official TypeScript SDK.
func TestOffersForTheTypeScriptSDK(t *testing.T) {
	t.Parallel()
	bin := mcptest.RealServers(t)
	for _, of := range []struct{ generation, revision string }{
		{"sdk", legacyRevision}, {"client", legacyRevision}, {"client", modernRevision},
	} {
		for _, over := range []string{"stdio", "http"} {
			t.Run(of.generation+" "+of.revision+" "+over, func(t *testing.T) {
				t.Parallel()
				if (over == "http") != (of.revision == modernRevision) || of.generation == "client" && of.revision == legacyRevision {
					testscale.OnlyFull(t)
				}
				place := map[string]any{"command": binary, "args": []string{"serve", offersFile}}
				if over == "http" {
					w := serveWeb(t, nil, offersFile)
					defer w.stop()
					place = map[string]any{"url": w.base + "/mcp"}
				}
				where, err := json.Marshal(place)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				text, err := exec.CommandContext(ctx, filepath.Join(bin, "node"), "testdata/offers.mjs", filepath.Dir(bin), of.generation, of.revision, string(where)).Output()
				if err != nil {
					t.Fatalf("%v\n%s", err, stderrOf(err))
				}
				var got []string
				if err := json.Unmarshal(text, &got); err != nil {
					t.Fatal(err)
				}
				checkOffers(t, got)
			})
		}
	}
}

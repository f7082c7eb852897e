package nodes_test

import (
	"context"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/nodes"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestContentBlocksAreGivenAsTheyAreOrRefused(t *testing.T) {
	file, ds := config.Parse("t.yaml", []byte(`version: "1.0"
server: {name: t, version: "1"}
tools:
  - name: t
    description: t
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: exit}
      - {id: exit, type: exit, output: content}
`), config.Options{})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	set, ds := graph.Build(file, nodes.All)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	exit := set.Graphs[0].Exit
	if !nodes.GivesBlocks(exit.Step) {
		t.Error("the exit does not give blocks")
	}
	for previous, want := range map[string]string{
		`[{"type":"text","text":"a","x":1},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}]`:                 "",
		`[{"type":"resource","resource":{"uri":"a://b","blob":""}},{"type":"resource_link","uri":"a://b","name":"b"}]`: "",
		`[]`:  "",
		`7`:   `expected a list of content blocks, found the number 7`,
		`[7]`: `content block 0: expected an object, found the number 7`,
		`[{"type":"text","text":"a"},{"type":"video"}]`:    `content block 1: its type is the string "video"; expected "text", "image", "audio", "resource_link" or "resource"`,
		`[{"type":"audio","data":"aGVsbG8="}]`:             `content block 0: the mimeType of a block of type "audio" must be a string, found nothing`,
		`[{"type":"text","text":{"a":1}}]`:                 `content block 0: the text of a block of type "text" must be a string, found an object`,
		`[{"type":"resource","resource":{"uri":"a://b"}}]`: `content block 0: its resource has neither text nor blob`,
		`[{"type":"resource","resource":{"text":"a"}}]`:    `content block 0: the uri of a block of type "resource" must be a string, found nothing`,
	} {
		v, err := value.Parse(previous)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exit.Step.Begin(context.Background(), &graph.Input{Previous: v})
		switch {
		case want == "" && (err != nil || out.Value.JSON() != previous):
			t.Errorf("%s gives %s, %v", previous, out.Value.JSON(), err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: %v, want %s", previous, err, want)
		}
	}
	one, _ := value.Parse(`{"type":"text","text":"a"}`)
	for previous, want := range map[value.Kind]string{value.Object: `[{"type":"text","text":"a"}]`, value.Null: `[]`, value.Undefined: `[]`} {
		in := map[value.Kind]value.Value{value.Object: one, value.Null: value.NullValue, value.Undefined: value.Undef}[previous]
		if out, err := exit.Step.Begin(context.Background(), &graph.Input{Previous: in}); err != nil || out.Value.JSON() != want {
			t.Errorf("%s gives %s, %v", in.JSON(), out.Value.JSON(), err)
		}
	}
}

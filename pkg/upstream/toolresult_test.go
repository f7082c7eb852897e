package upstream

import (
	"errors"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// TestResultsOfTheFirstRevision reads results as servers of revision 2024-10-07 send them.
func TestResultsOfTheFirstRevision(t *testing.T) {
	for sent, want := range map[string]string{
		`{"toolResult":{"content":[{"type":"text","text":"a"}],"isError":true}}`: `{"content":[{"type":"text","text":"a"}],"isError":true}`,
		`{"toolResult":"a"}`:                            `{"content":[{"type":"text","text":"a"}]}`,
		`{"toolResult":{"a":1}}`:                        `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`,
		`{"toolResult":[1]}`:                            `{"content":[{"type":"text","text":"[1]"}]}`,
		`{"toolResult":"no","isError":true}`:            `{"content":[{"type":"text","text":"no"}],"isError":true}`,
		`{"content":[],"toolResult":1}`:                 `{"content":[],"toolResult":1}`,
		`{"structuredContent":{"a":1},"toolResult":{}}`: `{"structuredContent":{"a":1},"toolResult":{}}`,
	} {
		v, err := value.Parse(sent)
		if err != nil {
			t.Fatal(err)
		}
		got := unwrapped(v)
		if got.JSON() != want {
			t.Errorf("%s: got %s, want %s", sent, got.JSON(), want)
		}
		if err := checkResult(got); err != nil {
			t.Errorf("%s: %v", sent, err)
		}
	}
	if err := checkResult(value.FromEntries(nil)); !errors.Is(err, KindEmpty) || KindEmpty.Name() != "protocol" {
		t.Errorf("an empty result: %v", err)
	}
}

package serving

import (
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestWrongMembersOfListsDoNotPass(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ key, listed, want string }{
		{"name", `{"name":"p","arguments":[{"name":"x","required":true}],"icons":[{"src":"i","sizes":["1x1"]}],"own":7}`, ""},
		{"uri", `{"uri":"a://1","name":"one","size":7,"annotations":{"priority":1}}`, ""},
		{"uri", `{"uri":"a://1"}`, `{"uri":"a://1","name":"a://1"}`},
		{"uriTemplate", `{"uriTemplate":"a://{x}","name":7,"title":"t"}`, `{"uriTemplate":"a://{x}","title":"t","name":"a://{x}"}`},
		{"name", `{"name":"p","title":null,"description":["d"],"_meta":"m","annotations":[],"size":"7","own":null}`, `{"name":"p","own":null}`},
		{"name", `{"name":"p","arguments":{"x":1},"icons":"i"}`, `{"name":"p"}`},
		{"name", `{"name":"p","arguments":[7,null,{"title":"no name"},{"name":"x","required":"yes","description":1},{"name":2}]}`, `{"name":"p","arguments":[{"name":"x"}]}`},
		{"name", `{"name":"p","icons":[{"src":7},{"src":"i","mimeType":null}]}`, `{"name":"p","icons":[{"src":"i"}]}`},
	} {
		v, err := value.Parse(test.listed)
		if err != nil {
			t.Fatal(err)
		}
		if test.want == "" {
			test.want = test.listed
		}
		if got := cleaned(v, test.key).JSON(); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.listed, got, test.want)
		}
	}
}

package durable

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// claim is what the memo has of a Claim.
type claim struct {
	Check   string    `json:"check"`
	Created time.Time `json:"created"`
	Blocks  bool      `json:"blocks,omitempty"`
}

// refusals returns failures of questions as they travel.
func refusals(by map[string]*graph.Failure) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	for kind, f := range by {
		if all == nil {
			all = map[string]json.RawMessage{}
		}
		all[kind] = raw(f.Value())
	}
	return all
}

// claimed begins the ids of all runs with a Claim.
const claimed = "call-"

// claimOf returns what the memo has of a Claim.
func claimOf(c *runs.Claim) claim { return claim{c.Check, c.Created.UTC(), c.Blocks} }

// newID returns an id for a run with a Claim of a caller. Ids of one caller begin in
// the same way, so that they can be counted.
func (c *Client) newID(caller string) string {
	return c.prefix(caller) + strconv.FormatUint(rand.Uint64(), 36)
}

// prefix is how ids of a caller begin. It does not name the caller.
func (c *Client) prefix(caller string) string {
	mac := hmac.New(sha256.New, append([]byte("mcpgraph caller\x00"), c.options.Key...))
	mac.Write([]byte(caller))
	return claimed + hex.EncodeToString(mac.Sum(nil)[:6]) + "-"
}

// refuse answers the questions that the caller cannot answer, and reports whether there
// were any.
func (d *driving) refuse() (settled bool) {
	if len(d.in.Refused) == 0 {
		return false
	}
	for _, q := range d.run.Questions() {
		if text := d.in.Refused[graph.QuestionKind(q.Method, q.Value)]; text != nil {
			v, err := parsed(text)
			settled = err == nil && d.run.Answer(q.ID, v, graph.FailureFrom(v), workflow.Now(d.ctx)) == nil || settled
		}
	}
	return settled
}

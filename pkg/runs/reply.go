package runs

import (
	"slices"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// replyShare is the part of the bytes of a Store that the replies in one run may take.
const replyShare = 16

// reply is the reply of the step at a place.
type reply struct {
	value value.Value
	step  int
}

// addReplies packs the replies, the latest first, as far as they fit into so many
// bytes: a run never loses its other values for them.
func (p *packer) addReplies(room int64) {
	for _, one := range slices.Backward(p.replies) {
		size, st := int64(one.value.TextSize()), &p.steps[one.step]
		st.replyBytes = int32(size)
		if size > room || size > p.left() {
			continue
		}
		from := len(p.text)
		p.text = p.shown(one.value).Append(p.text)
		size = int64(len(p.text) - from)
		if size > room || p.left() < 0 {
			p.text = p.text[:from]
			continue
		}
		room -= size
		st.reply = span{uint32(from), uint32(len(p.text))}
	}
}

package runs

import "github.com/mcpgraph/mcpgraph/pkg/value"

// replyShare is the part of the bytes of a Store that the replies in one run may take.
const replyShare = 16

// reply notes the reply of the step that is added next.
func (p *packer) reply(v value.Value) {
	if v.IsUndefined() {
		return
	}
	for len(p.replies) < len(p.steps) {
		p.replies = append(p.replies, value.Undef)
	}
	p.replies = append(p.replies, v)
}

// addReplies packs the replies, the latest first, as far as they fit into so many
// bytes: a run never loses its other values for them.
func (p *packer) addReplies(room int64) {
	for i := len(p.replies) - 1; i >= 0; i-- {
		v := p.replies[i]
		if v.IsUndefined() {
			continue
		}
		size := int64(v.TextSize())
		p.steps[i].replyBytes = int32(size)
		if size > room || size > p.left() {
			continue
		}
		from := len(p.text)
		p.text = p.shown(v).Append(p.text)
		size = int64(len(p.text) - from)
		if size > room || p.left() < 0 {
			p.text = p.text[:from]
			continue
		}
		room -= size
		p.steps[i].reply = span{uint32(from), uint32(len(p.text))}
	}
}

package server

// offer is what a snapshot knows of one thing that clients can use: a tool, a
// prompt, a resource or a resource template.
type offer struct {
	target   string   // the Request.Tool of its calls
	label    string   // in messages, such as `tool "x"`
	scopes   []string // that a caller over HTTP needs
	call     CallFunc
	verbatim bool // the result is sent as it is, once
	instant  bool // it answers at once and takes no slot
	task     TaskSupport

	arguments []string // of a prompt or a template; nil if they are not known
	required  []string // of those
	complete  CompleteFunc
	mimeType  string    // of a resource
	resource  *Resource // nil for tools and prompts
}

// Prefixes of Request.Tool for what is not a tool.
const (
	promptTarget   = "prompts/"
	resourceTarget = "resources/"
)

// listed is an offer as lists show it, encoded once.
type listed struct {
	*offer
	key    string // name or URI, unique in its list
	oldest []byte // for revisions before 2025-11-25; nil: as legacy
	legacy []byte // for revisions with sessions
	modern []byte // since revision 2026-07-28
}

func sameList(a, b []listed) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].key != b[i].key || string(a[i].oldest) != string(b[i].oldest) ||
			string(a[i].legacy) != string(b[i].legacy) || string(a[i].modern) != string(b[i].modern) {
			return false
		}
	}
	return true
}

// byKey returns the offers of a list by their keys; the first one wins.
func byKey(list []listed) map[string]*offer {
	m := make(map[string]*offer, len(list))
	for _, l := range list {
		if m[l.key] == nil {
			m[l.key] = l.offer
		}
	}
	return m
}

// visible returns what the caller of a request may see of a list.
func (p *snapshot) visible(r *Request, list []listed) []listed {
	if !p.hides {
		return list
	}
	var shown []listed
	for _, l := range list {
		if !p.hidden(r, l.offer) {
			shown = append(shown, l)
		}
	}
	return shown
}

package upstream

import (
	"time"
)

// maxOpenings is how many openings of sessions a server remembers.
const maxOpenings = 32

// Opening is a time in which calls waited for a session to be opened: its process was
// started, or its address was connected, and the handshake was made.
type Opening struct {
	Server   string
	From, To time.Time
}

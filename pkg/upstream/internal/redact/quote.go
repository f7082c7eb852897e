package redact

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxQuoted is how many bytes of a text Quote shows.
const MaxQuoted = 200

// Quote returns the start of what a server wrote, quoted on one line. What it leaves
// out is marked so that a [Redactor] finds secrets that were cut.
func Quote(line []byte) string {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	if len(line) <= MaxQuoted {
		return strconv.Quote(string(line))
	}
	return strings.TrimSuffix(strconv.Quote(string(line[:MaxQuoted])), `"`) + `"` + CutMark + fmt.Sprintf("%d bytes)", len(line))
}

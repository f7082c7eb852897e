package graph

import (
	"regexp"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/mcpgraph/mcpgraph/internal/jsonschema"
	"github.com/mcpgraph/mcpgraph/internal/regexclock"
)

// patternTimeout bounds a match by backtracking. A value that takes longer
// counts as one that does not match.
const patternTimeout = time.Second

// compilePattern compiles the regular expressions of schemas, which JSON
// Schema defines as those of ECMA-262. What Go's engine does not have
// (lookaround, backreferences) is matched by one that has.
func compilePattern(s string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(s); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(s, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTimeout
	return backtracking{re}, nil
}

type backtracking struct{ re *regexp2.Regexp }

func (b backtracking) String() string { return b.re.String() }

func (b backtracking) MatchString(s string) bool {
	regexclock.Keep()
	ok, err := b.re.MatchString(s)
	return ok && err == nil
}

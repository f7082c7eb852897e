package cassette

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Placeholder stands where a secret was. It is what [upstream.Redactor] writes. In
// recorded arguments it stands for anything.
const Placeholder = "[redacted]"

// Paths are the JSONata paths of values that a cassette does not show. They begin at
// the object of a line: arguments.password, reply.content[0].text, **.token. They
// are immutable.
type Paths struct{ programs []*jsonata.Expr }

// lastStep is the name of a field, at the end of a path or as the whole of it.
var lastStep = regexp.MustCompile("(?s)^(?:(.*)\\.)?\\s*(?:([A-Za-z_][A-Za-z0-9_]*)|`([^`]+)`)\\s*$")

// ParsePath returns an error if the path is none: it has to end with the name of a
// field.
func ParsePath(path string) error {
	_, err := compilePath(path)
	return err
}

// NewPaths returns the paths. Errors are those of [ParsePath].
func NewPaths(paths []string) (*Paths, error) {
	p := &Paths{}
	for _, path := range paths {
		program, err := compilePath(path)
		if err != nil {
			return nil, err
		}
		p.programs = append(p.programs, program)
	}
	return p, nil
}

// compilePath returns the program that replaces what stands at the path in its input.
func compilePath(path string) (*jsonata.Expr, error) {
	m := lastStep.FindStringSubmatch(path)
	if m == nil {
		return nil, fmt.Errorf("the path %q does not end with the name of a field, as arguments.password does", path)
	}
	objects, name := m[1], m[2]+m[3]
	if strings.TrimSpace(objects) == "" {
		objects = "$"
	}
	program, err := jsonata.Compile(fmt.Sprintf("$ ~> |%s|$exists(`%s`) ? {%s: %s} : {}|",
		objects, name, value.FromString(name).JSON(), value.FromString(Placeholder).JSON()))
	if err != nil {
		return nil, fmt.Errorf("the path %q is not JSONata: %w", path, err)
	}
	return program, nil
}

// apply returns the exchange without the secrets in it, which secrets takes out of a
// text (nil: none), and without what stands at the paths (nil: none).
func (p *Paths) apply(ctx context.Context, x Exchange, secrets func(string) string) (Exchange, error) {
	v := x.value()
	if p != nil {
		for _, program := range p.programs {
			next, err := program.Eval(ctx, v, nil)
			if err != nil {
				return x, fmt.Errorf("a path of redact cannot be evaluated: %w", err)
			}
			v = next
		}
	}
	if secrets != nil {
		// Server, tool and test are names of the files, which redaction must not change.
		b := value.NewBuilder(8)
		for _, m := range v.Entries() {
			switch m.Key {
			case keyArguments, keyReply, keyMessage:
				m.Value = m.Value.Rewritten(secrets)
			}
			b.Set(m.Key, m.Value)
		}
		v = b.Value()
	}
	clean := x
	clean.Arguments, clean.Reply = v.Get(keyArguments), v.Get(keyReply)
	if clean.Arguments.Kind() != value.Object || x.Failure == nil && clean.Reply.Kind() != value.Object {
		return x, errors.New("a path of redact replaces all of the arguments or all of the reply; name the fields in them")
	}
	if x.Failure != nil {
		f := *x.Failure
		f.Message = v.Get(keyMessage).Str()
		clean.Failure = &f
	}
	return clean, nil
}

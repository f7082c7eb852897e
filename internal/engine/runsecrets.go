package engine

import (
	"sync"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

// runSecrets takes the secrets out of what is kept of a run: those of the file, and those
// of all requests that drove it.
type runSecrets struct {
	program *Program

	mu       sync.Mutex
	first    [1]secretsOfRequest // room for what most runs have
	requests []secretsOfRequest  // nothing else of the requests is kept
}

// secretsOfRequest is what of the Info of a request says which secrets it had.
type secretsOfRequest struct {
	caller  string
	secrets callinfo.Secrets
}

// Secrets implements [runs.Program].
func (p *Program) Secrets(r *executor.Run) runs.Secrets {
	p.masking(r)
	return &runSecrets{program: p}
}

// Note implements [runs.Secrets].
func (s *runSecrets) Note(info *callinfo.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests == nil {
		s.requests = s.first[:0]
	}
	s.requests = append(s.requests, secretsOfRequest{info.Caller, info.Secrets})
}

// Redactor implements [runs.Secrets].
func (s *runSecrets) Redactor() func(string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var redact func(string) string
	for i, one := range s.requests {
		if i > 0 && one.secrets == nil {
			continue // it has those of the file alone, as the first one
		}
		f := s.program.redactor(&callinfo.Info{Caller: one.caller, Secrets: one.secrets})
		if before := redact; before != nil && f != nil {
			redact = func(text string) string { return f(before(text)) }
		} else if f != nil {
			redact = f
		}
	}
	return redact
}

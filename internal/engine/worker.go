package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/telemetry"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Digest returns what tells this version of the file, and of the files that it was
// read with, from others: 64 hexadecimal digits, the same on every machine.
func (p *Program) Digest() string {
	p.digestOnce.Do(func() { p.digest = digestOf(p.sources) })
	return p.digest
}

func digestOf(sources diag.Sources) string {
	var all []string
	for _, text := range sources {
		sum := sha256.Sum256(text)
		all = append(all, string(sum[:]))
	}
	slices.Sort(all) // the paths differ from machine to machine
	whole := sha256.New()
	for _, one := range all {
		whole.Write([]byte(one))
	}
	return hex.EncodeToString(whole.Sum(nil))
}

// CallTool calls an upstream tool as a node of the file does, for a run that something
// else drives. It sets the fields of info that are the engine's.
func (p *Program) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	p.prepare(info)
	if p.recorder != nil {
		ctx = p.recorder.Continued(ctx, info)
	}
	return p.upstreams.caller.CallTool(ctx, info, server, tool, args)
}

// ObserveRun begins to observe a run that something else drives; see
// [telemetry.Recorder.DurableRun]. It is nil without telemetry.
func (p *Program) ObserveRun(info *callinfo.Info, run *executor.Run, began time.Time) *telemetry.DurableRun {
	if p.recorder == nil {
		return nil
	}
	p.prepare(info)
	return p.recorder.DurableRun(info, run, began)
}

// MayRepeat reports whether a call may be made again that may have happened: the tool
// is read-only or idempotent, or its server has retryUnsafe. It asks the server if that
// is not known.
func (p *Program) MayRepeat(ctx context.Context, info *callinfo.Info, server, tool string) bool {
	if pool := p.upstreams.pool; pool != nil {
		p.prepare(info)
		return pool.MayRepeat(ctx, info, server, tool)
	}
	return p.opts.Repeatable != nil && p.opts.Repeatable(server, tool)
}

// Forwards reports whether a server of the file may be sent this header of the caller.
func (p *Program) Forwards(header string) bool {
	for _, u := range p.set.File.Upstreams {
		if u.Auth != nil && strings.EqualFold(u.Auth.From, header) {
			return true
		}
		for _, f := range u.ForwardHeaders {
			if strings.EqualFold(f.From, header) {
				return true
			}
		}
	}
	return false
}

package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Policy asks for timeoutMs, retry and catch.
func (f *Fields) Policy() {
	f.Timeout("")
	f.Retry()
	f.Catch()
}

// Timeout asks for timeoutMs. absent is what it is where the node leaves it out,
// as JSON; empty means no bound.
func (f *Fields) Timeout(absent string) {
	ms := f.count(config.Setting{
		Name: "timeoutMs", Doc: "Timeout of one attempt; for a node with bodies, including everything in them",
		Shape: config.DurationShape, Default: absent,
	})
	f.node.Policy.Timeout = time.Duration(ms) * time.Millisecond
}

// count asks for a whole number.
func (f *Fields) count(s config.Setting) int64 {
	f.setting(s)
	n, ds := config.DecodeNumber(f.src, s)
	f.reportAll(ds)
	return n
}

// setting asks for a field that package config describes.
func (f *Fields) setting(s config.Setting) *config.Node {
	return f.get(SettingField, s.Name, s.Description(), []Option{Optional, func(field *Field) { field.Setting = &s }})
}

func (f *Fields) reportAll(ds []diag.Diagnostic) {
	for _, d := range ds {
		f.report(d)
	}
}

// Retry asks for retry: one rule, or a list of them.
func (f *Fields) Retry() {
	var earlier []string // failures that earlier rules retry
	for _, r := range f.rules("retry", "When and how often to retry a failed attempt: one rule, or a list of which the first match applies") {
		rule := RetryRule{Errors: r.errors("Failures to retry; by default those that may not occur again")}
		for _, s := range config.RetryTimings() {
			r.setting(s)
		}
		if r.src != nil {
			t, ds := config.DecodeRetryTimings(r.src, r.name())
			r.reportAll(ds)
			rule.MaxAttempts, rule.InitialDelay, rule.MaxDelay = t.MaxAttempts, t.InitialDelay, t.MaxDelay
			rule.Backoff, rule.Jitter = t.Backoff, t.Jitter
		}
		f.node.Policy.Retry = append(f.node.Policy.Retry, rule)
		earlier = append(earlier, r.reached(rule.Errors, transient, earlier)...)
	}
}

// transient stands among names for the failures that a retry without errors is for.
const transient = ""

// reached returns the failures that a rule is for: its errors, or else absent. It reports
// a rule that never applies, because earlier ones are for all of its failures.
func (f *Fields) reached(errors []string, absent string, earlier []string) []string {
	if f.src == nil {
		return nil
	}
	handles := errors
	if _, written := f.src.Field("errors"); !written {
		handles = []string{absent}
	}
	if len(handles) > 0 && !slices.ContainsFunc(handles, func(name string) bool { return !handled(name, earlier) }) {
		d := f.src.Problem(diag.CodeRuleUnreachable, f.name()+" never applies: the rules before it handle the same failures")
		d.Hint = "put it before the more general rule, or remove it"
		f.report(d)
	}
	return handles
}

// Catch asks for catch: one rule, or a list of them.
func (f *Fields) Catch() {
	var earlier []string // failures that earlier rules handle, without a condition
	for _, r := range f.rules("catch", "Where to go after a failure: one rule, or a list of which the first match applies; the node's output is {\"error\": {…}}") {
		rule := CatchRule{Errors: r.errors("Failures to handle; by default all")}
		when := r.Object("when", "A further condition", Optional)
		when.vars = append(slices.Clip(when.vars), "error")
		rule.When = when.Expr("expr", "An expression that must be true; $error is the failure")
		rule.Edge = r.Edge("next", "The node to go to")
		if rule.Edge != NoEdge {
			e := &f.node.Edges[rule.Edge]
			e.Catch, e.Label = true, rule.label()
		}
		f.node.Policy.Catch = append(f.node.Policy.Catch, rule)
		handles := r.reached(rule.Errors, AllFailures, earlier)
		if r.src == nil {
			continue
		}
		if _, conditional := r.src.Field("when"); !conditional {
			earlier = append(earlier, handles...)
		}
	}
}

// handled reports whether rules with these names handle every failure that a name
// in a rule stands for.
func handled(name string, earlier []string) bool {
	return slices.ContainsFunc(earlier, func(e string) bool {
		class, ok := strings.CutSuffix(e, "xx")
		if e == transient && name != AllFailures && !slices.Contains(sameAgain, name) {
			return true
		}
		return e == AllFailures || e == name || ok && len(name) == 3 && strings.HasPrefix(name, class)
	})
}

// name names the map that f is of.
func (f *Fields) name() string {
	if f.path == "" {
		return f.owner
	}
	return fmt.Sprintf("%q of %s", strings.TrimSuffix(f.path, "."), f.owner)
}

// label returns the label of the rule in pictures.
func (r *CatchRule) label() string {
	what := AllFailures
	if len(r.Errors) > 0 {
		what = strings.Join(r.Errors, ", ")
	}
	if r.When != nil {
		what += ": " + r.When.Source()
	}
	return "catch " + what
}

// rules asks for one map or a list of maps.
func (f *Fields) rules(name, doc string) []*Fields {
	n := f.get(RulesField, name, doc, []Option{Optional})
	switch {
	case f.b == nil:
		return []*Fields{f.sub(nil, name)}
	case n == nil:
		return nil
	case n.Kind() == config.Map:
		return []*Fields{f.sub(n, name)}
	}
	return f.list(n, name)
}

// errors asks for the failures that a rule is for. Their names are checked once
// all nodes are known, since fail nodes define others.
func (f *Fields) errors(doc string) []string {
	n := f.setting(config.Setting{Name: "errors", Doc: doc, Shape: config.FailuresShape})
	if n == nil {
		return nil
	}
	if n.Kind() != config.List || len(n.Items()) == 0 {
		f.report(n.Expected(f.what("errors"), "a list of failures"))
		return nil
	}
	var names []string
	for _, item := range n.Items() {
		if k := item.Value().Kind(); k != value.String && k != value.Number {
			f.report(item.Expected("an element of "+f.what("errors"), "a name or a number"))
			continue
		}
		name := item.Text().String()
		names = append(names, name)
		f.node.rules = append(f.node.rules, failureName{item, name, f.owner})
	}
	return names
}

// failureName is a place in a rule that names a failure.
type failureName struct {
	src         *config.Node
	name, owner string
}

// failureNames are those that rules can name in every file, but for AllFailures.
var failureNames = []string{
	FailToolError, FailConnect, FailClosed, FailTimeout, FailMalformed, FailDenied, FailBusy, FailProtocol, FailDrift, FailNotLocked, FailOutput,
	FailExpression, FailNoRoute, FailArguments, FailResult, FailTooMany, FailDeclined, FailCannotAsk, FailAnswer,
	FailUnknown, FailTooLarge,
}

// reservedNames are those that nothing handles.
var reservedNames = []string{FailLimit, FailCancelled, FailInterrupted, FailInternal}

// checkFailureNames reports the names in rules of a tool that no failure has.
func checkFailureNames(b *reporter, g *Graph) {
	var given *diag.Names // by fail nodes, once they are needed
	for n := range b.each(g) {
		for _, r := range n.rules {
			if r.name == AllFailures || slices.Contains(failureNames, r.name) || config.IsFailureCode(r.name) {
				continue
			}
			if given == nil {
				given = diag.NewNames(append(append(failureNamesOf(g, map[*Graph]bool{}), failureNames...), AllFailures))
			}
			if given.Has(r.name) {
				continue
			}
			d := r.src.Problem(diag.CodeUnknownFailure, fmt.Sprintf("%s names the unknown failure %q", r.owner, r.name))
			if slices.Contains(reservedNames, r.name) {
				d.Message = fmt.Sprintf("%s names the failure %q, which always ends the run", r.owner, r.name)
				d.Hint = "remove it: this failure is never retried or caught"
			} else {
				d.Hint = cmp.Or(diag.Meant(given.Nearest(r.name)), "expected "+given.List(r.name)+", an HTTP status such as 503, a class such as 5xx, a JSON-RPC error code such as -32001, or the error of a fail node")
			}
			b.report(d)
		}
	}
}

// failureNamesOf returns the failure names of the fail nodes of a tool and of the tools
// that it can call.
func failureNamesOf(g *Graph, seen map[*Graph]bool) []string {
	if seen[g] {
		return nil
	}
	seen[g] = true
	var names []string
	for _, n := range g.all() {
		if n.fails != "" {
			names = append(names, n.fails)
		}
		if n.Callee != nil {
			names = append(names, failureNamesOf(n.Callee, seen)...)
		}
	}
	return names
}

// checkDoubleRetry reports a node that retries calls which their server retries, too.
func checkDoubleRetry(b *reporter, n *Node, up *config.Upstream) {
	if up == nil || up.Retry == nil || len(n.Policy.Retry) == 0 {
		return
	}
	tries := 1
	for _, r := range n.Policy.Retry {
		tries += r.MaxAttempts - 1
	}
	field, _ := n.src.Field("retry")
	d := field.Key.Problem(diag.CodeDoubleRetry, fmt.Sprintf(
		"node %q and server %q both retry: one execution calls the tool up to %d times (%d × %d)",
		n.ID, n.Server, tries*up.Retry.MaxAttempts, tries, up.Retry.MaxAttempts))
	d.Hint = "remove one of the two"
	d.Related = []diag.Related{{File: up.File, Pos: up.Pos, Message: "the server is declared here"}}
	b.report(d)
}

// Fails declares that the node ends its walk with a failure of this name.
func (f *Fields) Fails(name string) { f.node.fails = name }

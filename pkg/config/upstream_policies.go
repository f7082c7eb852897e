package config

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func decodeRetry(s *section) *Retry {
	r := s.subsection("retry")
	if r == nil {
		return nil
	}
	out := decodeRetryTimings(r)
	out.RetryOn, out.SkipOn = decodeFailures(r, "retryOn"), decodeFailures(r, "skipOn")
	return out
}

// decodeRetryTimings decodes the settings that RetryTimings describes.
func decodeRetryTimings(s *section) *Retry {
	out := &Retry{
		MaxAttempts:  s.count("maxAttempts"),
		InitialDelay: s.duration("initialDelayMs"),
		MaxDelay:     s.duration("maxDelayMs"),
		Backoff:      s.number("backoff"),
		Jitter:       s.boolean("jitter"),
	}
	if out.InitialDelay > out.MaxDelay {
		if f := s.node.Get("maxDelayMs"); f == nil {
			out.MaxDelay = out.InitialDelay // the default of maxDelayMs must not shorten it
		} else {
			s.decoder.report(f.Problem(diag.CodeLimit, fmt.Sprintf(`"maxDelayMs" (%d) of %s is less than "initialDelayMs" (%d)`,
				out.MaxDelay.Milliseconds(), s.owner, out.InitialDelay.Milliseconds())))
		}
	}
	return out
}

// DecodeRetryTimings decodes the settings that RetryTimings describes from the
// map of a node, as those of a server. Messages call the map owner.
func DecodeRetryTimings(n *Node, owner string) (*Retry, []diag.Diagnostic) {
	d := &decoder{}
	s := &section{environment{decoder: d}, owner, n, retryTimings}
	return decodeRetryTimings(s), d.diagnostics
}

// DecodeNumber decodes a number of a node. It returns the default if the number
// is absent or wrong.
func DecodeNumber(n *Node, setting Setting) (int64, []diag.Diagnostic) {
	d := &decoder{}
	s := &section{environment{decoder: d}, "", n, []Setting{setting}}
	return int64(s.number(setting.Name)), d.diagnostics
}

// DecodeBool returns the setting of a node that is true or false.
func DecodeBool(n *Node, setting Setting) (bool, []diag.Diagnostic) {
	d := &decoder{}
	s := &section{environment{decoder: d}, "", n, []Setting{setting}}
	return s.boolean(setting.Name), d.diagnostics
}

var (
	statusCode  = regexp.MustCompile(`^[1-5]([0-9][0-9]|xx)$`)
	messageCode = regexp.MustCompile(`^-[1-9][0-9]{0,9}$`)
)

// IsFailureCode reports whether s is a code that names failures: an HTTP status
// ("503"), a class of statuses ("5xx"), or a JSON-RPC error code ("-32001").
func IsFailureCode(s string) bool { return statusCode.MatchString(s) || messageCode.MatchString(s) }

// decodeFailures returns a list of failures, which are strings or numbers.
func decodeFailures(s *section, name string) []string {
	var out []string
	for _, n := range s.optional(name, List).Items() {
		k := n.Value().Kind()
		if k != value.String && k != value.Number {
			s.decoder.report(n.Expected(fmt.Sprintf("an element of %q", name), "a name or a number"))
			continue
		}
		failure := n.Text().String()
		if slices.Contains(FailureNames(), failure) || IsFailureCode(failure) {
			out = append(out, failure)
			continue
		}
		p := n.Problem(diag.CodeValue, fmt.Sprintf("unknown failure %s in %q of %s", quote(failure), name, s.owner))
		p.Hint = cmp.Or(diag.Meant(diag.Nearest(failure, FailureNames())), "expected "+diag.List(FailureNames())+", an HTTP status such as 500, a class such as 5xx, or a JSON-RPC error code such as -32001")
		s.decoder.report(p)
	}
	return out
}

func decodeCircuitBreaker(s *section) *CircuitBreaker {
	b := s.subsection("circuitBreaker")
	if b == nil {
		return nil
	}
	return &CircuitBreaker{
		FailureThreshold: b.count("failureThreshold"),
		SuccessThreshold: b.count("successThreshold"),
		ResetTimeout:     b.duration("resetTimeoutMs"),
		HalfOpenMaxCalls: b.count("halfOpenMaxCalls"),
	}
}

func decodeRateLimit(s *section, filter ToolFilter) *RateLimit {
	r := s.subsection("rateLimit")
	if r == nil {
		return nil
	}
	out := &RateLimit{}
	tools := r.optional("perTool", Map)
	// With limits of single tools, a limit of all tools is optional.
	if tools == nil || r.has("limit") || r.has("periodMs") {
		r.reportMissing(*r.setting("limit"))
		r.reportMissing(*r.setting("periodMs"))
		out.Limit, out.Period = r.count("limit"), r.duration("periodMs")
	}
	for _, f := range tools.Fields() {
		tool := f.Key.String()
		if IsFree(tool) {
			continue
		}
		owner := diag.Quote(tool) + ` in "perTool" of ` + r.owner
		if f.Value.Kind() != Map {
			s.decoder.report(f.Value.Expected(owner, "a map"))
			continue
		}
		reportUnreachable(s, f.Key, "rateLimit", filter)
		rate := s.decoder.newSection(f.Value, owner, r.setting("perTool").Fields, s.secrets)
		out.PerTool = append(out.PerTool, ToolRate{tool, rate.count("limit"), rate.duration("periodMs")})
	}
	return out
}

func decodeCache(s *section, filter ToolFilter) *Cache {
	c := s.subsection("cache")
	if c == nil {
		return nil
	}
	out := &Cache{TTL: c.duration("ttlMs"), MaxEntries: c.count("maxEntries")}
	list := c.optional("tools", List)
	if list == nil {
		return out
	}
	if len(list.Items()) == 0 {
		p := list.Problem(diag.CodeValue, fmt.Sprintf(`"tools" of %s is empty, so nothing is cached`, c.owner))
		p.Hint = "list the tools whose results may be reused"
		s.decoder.report(p)
	}
	out.Tools = decodeGlobs(c, "tools")
	for _, n := range list.Items() {
		if n.IsString() {
			reportUnreachable(s, n.Text(), "cache", filter)
		}
	}
	return out
}

func decodeApproval(s *section, filter ToolFilter) *Approval {
	n := s.node.Get("requireApproval")
	if n == nil {
		return nil
	}
	out, list := &Approval{}, n
	if n.Kind() == List {
		out.Tools = decodeGlobs(s, "requireApproval")
	} else {
		a := s.subsection("requireApproval")
		if a == nil {
			return nil
		}
		list = a.optional("tools", List)
		out.Tools, out.Once = decodeGlobs(a, "tools"), a.boolean("once")
	}
	for _, item := range list.Items() {
		if item.IsString() {
			reportUnreachable(s, item.Text(), "requireApproval", filter)
		}
	}
	return out
}

// reportUnreachable reports a setting for a tool that the server's "tools" do
// not allow.
func reportUnreachable(s *section, tool Text, setting string, filter ToolFilter) {
	if name := tool.String(); !isGlob(name) && !filter.Allows(name) {
		p := tool.Problem(diag.CodeConflict, fmt.Sprintf("%q names the tool %q, which \"tools\" of %s does not allow", setting, name, s.owner))
		if f, ok := s.node.Field("tools"); ok {
			p.Related = []diag.Related{{File: f.Key.File(), Pos: f.Key.Pos(), Message: `"tools" is here`}}
		}
		s.decoder.report(p)
	}
}

// decodeGlobs returns a list of names and globs; nil if the field is absent.
func decodeGlobs(s *section, name string) []string {
	list := s.optional(name, List)
	if list == nil {
		return nil
	}
	for _, n := range list.Items() {
		if glob := n.Text().String(); n.IsString() {
			if _, err := path.Match(glob, ""); err != nil {
				s.decoder.report(n.Problem(diag.CodeValue, quote(glob)+" is not a valid glob"))
			}
		}
	}
	return s.decoder.strings(list, name)
}

func isGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

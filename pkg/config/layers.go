package config

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Defaults of the layers between a call and its server, for those that are on.
const (
	defaultMaxAttempts      = 3
	defaultInitialDelay     = time.Second
	defaultMaxDelay         = 30 * time.Second
	defaultBackoff          = 2.0
	maxBackoff              = 100
	defaultFailureThreshold = 5
	defaultSuccessThreshold = 2
	defaultResetTimeout     = time.Minute
	defaultHalfOpenMaxCalls = 1
	defaultTTL              = time.Minute
	defaultMaxEntries       = 1000
)

// inner gives a map of the entry as an entry of its own, whose fields have been
// checked; nil where it is not there.
func (e *entry) inner(name string, fields []Setting) *entry {
	n := e.decoder.optional(e.n, name, Map)
	if n == nil {
		return nil
	}
	owner := fmt.Sprintf("%q of %s", name, e.owner)
	e.decoder.report(unknownFields(n, owner, names(fields))...)
	return &entry{e.environment, owner, n}
}

// count gives a positive whole number.
func (e *entry) count(name string, absent int) int {
	return int(e.decoder.whole(e.n, name, 1, math.MaxInt32, int64(absent)))
}

func (e *entry) milliseconds(name string, absent time.Duration) time.Duration {
	return e.decoder.milliseconds(e.n, name, absent)
}

func (e *entry) retry() *Retry {
	r := e.inner("retry", retrySettings)
	if r == nil {
		return nil
	}
	out := &Retry{
		MaxAttempts:  r.count("maxAttempts", defaultMaxAttempts),
		InitialDelay: r.milliseconds("initialDelayMs", defaultInitialDelay),
		MaxDelay:     r.milliseconds("maxDelayMs", defaultMaxDelay),
		Backoff:      r.backoff(),
		Jitter:       r.decoder.boolean(r.n, "jitter", true),
		RetryOn:      r.failures("retryOn"),
		SkipOn:       r.failures("skipOn"),
	}
	if out.InitialDelay > out.MaxDelay {
		if r.n.Get("maxDelayMs") == nil {
			out.MaxDelay = out.InitialDelay // a longer first delay alone says that it is meant
		} else {
			f, _ := r.n.Field("maxDelayMs")
			e.decoder.report(f.Value.Problem(diag.CodeLimit, fmt.Sprintf(
				`"maxDelayMs" (%d) of %s is less than "initialDelayMs" (%d)`,
				out.MaxDelay.Milliseconds(), r.owner, out.InitialDelay.Milliseconds())))
		}
	}
	return out
}

func (e *entry) backoff() float64 {
	f := e.n.Get("backoff")
	if f == nil {
		return defaultBackoff
	}
	if v := f.Value(); v.Kind() == value.Number && v.Float() >= 1 && v.Float() <= maxBackoff {
		return v.Float()
	}
	e.decoder.report(f.Problem(diag.CodeLimit,
		fmt.Sprintf(`expected a number from 1 to %d for "backoff", found %s`, maxBackoff, f.Describe())))
	return defaultBackoff
}

var (
	statusCode  = regexp.MustCompile(`^[1-5]([0-9][0-9]|xx)$`)
	messageCode = regexp.MustCompile(`^-[1-9][0-9]{0,9}$`)
)

// failures gives a list of failures, which are strings or numbers.
func (e *entry) failures(name string) []string {
	var out []string
	list := e.decoder.optional(e.n, name, List)
	for _, n := range list.Items() {
		k := n.Value().Kind()
		if k != value.String && k != value.Number {
			e.decoder.report(n.Expected(fmt.Sprintf("an element of %q", name), "a name or a number"))
			continue
		}
		s := n.Text().String()
		if slices.Contains(FailureNames(), s) || statusCode.MatchString(s) || messageCode.MatchString(s) {
			out = append(out, s)
			continue
		}
		p := n.Problem(diag.CodeValue, fmt.Sprintf("%s in %q of %s is not a failure", quoted(s), name, e.owner))
		p.Hint = "write " + diag.List(FailureNames()) + ", an HTTP status such as 500, a class such as 5xx, or the code of a JSON-RPC error such as -32001"
		if near, ok := diag.Nearest(s, FailureNames()); ok {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		e.decoder.report(p)
	}
	return out
}

func (e *entry) circuitBreaker() *CircuitBreaker {
	b := e.inner("circuitBreaker", breakerSettings)
	if b == nil {
		return nil
	}
	return &CircuitBreaker{
		FailureThreshold: b.count("failureThreshold", defaultFailureThreshold),
		SuccessThreshold: b.count("successThreshold", defaultSuccessThreshold),
		ResetTimeout:     b.milliseconds("resetTimeoutMs", defaultResetTimeout),
		HalfOpenMaxCalls: b.count("halfOpenMaxCalls", defaultHalfOpenMaxCalls),
	}
}

func (e *entry) rateLimit(filter ToolFilter) *RateLimit {
	r := e.inner("rateLimit", rateSettings)
	if r == nil {
		return nil
	}
	out := &RateLimit{}
	tools := e.decoder.optional(r.n, "perTool", Map)
	// Where single tools have limits, all of them together need none.
	if tools == nil || r.n.Get("limit") != nil || r.n.Get("periodMs") != nil {
		out.Limit, out.Period = r.rate()
	}
	for _, f := range tools.Fields() {
		tool := f.Key.String()
		if IsFree(tool) {
			continue
		}
		owner := fmt.Sprintf(`%q in "perTool" of %s`, tool, r.owner)
		if f.Value.Kind() != Map {
			e.decoder.report(f.Value.Expected(owner, "a map"))
			continue
		}
		e.decoder.report(unknownFields(f.Value, owner, names(toolRateSettings))...)
		e.reachable(f.Key, "rateLimit", filter)
		limit, period := (&entry{e.environment, owner, f.Value}).rate()
		out.PerTool = append(out.PerTool, ToolRate{tool, limit, period})
	}
	return out
}

// rate gives "limit" and "periodMs", neither of which says anything alone.
func (e *entry) rate() (int, time.Duration) {
	for _, name := range []string{"limit", "periodMs"} {
		if e.n.Get(name) == nil {
			e.decoder.report(e.n.Missing(e.owner, name))
		}
	}
	return e.count("limit", 0), e.milliseconds("periodMs", 0)
}

func (e *entry) cache(filter ToolFilter) *Cache {
	c := e.inner("cache", cacheSettings)
	if c == nil {
		return nil
	}
	out := &Cache{
		TTL:        c.milliseconds("ttlMs", defaultTTL),
		MaxEntries: c.count("maxEntries", defaultMaxEntries),
	}
	list := e.decoder.required(c.n, c.owner, "tools", List)
	if list == nil {
		return out
	}
	if len(list.Items()) == 0 {
		p := list.Problem(diag.CodeValue, fmt.Sprintf(`"tools" of %s is empty, so that nothing is cached`, c.owner))
		p.Hint = "name the tools whose results may be used again"
		e.decoder.report(p)
	}
	out.Tools = e.globs(list, "tools")
	for _, n := range list.Items() {
		if n.IsString() {
			e.reachable(n.Text(), "cache", filter)
		}
	}
	return out
}

// reachable reports a setting for a tool that the entry's "tools" keeps out.
func (e *entry) reachable(tool Text, setting string, filter ToolFilter) {
	if name := tool.String(); !isGlob(name) && !filter.Allows(name) {
		p := tool.Problem(diag.CodeConflict, fmt.Sprintf("%q names the tool %q, which \"tools\" of %s does not allow", setting, name, e.owner))
		if f, ok := e.n.Field("tools"); ok {
			p.Related = []diag.Related{{File: f.Key.File(), Pos: f.Key.Pos(), Message: `"tools" is here`}}
		}
		e.decoder.report(p)
	}
}

// globs gives a list of names and globs.
func (e *entry) globs(list *Node, name string) []string {
	for _, n := range list.Items() {
		if s := n.Text().String(); n.IsString() {
			if _, err := path.Match(s, ""); err != nil {
				e.decoder.report(n.Problem(diag.CodeValue, quoted(s)+" is not a name or glob"))
			}
		}
	}
	return e.decoder.strings(list, name)
}

func isGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

package repotest

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// numbers are sentences and cells of the pages with a number of the code: {} stands for
// the value of the constant, in any form that TestNumbersInDocsAreThoseOfTheCode knows.
var numbers = []struct{ page, text, folder, name string }{
	{"architecture.md", "dropped beyond {} of them", "pkg/executor", "keptRecords"},
	{"architecture.md", "of them or {}, the oldest first", "pkg/executor", "keptBytes"},
	{"architecture.md", "a run has up to {} of them", "pkg/executor", "maxReplies"},
	{"architecture.md", "of them, each up to {}.", "pkg/executor", "maxReply"},
	{"architecture.md", "The latest {} (16 MiB at most) are kept", "pkg/ui", "maxEvents"},
	{"architecture.md", "10,000 ({} at most) are kept", "pkg/ui", "maxEventBytes"},
	{"architecture.md", "at most {} of a stream", "pkg/ui", "maxFollowedFor"},
	{"architecture.md", "of a stream and {} in all", "pkg/ui", "maxFollowed"},
	{"architecture.md", "fetched every {} while a stream", "pkg/ui", "listEvery"},
	{"cli.md", "longer than {} is refused", "pkg/server", "DefaultMaxLine"},
	{"cli.md", "`--max-request-bytes N` | {} |", "pkg/server", "DefaultMaxBody"},
	{"cli.md", "`--session-idle TIME` | {} |", "pkg/server", "DefaultSessionIdle"},
	{"cli.md", "`--shutdown-grace TIME` | {} |", "pkg/server", "DefaultGrace"},
	{"cli.md", "`--keep-runs N` | {} |", "pkg/runs", "DefaultCount"},
	{"cli.md", "keep the last N runs in memory; by default {} |", "internal/cli", "defaultUIRuns"},
	{"cli.md", "work that takes longer than {}.", "internal/cli", "spinnerDelay"},
	{"cli.md", "the first {} bytes of its arguments", "pkg/executor", "maxArguments"},
	{"cli.md", "each of the last {}, in their order", "pkg/executor", "maxAttempts"},
	{"cli.md", "Instead of a reply above {}", "pkg/executor", "maxReply"},
	{"cli.md", "A recording has at most {}.", "internal/cassette", "MaxBytes"},
	{"cli.md", "The default is {}; 0 prints all", "pkg/diag", "DefaultMaxProblems"},
	{"cli.md", "beyond column {} |", "pkg/edit", "width"},
	{"cli.md", "no response within `--timeout` ({})", "internal/cli", "defaultHealthTimeout"},
	{"cli.md", "the first {} bytes of its text are printed", "internal/cli", "maxHealthAnswer"},
	{"cli.md", "this machine within {} |", "internal/cli", "loginTime"},
	{"cli.md", "a text that is checked | {}.", "internal/language", "MaxBytes"},
	{"cli.md", "all open files | {}, 10,000 files", "internal/lsp", "maxOpenBytes"},
	{"cli.md", "256 MiB, {} files |", "internal/lsp", "maxOpen"},
	{"cli.md", "| one message of the editor | {} |", "internal/lsp", "maxMessage"},
	{"cli.md", "| one answer | {}; instead", "internal/lsp", "maxAnswer"},
	{"cli.md", "| problems of a file | {}, errors first", "internal/lsp", "maxProblem"},
	{"cli.md", "requests that wait for an answer | {}.", "internal/lsp", "maxPending"},
	{"cli.md", "| one message of the editor | {}. A longer one", "internal/dap", "maxMessage"},
	{"cli.md", "breakpoints of one request | {} |", "internal/dap", "maxBreakpoints"},
	{"cli.md", "elements of a value at a time | {} |", "internal/dap", "maxChildren"},
	{"cli.md", "text of a value | {} bytes in lists", "internal/dap", "maxPreview"},
	{"cli.md", "in lists, {} when it is evaluated", "internal/dap", "maxShown"},
	{"debugging.md", "are JSON, at most {} in all", "pkg/debug", "MaxPinned"},
	{"debugging.md", "The last {} events are kept", "pkg/debug", "MaxEvents"},
	{"debugging.md", "are kept, with {} of texts", "pkg/debug", "maxTexts"},
	{"debugging.md", "sessions of one engine at the same time | {} |", "pkg/runs", "MaxSessions"},
	{"debugging.md", "breakpoints of a session | {} |", "pkg/debug", "maxBreakpoints"},
	{"debugging.md", "an evaluation | {}, 1 MiB", "pkg/debug", "EvalTimeout"},
	{"debugging.md", "an evaluation | 2 seconds, {} of JSON", "pkg/debug", "EvalBytes"},
	{"debugging.md", "Lists above {} elements", "internal/dap", "manyElements"},
	{"debugging.md", "under control of the page | {} |", "pkg/ui", "maxSessions"},
	{"debugging.md", "open pages | {} |", "pkg/ui", "maxStreams"},
	{"debugging.md", "requests at the same time | {} |", "pkg/ui", "maxRequests"},
	{"debugging.md", "kept events | {}, at most 16 MiB", "pkg/ui", "maxEvents"},
	{"debugging.md", "imported runs | {}, at most 64 MiB", "pkg/ui", "maxImports"},
	{"debugging.md", "imported runs | 20, at most {} |", "pkg/ui", "maxImportBytes"},
	{"debugging.md", "a value in a list | {}.", "pkg/ui", "maxValue"},
	{"diagnostics.md", "A message has {} bytes at most", "pkg/diag", "maxSentence"},
	{"diagnostics.md", "lists at most {} of the names", "pkg/diag", "maxShown"},
	{"diagnostics.md", "more than {} problems, the worst 200", "pkg/diag", "DefaultMaxProblems"},
	{"diagnostics.md", "is longer than {}, or cannot be read", "internal/boundedfile", "MaxBytes"},
	{"diagnostics.md", "may expand to {} values", "pkg/config", "maxExpansion"},
	{"diagnostics.md", "may copy {} keys", "pkg/config", "maxMerged"},
	{"diagnostics.md", "may be nested {} levels deep, aliases included", "pkg/config", "maxDepth"},
	{"diagnostics.md", "at most {} characters differ", "pkg/diag", "maxDistance"},
	{"diagnostics.md", "of a schema may be nested {} levels", "pkg/graph", "maxSchemaDepth"},
	{"diagnostics.md", "to all of them may take {}.", "pkg/graph", "maxSchemaPaths"},
	{"diagnostics.md", "At most {} schemas may apply", "pkg/graph", "maxApplied"},
	{"durable.md", "of one caller {} tasks and waiting calls", "pkg/durable", "MaxClaimedPerCaller"},
	{"durable.md", "are under way, and {} are kept; in all", "pkg/durable", "MaxKeptPerCaller"},
	{"durable.md", "in all, {} and 100,000", "pkg/durable", "MaxClaimed"},
	{"durable.md", "10,000 and {}. Further calls", "pkg/durable", "MaxKept"},
	{"durable.md", "At most {} requests about tasks", "internal/serving", "maxRequestsPerCaller"},
	{"durable.md", "the same time, and {} in all", "internal/serving", "maxRequestsInAll"},
	{"durable.md", "others wait for {}, and fail", "internal/serving", "turnTimeout"},
	{"durable.md", "the default is {}. With `--servers`", "pkg/durable", "defaultCalls"},
	{"durable.md", "get `--grace` ({}) to end", "pkg/durable", "defaultGrace"},
	{"durable.md", "they ask again for {}; an answer", "internal/cli", "workerTimeout"},
	{"durable.md", "its records are longer than {}.", "pkg/durable", "maxInlineRecords"},
	{"durable.md", "under way, {} at most", "pkg/ui", "runningRuns"},
	{"durable.md", "that ended last, {} runs in all", "pkg/ui", "newestRuns"},
	{"durable.md", "for the list every {}.", "pkg/ui", "listEvery"},
	{"durable.md", "one process follows at most {} runs", "pkg/ui", "maxFollowed"},
	{"durable.md", "shows up to {} of the records", "pkg/ui", "maxRemoteBytes"},
	{"durable.md", "of calls under way, {} children a second", "pkg/durable", "maxLooked"},
	{"durable.md", "when the child ends ({} calls", "pkg/durable", "maxSaid"},
	{"durable.md", "when the child ends (50 calls, {}, of", "pkg/durable", "maxSaidBytes"},
	{"durable.md", "holds for {} children at a time", "pkg/durable", "maxFollowed"},
	{"durable.md", "| bound | {} children of one run", "pkg/durable", "maxChildren"},
	{"durable.md", "waits for {} children at a time", "pkg/durable", "maxWaits"},
	{"durable.md", "the end of others every {} at most", "pkg/durable", "maxAskInterval"},
	{"durable.md", "knows the end up to {} late", "pkg/durable", "resultTimeout"},
	{"durable.md", "after {} without a sign of life", "pkg/durable", "DefaultHeartbeat"},
	{"durable.md", "is called again, up to {} times", "pkg/durable", "maxLost"},
	{"durable.md", "a result above {} fail with", "pkg/durable", "MaxValue"},
	{"durable.md", "values above {} are files", "pkg/durable", "storeFrom"},
	{"durable.md", "and up to {} are allowed", "pkg/durable", "MaxStoredValue"},
	{"durable.md", "A failure longer than {} keeps", "pkg/durable", "maxFailure"},
	{"durable.md", "its message is cut after {}.", "pkg/durable", "maxMessage"},
	{"durable.md", "A worker has {} requests for work", "pkg/durable", "pollers"},
	{"jsonata.md", "nesting of a source, which is compiled in linear time | {} |", "pkg/jsonata", "maxNesting"},
	{"jsonata.md", "`Limits.Memory`: bytes that one evaluation holds, without `Options.Memory` | {} |", "pkg/jsonata", "defaultMemory"},
	{"jsonata.md", "shared memory, {} at a time", "pkg/jsonata", "chunk"},
	{"jsonata.md", "a regular expression that backtracks | {} |", "internal/regexclock", "Longest"},
	{"jsonata.md", "nesting of a result | {} |", "pkg/value", "MaxDepth"},
	{"language.md", "`maxConcurrency` | {} | how many items", "pkg/nodes", "defaultConcurrency"},
	{"language.md", "A run has at most {} calls in progress", "pkg/executor", "maxHeld"},
	{"language.md", "`maxTokens` | {} |", "pkg/nodes", "defaultMaxTokens"},
	{"language.md", "A request has at most {} messages", "pkg/nodes", "maxMessages"},
	{"language.md", "messages and {}, an answer", "pkg/nodes", "maxPrompt"},
	{"language.md", "are cut at {} there", "internal/engine", "maxFailureValue"},
	{"language.md", "tools call tools, at most {}.", "pkg/config", "maxCallDepth"},
	{"language.md", "whose `data` has the first {} failures", "pkg/executor", "shownFailures"},
	{"lock.md", "every {} at most", "pkg/upstream", "rereadAfter"},
	{"lock.md", "part by part down to {} levels", "pkg/lock", "maxDepth"},
	{"lock.md", "nested more than {} levels deep: that is", "pkg/graph", "maxSchemaDepth"},
	{"lock.md", "nested more than {} levels deep on one line", "pkg/value", "maxIndented"},
	{"observability.md", "waits at most {} to send the rest", "internal/cli", "flushTime"},
	{"observability.md", "send spans after {}", "pkg/telemetry/exporters", "soon"},
	{"observability.md", "each cut to {}.", "pkg/telemetry", "DefaultContentLimit"},
	{"observability.md", "only secrets of {} bytes or more", "pkg/upstream/internal/redact", "MinWordLength"},
	{"observability.md", "A value of fewer than {} bytes", "internal/engine", "minSecretArgument"},
	{"observability.md", "the latest {} of a run are redacted", "pkg/upstream/internal/redact", "maxLearned"},
	{"observability.md", "or of more than {}, is redacted", "internal/engine", "maxSecretArgument"},
	{"observability.md", "It logs {} refusals", "pkg/server", "refusalBurst"},
	{"observability.md", "are cut to {} bytes", "pkg/audit", "maxText"},
	{"observability.md", "keeps the last {} runs", "pkg/runs", "DefaultCount"},
	{"observability.md", "up to {} in all", "pkg/runs", "DefaultBytes"},
	{"observability.md", "at most a {}th of the memory", "pkg/runs", "replyShare"},
	{"observability.md", "shows the first, `mcpgraph://runs/{id}` up to {})", "pkg/runs", "maxActive"},
	{"observability.md", "A run under way takes {} bytes", "pkg/runs", "liveBytes"},
	{"prompts-and-resources.md", "A client gets at most {} of them", "internal/engine", "maxCompletions"},
	{"prompts-and-resources.md", "time for an expression | {};", "internal/engine", "completionTime"},
	{"prompts-and-resources.md", "takes longer than {} to list", "internal/serving", "listTime"},
	{"serving.md", "A token has at least {} characters", "pkg/config", "MinToken"},
	{"serving.md", "at most {} times in a row", "pkg/auth", "fetchBurst"},
	{"serving.md", "then once in {}, whatever", "pkg/auth", "fetchPeriod"},
	{"serving.md", "the client has {} to read it", "pkg/server", "expiryGrace"},
	{"serving.md", "remembers an active token for {}", "pkg/auth", "activeTime"},
	{"serving.md", "It remembers other tokens for {}.", "pkg/auth", "inactiveTime"},
	{"serving.md", "It remembers {} tokens of each", "pkg/auth", "maxIntrospected"},
	{"serving.md", "At most {} requests run at a time", "pkg/auth", "introspectAtOnce"},
	{"serving.md", "at a time, and {} wait", "pkg/auth", "introspectWaiting"},
	{"serving.md", "each takes at most {}, its wait", "pkg/auth", "introspectTime"},
	{"serving.md", "at most every {}, and uses", "internal/cli", "certificateRest"},
	{"serving.md", "or if {} calls of its caller", "pkg/server", "maxWaiting"},
	{"serving.md", "wait already ({} in all)", "pkg/server", "maxWaitingAll"},
	{"serving.md", "computes freely for {}.", "pkg/scheduler", "freeTime"},
	{"serving.md", "After {} it gives the slot", "pkg/scheduler", "turnTime"},
	{"serving.md", "takes over {} cannot be", "pkg/jsonata/internal/regex", "firstSlice"},
	{"serving.md", "else {} % of the machine", "pkg/memory", "machineShare"},
	{"serving.md", "The minimum is {}.", "pkg/memory", "MinLimit"},
	{"serving.md", "which hold at most {} each", "pkg/memory", "smallAccount"},
	{"serving.md", "divided into {} equal parts", "pkg/memory", "reserveCallers"},
	{"serving.md", "Within 2 to {} after a load", "pkg/memory", "reclaimBy"},
	{"serving.md", "After `--shutdown-grace` ({})", "pkg/server", "DefaultGrace"},
	{"serving.md", "A comment every {} keeps a quiet", "pkg/server", "keepAliveInterval"},
	{"serving.md", "same key ({} bytes at least)", "pkg/runs", "MinKey"},
	{"durable.md", "what is kept on Temporal, {} bytes at least", "pkg/runs", "MinKey"},
	{"serving.md", "reported nothing for {} says", "pkg/server", "aliveInterval"},
	{"serving.md", "for {} (`--session-idle`)", "pkg/server", "DefaultSessionIdle"},
	{"serving.md", "taken up for {} after", "pkg/server", "sessionLife"},
	{"serving.md", "pages of {}; `tools/list`", "pkg/server", "pageSize"},
	{"serving.md", "`tools/list` has pages of {}.", "pkg/server", "toolsPageSize"},
	{"serving.md", "A URI of more than {} is unknown", "pkg/server", "maxURI"},
	{"serving.md", "at most {} values. What takes", "pkg/server", "maxCompletions"},
	{"serving.md", "takes longer than {}, its wait", "pkg/server", "completionTime"},
	{"serving.md", "At most {} polls run", "pkg/server", "maxPolls"},
	{"serving.md", "at a time, {} of one caller", "pkg/server", "maxPollsPerCaller"},
	{"serving.md", "has more than {} digits", "pkg/value", "maxDigits"},
	{"serving.md", "sessions in memory | {};", "pkg/server", "DefaultMaxSessions"},
	{"serving.md", "streams of one session | {} |", "pkg/server", "maxStreams"},
	{"serving.md", "together | {} for each caller", "pkg/server", "maxSubscriptionsPerCaller"},
	{"serving.md", "the client), {} in all", "pkg/server", "maxSubscriptions"},
	{"serving.md", "`subscriptions/listen` names | {} |", "pkg/server", "maxWantedURIs"},
	{"serving.md", "length of a request | {},", "pkg/server", "DefaultMaxBody"},
	{"serving.md", "which only revision 2025-03-26 has | {} |", "pkg/server", "maxBatch"},
	{"serving.md", "over HTTP | {} every 30", "pkg/server", "maxWrite"},
	{"serving.md", "unread events of one stream | {} |", "pkg/server", "maxUnreadEvents"},
	{"serving.md", "sent {} late", "pkg/server", "progressDelay"},
	{"serving.md", "at most {} progress notifications", "pkg/server", "messageRate"},
	{"serving.md", "is repeated within {} with", "internal/serving", "KeepState"},
	{"serving.md", "a call has up to {} of questions", "internal/serving", "maxRequests"},
	{"serving.md", "At most {} runs wait", "pkg/runs", "MaxWaiting"},
	{"serving.md", "runs wait, {} of each", "pkg/runs", "MaxWaitingPerCaller"},
	{"serving.md", "to open questions, up to {};", "internal/serving", "MaxInput"},
	{"serving.md", "At most {} tasks are under way", "pkg/runs", "MaxStarted"},
	{"serving.md", "are under way, {} of each caller", "pkg/runs", "MaxStartedPerCaller"},
	{"serving.md", "of each caller, and {} are kept", "pkg/runs", "MaxKept"},
	{"serving.md", "are kept, {} of each caller", "pkg/runs", "MaxKeptPerCaller"},
	{"testing.md", "the test may take ({})", "internal/suite", "defaultTimeout"},
	{"testing.md", "`seed` ({}) decides", "internal/suite", "defaultSeed"},
	{"testing.md", "cases included | {} |", "internal/suite", "maxTests"},
	{"testing.md", "memory that a test holds | {} |", "internal/suite/runner", "memoryLimit"},
	{"testing.md", "whose `path` is compared | {} |", "internal/suite/runner", "maxSteps"},
	{"testing.md", "a run that are compared | {} |", "internal/suite/runner", "maxCalls"},
	{"toolkit.md", "At most {} calls run", "internal/toolkit", "maxCalls"},
	{"toolkit.md", "toolkit at the same time | {} |", "internal/toolkit", "maxCalls"},
	{"toolkit.md", "the last {} edits of this session", "internal/toolkit", "maxChanges"},
	{"toolkit.md", "`timeoutMs` | at most {} |", "internal/toolkit", "maxRunTime"},
	{"toolkit.md", "The default is {} |", "internal/toolkit", "defaultMaxBytes"},
	{"toolkit.md", "The last {} runs are kept", "internal/toolkit", "keptRuns"},
	{"toolkit.md", "runs are kept, up to {}.", "internal/toolkit", "keptRunsBytes"},
	{"toolkit.md", "an expression that is tried | {} |", "internal/toolkit", "expressionTime"},
	{"toolkit.md", "one edit | {}:", "internal/toolkit", "editTime"},
	{"toolkit.md", "a run | {}, or", "internal/toolkit", "maxRunTime"},
	{"toolkit.md", "an answer | {} of JSON", "internal/toolkit", "maxAnswer"},
	{"toolkit.md", "problems in an answer | {},", "internal/toolkit", "maxDiagnostics"},
	{"toolkit.md", "executions in an answer | {},", "internal/toolkit", "maxExecutions"},
	{"toolkit.md", "log records in an answer | {},", "internal/toolkit", "maxLogs"},
	{"upstreams.md", "answer within {} (or a quarter", "pkg/upstream", "discoverTimeout"},
	{"upstreams.md", "A list may have {} pages", "pkg/upstream", "maxPages"},
	{"upstreams.md", "pages and {} things", "pkg/upstream", "maxListed"},
	{"upstreams.md", "resource of more than {}, or", "pkg/upstream", "maxListedSize"},
	{"upstreams.md", "name or URI of more than {}, is", "pkg/upstream", "maxListedName"},
	{"upstreams.md", "A server has {} at most, an", "pkg/upstream", "maxWatchers"},
	{"upstreams.md", "an authenticated caller {} of them", "pkg/upstream", "maxCallerWatchers"},
	{"upstreams.md", "After {} without an answer it fails", "pkg/executor", "approvalTimeout"},
	{"upstreams.md", "they look random: at least {} characters", "pkg/config", "minNamedSecret"},
	{"upstreams.md", "A value over {} fails the call", "pkg/upstream/internal/credential", "maxForwarded"},
	{"upstreams.md", "at most {} such sessions", "pkg/upstream", "maxSlots"},
	{"upstreams.md", "A session ends {} after its last", "pkg/upstream", "idleTime"},
	{"upstreams.md", "growing delays up to {}.", "pkg/upstream", "maxSubscribeDelay"},
	{"upstreams.md", "answered in the last {}.", "pkg/upstream", "lateLogTime"},
}

// TestNumbersInDocsAreThoseOfTheCode compares limits, times and defaults in sentences of
// the pages with the constants that the program uses.
func TestNumbersInDocsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	packages := map[string]*constants{}
	for _, n := range numbers {
		if pages[n.page] == "" {
			pages[n.page] = readFile(t, filepath.Join("docs", n.page))
		}
		if packages[n.folder] == nil {
			packages[n.folder] = constantsOf(t, n.folder)
		}
		v := packages[n.folder].value(n.name)
		whole, exact := constant.Int64Val(constant.ToInt(v))
		if !exact {
			t.Errorf("%s has no constant %s with a whole number", n.folder, n.name)
			continue
		}
		forms := formsOf(whole)
		found := false
		for _, form := range forms {
			found = found || strings.Contains(pages[n.page], strings.Replace(n.text, "{}", form, 1))
		}
		if !found {
			t.Errorf("docs/%s does not say %q, where {} is %s of %s: one of %q", n.page, n.text, n.name, n.folder, forms)
		}
	}
}

// formsOf returns how the pages may write a number, which can be one of bytes or of
// nanoseconds.
func formsOf(n int64) []string {
	forms := []string{strconv.FormatInt(n, 10), grouped(n)}
	if n <= 10 {
		forms = append(forms, strings.Fields("zero one two three four five six seven eight nine ten")[max(n, 0)])
	}
	for shift, unit := range map[int]string{10: "KiB", 20: "MiB", 30: "GiB"} {
		if n>>shift<<shift == n {
			forms = append(forms, fmt.Sprint(n>>shift, " ", unit))
		}
	}
	if n%100_000 == 0 {
		forms = append(forms, strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64)+" MB")
	}
	if n == 1_000_000 {
		forms = append(forms, "one million")
	}
	d := time.Duration(n)
	for unit, names := range map[time.Duration][]string{
		time.Millisecond: {"", " ms"}, time.Second: {"s", " s", " second", " seconds"}, time.Minute: {"m", " minute", " minutes"},
		time.Hour: {" hour", " hours"}, 24 * time.Hour: {" days"},
	} {
		if d%unit != 0 || d < unit {
			continue
		}
		count := int64(d / unit)
		for _, name := range names {
			forms = append(forms, fmt.Sprint(count)+name)
			if count == 10 {
				forms = append(forms, "ten"+name)
			}
			if count == 2 {
				forms = append(forms, "two"+name)
			}
			if count == 1 {
				forms = append(forms, "a"+name)
			}
		}
	}
	if d >= time.Millisecond && d < time.Second {
		forms = append(forms, strconv.FormatFloat(d.Seconds(), 'f', -1, 64)+" seconds")
	}
	return forms
}

// grouped returns a number with commas between groups of three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// constants are the constants of a package, which are computed when they are asked for.
type constants struct{ of map[string]ast.Expr }

// constantsOf reads the constants and initialized variables of a folder's package.
func constantsOf(t *testing.T, folder string) *constants {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	c := &constants{of: map[string]ast.Expr{}}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST && g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				s := spec.(*ast.ValueSpec)
				for i, name := range s.Names {
					if i < len(s.Values) {
						c.of[name.Name] = s.Values[i]
					}
				}
			}
		}
	}
	return c
}

// units are the constants of the package time.
var units = map[string]time.Duration{
	"Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// value computes a constant; its kind is Unknown if it has no number.
func (c *constants) value(name string) constant.Value { return c.eval(c.of[name]) }

func (c *constants) eval(e ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return c.eval(e.X)
	case *ast.Ident:
		return c.eval(c.of[e.Name])
	case *ast.SelectorExpr:
		if d, ok := units[e.Sel.Name]; ok {
			return constant.MakeInt64(int64(d))
		}
	case *ast.BinaryExpr:
		x, y := c.eval(e.X), c.eval(e.Y)
		if x.Kind() == constant.Unknown || y.Kind() == constant.Unknown {
			break
		}
		if e.Op == token.SHL {
			n, _ := constant.Uint64Val(y)
			return constant.Shift(x, token.SHL, uint(n))
		}
		return constant.BinaryOp(x, e.Op, y)
	}
	return constant.MakeUnknown()
}

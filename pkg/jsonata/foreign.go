package jsonata

import (
	"regexp"
	"strings"
	"sync"
)

// Foreign is a form that other languages have, or a function of theirs, with what
// expressions have for it. In all texts x, y and z stand for any value.
type Foreign struct {
	// Form is what others write, Write what does the same here.
	Form, Write string
	// OfText does the same where x is a text; it is empty unless that differs.
	OfText string
	// Note follows Write in a sentence; it may be empty.
	Note string

	// around matches an error of syntax that the form makes, and what is before and
	// behind it with \x00 between them. It is empty for functions and names.
	around string
}

// Hint returns what to write instead, in one sentence.
func (f *Foreign) Hint() string { return f.hint(nil) }

// hint returns the hint with values as the source has them. It is the general one
// if there are not as many as the form needs.
func (f *Foreign) hint(args []string) string {
	hint := "write "
	if f.around != "" {
		hint = f.Form + " is written "
	}
	hint += filled(f.Write, args) + f.Note
	if f.OfText != "" {
		hint += "; for a text, " + filled(f.OfText, args)
	}
	return hint
}

// Called returns the name of the function or method that the form calls, or of the
// field that it reads behind x, and whether it stands behind x. It is empty for other
// forms.
func (f *Foreign) Called() (name string, behind bool) {
	name, _, call := strings.Cut(f.Form, "(")
	method, behind := strings.CutPrefix(name, "x.")
	if f.around != "" || !call && !behind || strings.Contains(name, " ") {
		return "", false
	}
	return method, behind
}

// Of returns what to write instead if x is a value as the source has it.
func (f *Foreign) Of(x string) string { return filled(f.Write, []string{x}) }

var placeholder = regexp.MustCompile(`\b[xyz]\b`)

// filled returns a form with the values in the place of x, y and z.
func filled(form string, args []string) string {
	enough := true
	out := placeholder.ReplaceAllStringFunc(form, func(name string) string {
		if i := int(name[0] - 'x'); i < len(args) {
			return args[i]
		}
		enough = false
		return name
	})
	if !enough {
		return form
	}
	return out
}

// ForeignForms lists functions and forms of other languages. The slice must not be
// modified.
func ForeignForms() []Foreign { return foreignForms }

// foreignForms are functions (f(x)), methods (x.f(y)), fields (x.length), names
// (None), and what is no JSONata at all.
var foreignForms = []Foreign{
	{Form: "len(x)", Write: "$count(x)", OfText: "$length(x)"},
	{Form: "size(x)", Write: "$count(x)", OfText: "$length(x)"},
	{Form: "strlen(x)", Write: "$length(x)"},
	{Form: "str(x)", Write: "$string(x)"},
	{Form: "String(x)", Write: "$string(x)"},
	{Form: "tostring(x)", Write: "$string(x)"},
	{Form: "int(x)", Write: "$floor($number(x))"},
	{Form: "parseInt(x)", Write: "$floor($number(x))"},
	{Form: "parseFloat(x)", Write: "$number(x)"},
	{Form: "float(x)", Write: "$number(x)"},
	{Form: "Number(x)", Write: "$number(x)"},
	{Form: "tonumber(x)", Write: "$number(x)"},
	{Form: "bool(x)", Write: "$boolean(x)"},
	{Form: "Boolean(x)", Write: "$boolean(x)"},
	{Form: "upper(x)", Write: "$uppercase(x)"},
	{Form: "lower(x)", Write: "$lowercase(x)"},
	{Form: "strip(x)", Write: "$trim(x)"},
	{Form: "concat(x, y)", Write: "$append(x, y)", OfText: "x & y"},
	{Form: "includes(x, y)", Write: "y in x", OfText: "$contains(x, y)"},
	{Form: "startsWith(x, y)", Write: "$substring(x, 0, $length(y)) = y"},
	{Form: "endsWith(x, y)", Write: "$substring(x, -$length(y)) = y"},
	{Form: "substr(x, y, z)", Write: "$substring(x, y, z)"},
	{Form: "typeof(x)", Write: "$type(x)"},
	{Form: "defined(x)", Write: "$exists(x)"},
	{Form: "isset(x)", Write: "$exists(x)"},
	{Form: "isNull(x)", Write: "x = null"},
	{Form: "empty(x)", Write: "$count(x) = 0", OfText: `x = ""`},
	{Form: "isEmpty(x)", Write: "$count(x) = 0", OfText: `x = ""`},
	{Form: "isArray(x)", Write: `$type(x) = "array"`},
	{Form: "coalesce(x, y)", Write: "x ?? y"},
	{Form: "default(x, y)", Write: "x ?? y"},
	{Form: "if(x, y, z)", Write: "x ? y : z"},
	{Form: "iif(x, y, z)", Write: "x ? y : z"},
	{Form: "first(x)", Write: "x[0]"},
	{Form: "last(x)", Write: "x[-1]"},
	{Form: "range(x, y)", Write: "[x..y - 1]"},
	{Form: "sorted(x)", Write: "$sort(x)"},
	{Form: "reversed(x)", Write: "$reverse(x)"},
	{Form: "unique(x)", Write: "$distinct(x)"},
	{Form: "uniq(x)", Write: "$distinct(x)"},
	{Form: "flatten(x)", Write: "$reduce(x, $append, [])"},
	{Form: "fromJSON(x)", Write: "$eval(x)"},
	{Form: "toJSON(x)", Write: "$string(x)"},
	{Form: "JSON.parse(x)", Write: "$eval(x)"},
	{Form: "JSON.stringify(x)", Write: "$string(x)"},
	{Form: "json.loads(x)", Write: "$eval(x)"},
	{Form: "json.dumps(x)", Write: "$string(x)"},
	{Form: "Object.keys(x)", Write: "$keys(x)"},
	{Form: "Object.values(x)", Write: "x.*"},
	{Form: "Object.entries(x)", Write: "$each(x, function($value, $key) { [$key, $value] })"},
	{Form: "Object.assign(x, y)", Write: "$merge([x, y])"},
	{Form: "Array.isArray(x)", Write: `$type(x) = "array"`},
	{Form: "Math.max(x, y)", Write: "$max([x, y])"},
	{Form: "Math.min(x, y)", Write: "$min([x, y])"},
	{Form: "Math.round(x)", Write: "$round(x)"},
	{Form: "Math.floor(x)", Write: "$floor(x)"},
	{Form: "Math.ceil(x)", Write: "$ceil(x)"},
	{Form: "Math.abs(x)", Write: "$abs(x)"},
	{Form: "Math.pow(x, y)", Write: "$power(x, y)"},
	{Form: "Math.sqrt(x)", Write: "$sqrt(x)"},
	{Form: "Math.random()", Write: "$random()"},
	{Form: "Date.now()", Write: "$millis()"},
	{Form: "datetime.now()", Write: "$now()"},
	{Form: "encodeURIComponent(x)", Write: "$encodeUrlComponent(x)"},
	{Form: "decodeURIComponent(x)", Write: "$decodeUrlComponent(x)"},
	{Form: "btoa(x)", Write: "$base64encode(x)"},
	{Form: "atob(x)", Write: "$base64decode(x)"},

	{Form: "x.length()", Write: "$count(x)", OfText: "$length(x)"},
	{Form: "x.size()", Write: "$count(x)", OfText: "$length(x)"},
	{Form: "x.toUpperCase()", Write: "$uppercase(x)"},
	{Form: "x.upper()", Write: "$uppercase(x)"},
	{Form: "x.toLowerCase()", Write: "$lowercase(x)"},
	{Form: "x.lower()", Write: "$lowercase(x)"},
	{Form: "x.strip()", Write: "$trim(x)"},
	{Form: "x.toString()", Write: "$string(x)"},
	{Form: "x.toFixed(y)", Write: "$string($round(x, y))"},
	{Form: "x.toISOString()", Write: "$fromMillis(x)"},
	{Form: "x.getTime()", Write: "$toMillis(x)"},
	{Form: "x.includes(y)", Write: "y in x", OfText: "$contains(x, y)"},
	{Form: "x.indexOf(y)", Write: "y in x", OfText: "$contains(x, y)"},
	{Form: "x.startsWith(y)", Write: "$substring(x, 0, $length(y)) = y"},
	{Form: "x.startswith(y)", Write: "$substring(x, 0, $length(y)) = y"},
	{Form: "x.endsWith(y)", Write: "$substring(x, -$length(y)) = y"},
	{Form: "x.endswith(y)", Write: "$substring(x, -$length(y)) = y"},
	{Form: "x.substring(y, z)", Write: "$substring(x, y, z - y)"},
	{Form: "x.substr(y, z)", Write: "$substring(x, y, z)"},
	{Form: "x.slice(y, z)", Write: "x[[y..z - 1]]", OfText: "$substring(x, y, z - y)"},
	{Form: "x.replaceAll(y, z)", Write: "$replace(x, y, z)"},
	{Form: "x.test(y)", Write: "$contains(y, x)"},
	{Form: "x.padStart(y, z)", Write: "$pad(x, -y, z)"},
	{Form: "x.padEnd(y, z)", Write: "$pad(x, y, z)"},
	{Form: "x.push(y)", Write: "$append(x, y)"},
	{Form: "x.append(y)", Write: "$append(x, y)"},
	{Form: "x.concat(y)", Write: "$append(x, y)", OfText: "x & y"},
	{Form: "x.find(y)", Write: "$filter(x, y)[0]"},
	{Form: "x.some(y)", Write: "$exists($filter(x, y))"},
	{Form: "x.every(y)", Write: "$count($filter(x, y)) = $count(x)"},
	{Form: "x.forEach(y)", Write: "$map(x, y)"},
	{Form: "x.flatMap(y)", Write: "$map(x, y)"},
	{Form: "x.get(y)", Write: "$lookup(x, y)"},
	{Form: "x.hasOwnProperty(y)", Write: "$exists($lookup(x, y))"},
	{Form: "x.items()", Write: "$each(x, function($value, $key) { [$key, $value] })"},
	{Form: "x.values()", Write: "x.*"},
	{Form: "x.first()", Write: "x[0]"},
	{Form: "x.last()", Write: "x[-1]"},
	{Form: "x.at(y)", Write: "x[y]"},
	{Form: "x.isEmpty()", Write: "$count(x) = 0", OfText: `x = ""`},
	{Form: "x.length", Write: "$count(x)", OfText: "$length(x)"},

	{Form: "None", Write: "null"},
	{Form: "nil", Write: "null"},
	{Form: "NULL", Write: "null"},
	{Form: "x = undefined", Write: "$not($exists(x))"},
	{Form: "True", Write: "true"},
	{Form: "False", Write: "false"},

	{Form: "`…${x}…`", Write: `"…" & x & "…"`},
	{Form: `f"…{x}…"`, Write: `"…" & x & "…"`, around: `\bf["'].*\x00`},
	{Form: "x || y", Write: "x ?: y", Note: " for a default, x or y between conditions", around: `\x00\|\|| \|\x00\|`},
	{Form: "x && y", Write: "x and y", around: `&\x00&`},
	{Form: "!x", Write: "$not(x)", Note: ", or != between two values", around: `\x00!`},
	{Form: "not x", Write: "$not(x)", around: `\bnot\s*\x00`},
	{Form: "x == y", Write: "x = y", around: `[^!=]=\x00=`},
	{Form: "x !== y", Write: "x != y", around: `!=\x00=`},
	{Form: "x =< y", Write: "x <= y", around: `=\x00<`},
	{Form: "x <> y", Write: "x != y", around: `<\x00>`},
	{Form: "x is not None", Write: "x != null", around: `\x00is\s+not\b`},
	{Form: "x is None", Write: "x = null", around: `\x00is\b`},
	{Form: "x not in y", Write: "$not(x in y)", around: `\x00not\s+in\b`},
	{Form: "x ** y", Write: "$power(x, y)", around: `\x00\*\*`},
	{Form: "x++", Write: "x + 1", Note: ": a variable is never changed", around: `\+\x00\+`},
	{Form: "x += y", Write: "x + y", Note: ": a variable is bound with := and never changed", around: `[-+*/?&]\x00=`},
	{Form: "x?.y", Write: "x.y", Note: ": a path through nothing yields nothing", around: `\?\x00\.`},
	{Form: "x => y", Write: "function($x) { y }", Note: "; at least is >=", around: `=\x00>`},
	{Form: "lambda x: y", Write: "function($x) { y }", around: `\blambda\s*\x00`},
	{Form: "if (x) y else z", Write: "x ? y : z", around: `\bif\s*(\(.*\)\s*)?\x00`},
	{Form: "y if x else z", Write: "x ? y : z", around: `\x00if\b`},
	{Form: "for (…) …", Write: "$map(x, function($x) { y })", around: `\bfor\s*(\(.*)?\x00|\x00for\b`},
	{Form: "let x = y", Write: "($x := y; $x)", around: `\b(let|const|var)\s+\x00`},
	{Form: "return x", Write: "x", Note: " alone: the value of a block is that of its last expression", around: `\breturn\s*\x00`},
	{Form: "typeof x", Write: "$type(x)", around: `\btypeof\s*\x00`},
	{Form: "new Date()", Write: "$now()", around: `\bnew\s*\x00`},
	{Form: "x | f", Write: "$f(x)", Note: ", or x ~> $f", around: `\x00\|`},
	{Form: ".x", Write: "$.x", Note: ": a path begins with a name or $", around: `^\s*\x00\.`},
	{Form: "x[y:z]", Write: "x[[y..z - 1]]", OfText: "$substring(x, y, z - y)", around: `\[[^\][]*\x00:`},
	{Form: "[...x, y]", Write: "$append(x, y)", around: `\[\s*\x00\.\.`},
	{Form: "{...x, y}", Write: `$merge([x, {"key": y}])`, around: `\{\s*\x00\.\.`},
}

// foreign is the forms by what finds them.
type foreign struct {
	functions, methods, names map[string]*Foreign
	length                    *Foreign
	syntax                    []*Foreign
}

var foreignIndex = sync.OnceValue(func() *foreign {
	t := &foreign{functions: map[string]*Foreign{}, methods: map[string]*Foreign{}, names: map[string]*Foreign{}}
	for i := range foreignForms {
		f := &foreignForms[i]
		switch name, behind := f.Called(); {
		case f.around != "":
			t.syntax = append(t.syntax, f)
		case name == "":
			t.names[f.Form] = f
		case f.Form == "x.length":
			t.length = f
		case behind:
			t.methods[name] = f
		default:
			t.functions[name] = f
		}
	}
	return t
})

// foreignSyntax matches the forms that are no JSONata, in their order.
var foreignSyntax = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, f := range foreignIndex().syntax {
		all = append(all, regexp.MustCompile("(?s)"+f.around))
	}
	return all
})

// foreignReach is how far from an error of syntax a form is looked for, in bytes.
const foreignReach = 80

// foreignSyntaxAt returns the form of another language that an error of syntax
// between two parts of a source probably is, or nil.
func foreignSyntaxAt(before, rest string) *Foreign {
	around := before[max(0, len(before)-foreignReach):] + "\x00" + rest[:min(len(rest), foreignReach)]
	for i, at := range foreignSyntax() {
		if at.MatchString(around) {
			return foreignIndex().syntax[i]
		}
	}
	return nil
}

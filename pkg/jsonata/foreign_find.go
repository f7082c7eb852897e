package jsonata

import (
	"fmt"
	"strings"
)

// maxShownArgument is how long a value in a hint may be, in bytes.
const maxShownArgument = 40

// shownArguments returns values as the source has them, or nil if one of them would
// need brackets or much room.
func shownArguments(c *checker, args []*ast) []string {
	var out []string
	for _, a := range args {
		from, to := a.span()
		switch a.kind {
		case astPath, astName, astVariable, astString, astNumber, astValue, astCall, astRegex, astLambda:
		default:
			return nil
		}
		if from < 0 || to > len(c.src) || to-from > maxShownArgument || from >= to || strings.Contains(c.src[from:to], "\n") {
			return nil
		}
		out = append(out, c.src[from:to])
	}
	return out
}

// foreignFunction returns what to write for a call of a function that does not
// exist, or "".
func foreignFunction(c *checker, name string, args []*ast) string {
	f := foreignIndex().functions[name]
	if f == nil {
		if f = foreignIndex().methods[name]; f == nil {
			return ""
		}
	}
	return f.hint(shownArguments(c, args))
}

// behindFirst visits the steps of a path behind the first.
func behindFirst(c *checker, path *ast) {
	for i, s := range path.list[1:] {
		if s.kind == astCall && calledName(s) != "" && !c.keys[calledName(s)] {
			foreignMethod(c, path, i+1)
			for _, a := range s.list {
				c.visit(a)
			}
			c.behind(s)
			continue
		}
		c.visit(s)
	}
}

// calledName returns the name without $ that a call calls, or "".
func calledName(call *ast) string {
	if fn := call.lhs; fn.kind == astPath && len(fn.list) == 1 && fn.fromName && !isTrailed(fn.list[0]) {
		return fn.list[0].text
	}
	return ""
}

// foreignMethod finds a call of a name behind a value: values have no methods. JSON.parse(x)
// is one to the parser, too.
func foreignMethod(c *checker, path *ast, i int) {
	call, name := path.list[i], calledName(path.list[i])
	f := Finding{
		Kind: UnknownFunction, Name: name, Offset: call.off, End: call.off + len(name),
		Message: fmt.Sprintf("values have no methods: .%s(…) calls nothing", name),
	}
	args := shownArguments(c, call.list)
	if first := path.list[0]; i == 1 && first.kind == astName {
		if known := foreignIndex().functions[first.text+"."+name]; known != nil {
			f.Name, f.Offset = first.text+"."+name, first.off
			f.Message = "there is no function " + f.Name
			f.Hint = known.hint(args)
			c.findings = append(c.findings, f)
			return
		}
	}
	receiver, _ := path.list[0].span()
	value := strings.TrimRight(c.src[receiver:call.off], " \t\r\n.")
	if len(args) < len(call.list) || len(value) > maxShownArgument || strings.Contains(value, "\n") {
		args = nil
	} else {
		args = append([]string{value}, args...)
	}
	switch known := foreignIndex().methods[name]; {
	case known != nil:
		f.Hint = known.hint(args)
	case isFunctionOf(c, name) && args != nil:
		f.Hint = "write $" + name + "(" + strings.Join(args, ", ") + ")"
	case isFunctionOf(c, name):
		f.Hint = "write $" + name + "(x, …)"
	default:
		f.Hint = "functions are called as $name(x, …)"
	}
	c.findings = append(c.findings, f)
}

func isFunctionOf(c *checker, name string) bool {
	_, ok := c.global(name)
	return ok
}

// foreignName finds a name that is a word of another language. In back-quotes it is
// the name of a field.
func foreignName(c *checker, n *ast, first bool) {
	quoted := n.off < len(c.src) && (c.src[n.off] == '`' || c.src[n.off] == '"' || c.src[n.off] == '\'')
	f := Finding{Kind: ForeignForm, Name: n.text, Offset: n.off, End: n.end}
	if quoted {
		if c.src[n.off] == '`' && strings.Contains(n.text, "${") {
			f.Message = "text in back-quotes is the name of a field: nothing in it is replaced"
			f.Hint = foreignIndex().names["`…${x}…`"].Hint()
			c.findings = append(c.findings, f)
		}
		return
	}
	if known := foreignIndex().names[n.text]; known != nil && first && !c.keys[n.text] {
		f.Message = fmt.Sprintf("%s is the name of a field here", n.text)
		f.Hint = known.Hint()
		c.findings = append(c.findings, f)
	}
}

// findLength finds a path that ends with the field length: other languages have it
// on every list and text.
func findLength(c *checker, path *ast) {
	last := path.list[len(path.list)-1]
	if !isLengthField(path) || c.src[last.off] == '`' || c.keys[last.text] {
		return
	}
	before := strings.TrimRight(c.src[path.off:last.off], " \t\r\n.")
	f := Finding{
		Kind: ForeignField, Name: last.text, Offset: last.off, End: last.end,
		Message: "lists and texts have no field length",
		Hint:    foreignIndex().length.Hint(),
	}
	if len(before) <= maxShownArgument && !strings.Contains(before, "\n") {
		f.Hint = foreignIndex().length.hint([]string{before})
	}
	prefix := *path
	prefix.list = path.list[:len(path.list)-1]
	if read, ok := c.readOf(&prefix); ok {
		f.Of = &read
	}
	c.findings = append(c.findings, f)
}

// isLengthField reports whether a path ends with a field length.
func isLengthField(path *ast) bool {
	n := len(path.list)
	if n < 2 {
		return false
	}
	last := path.list[n-1]
	return last.kind == astName && last.text == "length" && !isTrailed(last) && last.focus == "" && last.index == ""
}

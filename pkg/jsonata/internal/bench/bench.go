// Package bench holds the expressions that the speed of the engine is measured
// with, the data they run on and the expected results.
package bench

import (
	"fmt"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Case is one expression to measure.
type Case struct {
	Name string
	Expr string
	Data string // JSON
	Want string // the result as JSON
	// Goal is the part of the reference's time that the engine may take.
	Goal float64
}

// Cases are what design and documentation speak of: from a plain reference to
// work on thousands of objects.
func Cases() []Case {
	return []Case{
		{"field", `$.entry.directory`, `{"entry":{"directory":"/srv/data"}}`, `"/srv/data"`, 0.05},
		{"count of a split, 100 lines", `{"count": $count($split($.list.content, "\n"))}`, listing(), `{"count":100}`, 0.25},
		{"file sizes, regex, 100 lines", fileSizes, listing(), `{"files":75,"bytes":802251390.1000004,"largest":"report-77.csv"}`, 0.05},
		{"loop step with history", loopStep, `{"state":{"n":41},"check":{"ok":true}}`, `{"n":42,"total":205,"runs":3,"first":5}`, 0.20},
		{"map, filter, reduce, 10,000 objects", mapFilterReduce, items(10_000), `{"count":6000,"total":1830759}`, 0.07},
		{"sort and group, 1,000 orders", sortAndGroup, orders(1000), ordersWant, 0.05},
	}
}

// The step of examples/file_sizes.yaml that reads a listing, and the one that
// adds up.
const fileSizes = `(
  $unit := {"B": 1, "KB": 1024, "MB": 1048576, "GB": 1073741824, "TB": 1099511627776};
  $files := $split($.list.content, "\n")
    .$match($, /^\[FILE\]\s+(.*?)\s+([\d.]+) ([KMGT]?B)$/)
    .{"name": groups[0], "bytes": $number(groups[1]) * $lookup($unit, groups[2])}[];
  {"files": $count($files), "bytes": $sum($files.bytes), "largest": $files^(>bytes)[0].name}
)`

const loopStep = `(
  $last := $executionCount("state") = 0 ? {"n": 0} : $nodeExecution("state", -1);
  {
    "n": $last.n + 1,
    "total": $last.n * $previousNode().factor,
    "runs": $executionCount("state"),
    "first": $nodeExecutions("state")[0].n
  }
)`

const mapFilterReduce = `(
  $open := $filter(items, function($i){ $i.open and $i.price > 10 });
  $totals := $map($open, function($i){ $i.price * $i.quantity });
  {"count": $count($open), "total": $reduce($totals, function($sum, $x){ $sum + $x }, 0)}
)`

const sortAndGroup = `orders^(>total, customer){customer: {"orders": $count($), "total": $sum(total), "best": $[0].id}}`

const ordersWant = `{"customer 7":{"orders":100,"total":50450,"best":"o321"},` +
	`"customer 4":{"orders":100,"total":50350,"best":"o642"},` +
	`"customer 1":{"orders":100,"total":50250,"best":"o963"},` +
	`"customer 8":{"orders":100,"total":50150,"best":"o284"},` +
	`"customer 5":{"orders":100,"total":50050,"best":"o605"},` +
	`"customer 2":{"orders":100,"total":49950,"best":"o926"},` +
	`"customer 9":{"orders":100,"total":49850,"best":"o247"},` +
	`"customer 6":{"orders":100,"total":49750,"best":"o568"},` +
	`"customer 3":{"orders":100,"total":49650,"best":"o889"},` +
	`"customer 0":{"orders":100,"total":49550,"best":"o210"}}`

// listing is what a file server answers: 100 lines.
func listing() string {
	units := []string{"B", "KB", "KB", "MB"}
	var lines []string
	for i := range 100 {
		if i%4 == 3 {
			lines = append(lines, fmt.Sprintf("[DIR] folder %d", i))
			continue
		}
		lines = append(lines, fmt.Sprintf("[FILE] report-%d.csv%20d.%d %s", i, i*7%90+1, i%10, units[i/4%4]))
	}
	return `{"list":{"content":` + value.FromString(strings.Join(lines, "\n")).JSON() + `}}`
}

func items(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"id":%d,"name":"item %d","price":%d,"quantity":%d,"open":%t,"tags":["a","b"]}`, i, i, i*13%100+1, i%9+1, i%3 > 0)
	}
	return `{"items":[` + b.String()[1:] + `]}`
}

func orders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"id":"o%d","customer":"customer %d","total":%d.5,"lines":[{"sku":"s%d","n":%d}]}`, i, i*7%10, i*7919%1000, i, i%5)
	}
	return `{"orders":[` + b.String()[1:] + `]}`
}

// Functions are the history functions of a graph, over a short history.
func Functions() []jsonata.Function {
	var outputs []value.Value
	for _, n := range []string{`{"n":5}`, `{"n":17}`, `{"n":41}`} {
		v, err := value.Parse(n)
		if err != nil {
			panic(err)
		}
		outputs = append(outputs, v)
	}
	previous := value.FromEntries([]value.Entry{{Key: "factor", Value: value.FromFloat(5)}})
	function := func(name, signature string, call func(args []value.Value) value.Value) jsonata.Function {
		return jsonata.Function{Name: name, Signature: signature, Call: func(_ *jsonata.Call, args []value.Value) (value.Value, error) {
			return call(args), nil
		}}
	}
	return []jsonata.Function{
		function("previousNode", "<n?:x>", func([]value.Value) value.Value { return previous }),
		function("executionCount", "<s:n>", func([]value.Value) value.Value { return value.FromFloat(float64(len(outputs))) }),
		function("nodeExecution", "<s-n:x>", func(args []value.Value) value.Value {
			i := int(args[1].Float())
			if i < 0 {
				i += len(outputs)
			}
			return outputs[i]
		}),
		function("nodeExecutions", "<s:a>", func([]value.Value) value.Value { return value.FromArray(outputs) }),
	}
}

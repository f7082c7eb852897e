package jsonata

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// scalable are expressions whose work must grow no faster than n·log n with the
// input that scalableInput makes. Every function of the language is among them,
// or in constantWork.
var scalable = []string{
	`$distinct(objs)`, `$distinct(arrs)`, `$distinct(same)`, `$distinct(few)`, `$distinct(nums)`, `$distinct(strs)`,
	`$distinct([1..n].{"a": {"b": $}})`, `$distinct(nums.(function(){1}))`, `$count($distinct(objs.tags))`,
	`$count(objs)`, `$append(objs, nums)`, `$reverse(objs)`, `$shuffle(objs)`, `$zip(objs, nums, strs)`,
	`$sort(nums)`, `$sort(strs)`, `$sort(objs, function($a, $b){$a.id > $b.id})`,
	`$map(objs, function($v, $i, $a){$v.id + $i})`, `$filter(objs, function($v, $i, $a){$v.id % 2 = 0})`,
	`$single(objs, function($v){$v.id = 3})`, `$reduce(nums, function($a, $b){$a + $b})`,
	`$each(big, function($v, $k){$k & $v})`, `$sift(big, function($v, $k){$v > 5})`,
	`$sum(nums)`, `$max(nums)`, `$min(nums)`, `$average(nums)`, `$boolean(nums)`, `$not(nums)`, `$exists(nums)`, `$type(nums)`,
	`$keys(big)`, `$keys(objs)`, `$lookup(objs, "id")`, `$spread(big)`, `$spread(objs)`, `$merge(objs)`, `$merge($spread(big))`, `$clone($)`,
	`big = rev`, `objs = objs`, `5 in nums`, `$string($)`, `$string($, true)`,
	`$match(s, /[a-c]+/)`, `$match(u, /[^a]/)`, `$match(s, /(?=a)a/)`, `$match(u, /a/).index`, `$contains(s, "zz")`, `$contains(s, /zz/)`,
	`$replace(s, "a", "xx")`, `$replace(u, /(a)(,)/, "$2$1")`, `$replace(u, /a/, function($m){$string($m.start)})`,
	`$split(u, ",")`, `$split(u, "")`, `$split(u, /,/)`, `$join(strs, ",")`, `$length(u)`, `$substring(u, -10)`,
	`$substringBefore(u, "zz")`, `$substringAfter(u, "zz")`, `$uppercase(u)`, `$lowercase(u)`, `$trim(u)`, `$pad("a", n, u)`,
	`$base64encode(s)`, `$base64decode($base64encode(s))`, `$encodeUrlComponent(u)`, `$encodeUrl(u)`,
	`$decodeUrlComponent($encodeUrlComponent(u))`, `$decodeUrl($encodeUrl(u))`,
	`$eval("[" & $join(nums.("1"), ",") & "]")`, `$eval("{" & $join(strs.($ & ": 1"), ",") & "}")`,
	`$eval("(" & $join(strs.("$" & $ & " := 1"), ";") & ")")`,
	`objs.name`, `objs.tags`, `objs[id > 5]`, `objs[-1]`, `objs^(>name, id)`, `objs{name: id}`, `objs{$string(id % 10): $sum(id)}`,
	`objs.*`, `**.id`, `objs#$i[$i % 2 = 0]`, `objs@$o.tags@$t.{"a": $o.id, "t": $t}`, `objs.tags.%.id`, `[1..n]`, `nums & ""`,
	`$ ~> |objs|{"z": 1}, ["id", "name"]|`, `$ ~> |big|{}, $keys($)|`, `$ ~> |big|$merge($keys($).{$ & "x": 1})|`,
	`$ ~> |objs|{"all": $$.big, "n": $$.nums}|`,
}

// constantWork are functions whose arguments are short.
var constantWork = []string{
	"abs", "assert", "ceil", "error", "floor", "formatBase", "formatInteger", "formatNumber", "fromMillis", "millis", "now",
	"number", "parseInteger", "power", "random", "round", "sqrt", "toMillis",
}

func scalableInput(n int) value.Value {
	var objs, nums, strs, arrs, same, few []value.Value
	var big, rev []value.Entry
	for i := range n {
		num := value.FromInt(int64((i * 7919) % n))
		str := value.FromString(fmt.Sprintf("key%07d", (i*7919)%n))
		nums, strs = append(nums, num), append(strs, str)
		objs = append(objs, value.FromEntries([]value.Entry{
			{Key: "id", Value: num}, {Key: "name", Value: str}, {Key: "tags", Value: value.FromArray([]value.Value{num, str})},
		}))
		arrs = append(arrs, value.FromArray([]value.Value{num, num}))
		same = append(same, value.FromEntries([]value.Entry{{Key: "a", Value: value.FromInt(1)}}))
		few = append(few, value.FromArray([]value.Value{value.FromInt(int64(i % 10))}))
		big = append(big, value.Entry{Key: str.Str(), Value: num})
	}
	rev = slices.Clone(big)
	slices.Reverse(rev)
	b := value.NewBuilder(16)
	b.Set("n", value.FromInt(int64(n)))
	for name, list := range map[string][]value.Value{"objs": objs, "nums": nums, "strs": strs, "arrs": arrs, "same": same, "few": few} {
		b.Set(name, value.FromArray(list))
	}
	b.Set("big", value.FromEntries(big))
	b.Set("rev", value.FromEntries(rev))
	b.Set("s", value.FromString(strings.Repeat("abc,de ", n/7)))
	b.Set("u", value.FromString(strings.Repeat("é😀a,", n/7)))
	return b.Value()
}

// work returns the steps that an evaluation counts, and the bytes that it
// allocates.
func work(t *testing.T, src string, input value.Value) (steps, bytes int64) {
	t.Helper()
	e, err := Compile(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	ev := newEvaluator(context.Background(), nil)
	ev.known = &e.unit.known
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := runUnit(ev, e.unit, input); err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	runtime.ReadMemStats(&after)
	return ev.limits.Steps - ev.steps - int64(ev.fuel), int64(after.TotalAlloc - before.TotalAlloc)
}

func TestWorkGrowsNoFasterThanNLogN(t *testing.T) {
	const n, times = 512, 16
	small, large := scalableInput(n), scalableInput(times*n)
	for _, src := range scalable {
		steps, bytes := work(t, src, small)
		moreSteps, moreBytes := work(t, src, large)
		// n·log n has 22 times the work, n² 256 times; what is small is noise.
		const most = 30
		if moreSteps > most*max(steps, n) {
			t.Errorf("%s takes %d steps, and %d for %d times the input", src, steps, moreSteps, times)
		}
		if moreBytes > most*max(bytes, 100*n) {
			t.Errorf("%s allocates %d bytes, and %d for %d times the input", src, bytes, moreBytes, times)
		}
	}
}

func TestTheWorkOfEveryFunctionIsKnown(t *testing.T) {
	var named []string
	for _, src := range scalable {
		for _, match := range regexp.MustCompile(`\$(\w+)\(`).FindAllStringSubmatch(src, -1) {
			named = append(named, match[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(builtins)) {
		if !slices.Contains(named, name) && !slices.Contains(constantWork, name) {
			t.Errorf("how the work of $%s grows is not tested", name)
		}
	}
}

// BenchmarkScaling shows the time of each expression with n and 16·n elements.
func BenchmarkScaling(b *testing.B) {
	for _, n := range []int{2000, 32000} {
		input := scalableInput(n)
		for _, src := range scalable {
			e, err := Compile(src)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%d", src, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := e.Eval(context.Background(), input, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestDistinctComparesDeeply(t *testing.T) {
	for src, want := range map[string]string{
		`$distinct([{"a":1,"b":[2]}, {"b":[2],"a":1.0}, {"a":1}, {"a":1,"b":[2,3]}])`: `[{"a":1,"b":[2]},{"a":1},{"a":1,"b":[2,3]}]`,
		`$distinct([[1], [1.0], ["1"], [[1]], [], {}, [], {}])`:                       `[[1],["1"],[[1]],[],{}]`,
		`$distinct([0, -0, "0", false, null, null, "", {"a":0}, {"a":-0}])`:           `[0,"0",false,null,"",{"a":0}]`,
		`$distinct([[9007199254740993], [9007199254740992]])`:                         `[[9007199254740992]]`,
		`$count($distinct([$sum, $sum, $max]))`:                                       `2`,
		`$distinct([{"a":{"x":1,"y":2}}, {"a":{"y":2,"x":1}}])`:                       `[{"a":{"x":1,"y":2}}]`,
	} {
		e, err := Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Eval(context.Background(), value.Undef, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.JSON() != want {
			t.Errorf("%s = %s, want %s", src, got.JSON(), want)
		}
	}
}

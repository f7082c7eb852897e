package picture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// referenceScript answers each line {expr, bindings} with {value} or {code},
// or {} for undefined, as the jsonata package in its working folder does.
const referenceScript = `
const jsonata = require(process.cwd() + '/node_modules/jsonata');
require('readline').createInterface({input: process.stdin}).on('line', async line => {
  const {expr, bindings} = JSON.parse(line);
  let out = {};
  try {
    const value = await jsonata(expr).evaluate(null, bindings);
    if (value !== undefined) out = {value: typeof value === 'number' && !isFinite(value) ? 'NaN' : value};
  } catch (e) { out = {code: e.code || 'crash'}; }
  console.log(JSON.stringify(out));
});`

// answer is what the reference or this package gives.
type answer struct {
	Value any    `json:"value,omitempty"`
	Code  string `json:"code,omitempty"`
}

// reference is a node process that runs referenceScript.
type reference struct {
	in  *bufio.Writer
	out *bufio.Scanner
}

// startReference starts node with the jsonata package under MCPGRAPH_REFERENCE,
// for as many cases as MCPGRAPH_REFERENCE_CASES says.
func startReference(t *testing.T) (*reference, int, uint64) {
	folder := os.Getenv("MCPGRAPH_REFERENCE")
	cases, err := strconv.Atoi(os.Getenv("MCPGRAPH_REFERENCE_CASES"))
	if folder == "" || err != nil {
		t.Skip("MCPGRAPH_REFERENCE names no folder with node_modules/jsonata, or MCPGRAPH_REFERENCE_CASES no number of cases: not compared with the reference")
	}
	seed, _ := strconv.ParseUint(os.Getenv("MCPGRAPH_REFERENCE_SEED"), 10, 64)
	cmd := exec.Command("node", "-e", referenceScript)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "TZ=UTC")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("node does not start: %v", err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	r := &reference{in: bufio.NewWriter(in), out: bufio.NewScanner(out)}
	r.out.Buffer(nil, 1<<22)
	return r, cases, seed
}

func (r *reference) ask(t *testing.T, expr string, bindings map[string]any) answer {
	line, err := json.Marshal(map[string]any{"expr": expr, "bindings": bindings})
	if err != nil {
		t.Fatal(err)
	}
	r.in.Write(append(line, '\n'))
	r.in.Flush()
	if !r.out.Scan() {
		t.Fatal("node ended: ", r.out.Err())
	}
	var a answer
	if err := json.Unmarshal(r.out.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// result makes an answer of what a function of this package returned.
func result(value any, err error) answer {
	var e *Error
	if errors.As(err, &e) {
		return answer{Code: e.Code}
	}
	if f, ok := value.(float64); ok && math.IsNaN(f) {
		value = "NaN"
	}
	return answer{Value: value}
}

type maker struct{ *rand.Rand }

func (m maker) pick(from ...string) string { return from[m.IntN(len(from))] }

func (m maker) join(most int, from ...string) string {
	var b strings.Builder
	for range m.IntN(most + 1) {
		b.WriteString(m.pick(from...))
	}
	return b.String()
}

func (m maker) value() float64 {
	v := 0.0
	switch m.IntN(6) {
	case 0:
		v = float64(m.IntN(200)) / 8
	case 1:
		v = float64(m.IntN(100000))
	case 2:
		v = math.Round(m.Float64()*1e6) / 1e4
	case 3:
		v = m.Float64() * math.Pow(10, float64(m.IntN(24)-6))
	case 4:
		v = float64(m.Int64N(1 << 50))
	case 5:
		v = math.Round(m.Float64()*1e4) / 1e4
	}
	if m.IntN(3) == 0 {
		v = -v
	}
	return v
}

func (m maker) numberPicture() string {
	half := func() string {
		return m.pick("", "", "", "$", "a ") + m.join(4, "#", "#", "#,", "##") + m.join(4, "0", "0", "0,", "9") +
			m.pick("", ".", ".", ".", "") + m.join(4, "0", "0", "0,") + m.join(3, "#", "#", ",#") +
			m.pick("", "", "", "e0", "e00", "e", "%", "‰", ".", "0", "x0") + m.pick("", "", "", " b", "%", "-")
	}
	if m.IntN(5) == 0 {
		return half() + ";" + half()
	}
	return half()
}

func TestNumbersAgainstReference(t *testing.T) {
	r, cases, seed := startReference(t)
	explained := map[string]int{}
	for i := range cases {
		m := maker{rand.New(rand.NewPCG(seed, uint64(i)))}
		picture, v := m.numberPicture(), m.value()
		options := map[string]string{}
		if m.IntN(4) == 0 {
			options[m.pick("decimal-separator", "grouping-separator", "zero-digit", "minus-sign", "percent", "digit", "exponent-separator", "per-mille")] = m.pick("!", "x", "$", "٠")
		}
		var got answer
		if n, err := CompileNumber(picture, options); err != nil {
			got = result(nil, err)
		} else {
			got = result(n.Format(v), nil)
		}
		want := r.ask(t, "$formatNumber($v,$p,$o)", map[string]any{"v": v, "p": picture, "o": options})
		if got != want {
			if why := numberDifference(v, picture, got, want); why != "" {
				explained[why]++
				continue
			}
			t.Errorf("$formatNumber(%v,%q,%v): got %v, reference %v", v, picture, options, got, want)
		}
	}
	t.Logf("deliberate differences: %v", explained)
}

// numberDifference returns why the reference is not followed.
func numberDifference(v float64, picture string, got, want answer) string {
	bare := func(a answer) string {
		return regexp.MustCompile(`\.(\D|$)`).ReplaceAllString(strings.ReplaceAll(fmt.Sprint(a.Value, a.Code), ",", ""), "$1")
	}
	switch {
	case math.Abs(v) >= 1e6:
		return "digits lost in multiplications"
	case got.Code == "" && want.Code == "" && bare(got) == bare(want):
		return "separators beyond the digits of a number"
	case strings.ContainsAny(picture, "ex") && strings.ContainsAny(picture, "$a#"):
		return "a prefix before an exponent"
	case strings.ContainsAny(picture, "ex") && got.Code == "":
		return "mantissas: powers of ten, fractions without separator"
	}
	return ""
}

func TestIntegersAgainstReference(t *testing.T) {
	r, cases, seed := startReference(t)
	for i := range cases {
		m := maker{rand.New(rand.NewPCG(seed, uint64(i)))}
		picture := m.pick("A", "a", "I", "i", "W", "w", "Ww", m.join(4, "#", "#,", "#:")+m.join(4, "0", "0", ",0", "1", "٠", ",", "-")) + m.pick("", "", ";o", ";c", ";")
		v := m.value()
		if strings.HasPrefix(strings.ToLower(picture), "i") {
			v = math.Mod(v, 5000)
		}
		p, err := CompileInteger(picture)
		got := result(nil, err)
		if err == nil {
			got = result(p.Format(v), nil)
		}
		want := r.ask(t, "$formatInteger($v,$p)", map[string]any{"v": v, "p": picture})
		if got != want && math.Abs(v) < 1e21 && !strings.ContainsAny(picture, ",:-") && !strings.HasSuffix(picture, "٠;o") {
			t.Errorf("$formatInteger(%v,%q): got %v, reference %v", v, picture, got, want)
		}
		if err != nil || want.Value == nil {
			continue
		}
		text := want.Value.(string)
		back, err := p.Parse(text)
		got = result(back, err)
		want = r.ask(t, "$parseInteger($v,$p)", map[string]any{"v": text, "p": picture})
		if got != want && !strings.ContainsAny(picture, ",:-") && !strings.HasPrefix(text, "-") && math.Abs(v) < 1<<53 {
			t.Errorf("$parseInteger(%q,%q): got %v, reference %v", text, picture, got, want)
		}
	}
}

func (m maker) datePicture() string {
	var b strings.Builder
	for range 1 + m.IntN(6) {
		b.WriteString("[" + m.pick(strings.Split("YMDdFWwXxHhPmsfZzCEYMDHms", "")...) +
			m.pick("", "", "", "1", "01", "0001", "#1", "n", "N", "Nn", "w", "Ww", "I", "i", "a", "A", "9,999", "001", "0", "00:00") +
			m.pick("", "", "", "", "o", "t", "c") + m.pick("", "", "", ",2", ",2-2", ",*-3", ",3-3", ",4") + "]" + m.pick("-", ":", " ", "/", "[[", "]]", ", "))
	}
	if m.IntN(4) == 0 {
		b.WriteString("[" + m.pick("Y0001", "Y,2-2", "D01", "H01") + "][" + m.pick("M01", "m", "s01", "d001") + "][" + m.pick("f001", "D1", "Z", "z", "Z0001", "Z0") + "]")
	}
	return b.String()
}

func TestDatesAgainstReference(t *testing.T) {
	r, cases, seed := startReference(t)
	now := time.Now()
	explained := map[string]int{}
	for i := range cases {
		m := maker{rand.New(rand.NewPCG(seed, uint64(i)))}
		picture := m.datePicture()
		millis := m.Int64N(8e12) - 4e12
		zone := m.pick("", "", "+0000", "+0100", "-0500", "+0530", "1000")
		d, err := CompileDateTime(picture)
		got := result(nil, err)
		if err == nil {
			text, err := d.Format(millis, zone)
			got = result(text, err)
			if err != nil {
				got = result(nil, err)
			}
		}
		bindings := map[string]any{"v": millis, "p": picture}
		expr := "$fromMillis($v,$p)"
		if zone != "" {
			expr, bindings["z"] = "$fromMillis($v,$p,$z)", zone
		}
		want := r.ask(t, expr, bindings)
		if got != want && want.Code != "crash" {
			t.Errorf("%s with %v: got %v, reference %v", expr, bindings, got, want)
		}
		if want.Value == nil || d == nil {
			continue
		}
		text := want.Value.(string)
		ms, ok, err := d.Parse(text, now)
		got = result(nil, err)
		if ok {
			got = result(ms, err)
		}
		want = r.ask(t, "$toMillis($v,$p)", map[string]any{"v": text, "p": picture})
		if a, ok := got.Value.(float64); ok {
			if b, ok := want.Value.(float64); ok && math.Abs(a-b) < 60000 && a != b {
				continue // parts of it are those of now
			}
		}
		if got != want {
			if got.Code == "" && (want.Value == nil || want.Value == "NaN" || want.Code == "D3136") {
				explained["reads what the reference cannot"]++
				continue
			}
			if why := dateDifference(picture, want); why != "" {
				explained[why]++
				continue
			}
			t.Errorf("$toMillis(%q,%q): got %v, reference %v", text, picture, got, want)
		}
	}
	t.Logf("deliberate differences: %v", explained)
}

// dateDifference returns why the reference is not followed.
func dateDifference(picture string, want answer) string {
	switch {
	case strings.Contains(picture, "[Mn") || strings.Contains(picture, "[MN") || strings.Contains(picture, "[xn") || strings.Contains(picture, "[xN"):
		return "month names in any case, and only those"
	case strings.Contains(picture, "[P"):
		return "am, which the reference takes for nothing"
	case strings.Contains(picture, "[d") && !strings.Contains(picture, "[Y"):
		return "a day of this year without the time of now"
	case regexp.MustCompile(`\[[Zz](001|9,999)`).MatchString(picture):
		return "offsets of three digits, or with a thousands separator"
	case want.Value == nil && want.Code == "":
		return "a text that only fits here, and lacks components"
	}
	return ""
}

func TestTimestampsAgainstReference(t *testing.T) {
	r, cases, seed := startReference(t)
	for i := range cases {
		m := maker{rand.New(rand.NewPCG(seed, uint64(i)))}
		text := fmt.Sprintf("%04d", 1000+m.IntN(2500)) + m.pick("", "-01", "-12", "-02-30", "-10-31", "-13-01", "-00-10", "-05-00", "-05-32") +
			m.pick("", "T10:11:12", "T23:59:59", "T24:00:00", "T24:00:01", "T00:60:00", "T25:00:00") + m.pick("", "", ".1", ".1234", ".") +
			m.pick("", "Z", "+01:00", "-0530", "+2400", "z", " ")
		ms, err := ParseISO(text)
		got := result(ms, err)
		if err != nil {
			got = result(nil, err)
		}
		want := r.ask(t, "$toMillis($v)", map[string]any{"v": text})
		if want.Value == "NaN" {
			want = answer{Code: "D3110"}
		}
		if got != want && !(got.Code != "" && !strings.Contains(text, "T")) {
			t.Errorf("$toMillis(%q): got %v, reference %v", text, got, want)
		}
	}
}

// Command compare measures the engine against the reference implementation of
// JSONata, the npm package jsonata, on the same expressions and data in turns.
//
//	go run ./pkg/jsonata/internal/bench/compare
//
// A figure is the median over the rounds of the time for one evaluation of a
// compiled expression. It needs node and the package, or -alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/jsonata"
	"github.com/mcpgraph/mcpgraph/pkg/jsonata/internal/bench"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func main() {
	folder := flag.String("reference", "testdata/realservers/node_modules/jsonata", "folder of the npm package jsonata")
	rounds := flag.Int("rounds", 9, "rounds to take the median of")
	slice := flag.Duration("slice", 100*time.Millisecond, "how long each side runs in a round")
	only := flag.String("only", "", "measure only expressions whose name contains this")
	alone := flag.Bool("alone", false, "measure the engine alone if there is no reference")
	flag.Parse()
	if err := compare(*folder, *only, *alone, *rounds, *slice); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// engine is this module's engine with one case.
type engine struct {
	expr *jsonata.Expr
	data value.Value
}

func newEngine(c bench.Case) (*engine, error) {
	e, err := jsonata.Compile(c.Expr, jsonata.WithFunctions(bench.Functions()...))
	if err != nil {
		return nil, err
	}
	data, err := value.Parse(c.Data)
	if err != nil {
		return nil, err
	}
	got, err := e.Eval(context.Background(), data, nil)
	if err == nil && got.JSON() != c.Want {
		err = fmt.Errorf("the engine gives %s, expected %s", got.JSON(), c.Want)
	}
	return &engine{e, data}, err
}

func (e *engine) run(times int) (time.Duration, error) {
	ctx := context.Background()
	begin := time.Now()
	for range times {
		if _, err := e.expr.Eval(ctx, e.data, nil); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// alone evaluates on one core, on which the collector works as well: beside
// evaluations on all cores there is no other that it could have.
func (e *engine) alone(times int) (time.Duration, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return e.run(times)
}

// cores evaluates on every core at once.
func (e *engine) cores(times int) (time.Duration, error) {
	var wg sync.WaitGroup
	begin := time.Now()
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() { e.run(times) })
	}
	wg.Wait()
	return time.Since(begin), nil
}

// allocations returns how many allocations one evaluation makes.
func (e *engine) allocations() (float64, error) {
	const times = 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := e.run(times)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / times, err
}

// side is one of the things that take turns.
type side struct {
	run   func(times int) (time.Duration, error)
	times int       // evaluations in a round
	took  []float64 // nanoseconds for one, by round
}

// calibrate finds how many evaluations take a slice of time, which also warms
// up what compiles while it runs.
func (s *side) calibrate(slice time.Duration) error {
	for s.times = 1; ; s.times *= 2 {
		d, err := s.run(s.times)
		if err != nil {
			return err
		}
		if d > slice/2 {
			s.times = max(1, int(float64(s.times)*float64(slice)/float64(d)))
			return nil
		}
	}
}

func (s *side) median() float64 {
	slices.Sort(s.took)
	return s.took[len(s.took)/2]
}

func compare(folder, only string, alone bool, rounds int, slice time.Duration) error {
	ref, err := startReference(folder)
	switch {
	case errors.Is(err, errAbsent) && !alone:
		return fmt.Errorf("%w; the reference needs Node.js, and its package: (cd testdata/realservers && npm ci); -alone measures the engine without it", err)
	case errors.Is(err, errAbsent):
		ref = nil
	case err != nil:
		return err
	default:
		defer ref.close()
		fmt.Printf("%s against %s, medians of %d rounds\n\n", runtime.Version(), ref.version, rounds)
	}
	fmt.Printf("| expression | reference | engine | ratio | goal | allocations | on %d cores |\n|---|---|---|---|---|---|---|\n", runtime.GOMAXPROCS(0))
	// The data of all cases stays, as in a program that does more than one thing.
	var engines []*engine
	for _, c := range bench.Cases() {
		e, err := newEngine(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		engines = append(engines, e)
	}
	for i, c := range bench.Cases() {
		if !strings.Contains(c.Name, only) {
			continue
		}
		line, err := measure(c, engines[i], ref, rounds, slice)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		fmt.Println(line)
	}
	runtime.KeepAlive(engines)
	return nil
}

// measure returns the line of the table for one case.
func measure(c bench.Case, e *engine, ref *reference, rounds int, slice time.Duration) (string, error) {
	one, alone, all := &side{run: e.run}, &side{run: e.alone}, &side{run: e.cores}
	sides := []*side{one, alone, all}
	var node *side
	if ref != nil {
		if err := ref.load(c); err != nil {
			return "", err
		}
		node = &side{run: ref.run}
		sides = append(sides, node)
	}
	for _, s := range sides {
		if err := s.calibrate(slice); err != nil {
			return "", err
		}
	}
	for range rounds {
		for _, s := range sides {
			d, err := s.run(s.times)
			if err != nil {
				return "", err
			}
			s.took = append(s.took, float64(d)/float64(s.times))
		}
	}
	allocations, err := e.allocations()
	if err != nil {
		return "", err
	}
	reference, ratio := "–", "–"
	if node != nil {
		reference = shown(node.median())
		ratio = fmt.Sprintf("%.3f", one.median()/node.median())
	}
	speedup := alone.median() / all.median() * float64(runtime.GOMAXPROCS(0))
	return "| " + strings.Join([]string{
		c.Name, reference, shown(one.median()), ratio, fmt.Sprintf("%.2f", c.Goal),
		fmt.Sprintf("%.0f", allocations), fmt.Sprintf("× %.1f", speedup),
	}, " | ") + " |", nil
}

// shown writes nanoseconds in a unit of their size.
func shown(nanos float64) string {
	switch {
	case nanos < 1e3:
		return fmt.Sprintf("%.0f ns", nanos)
	case nanos < 1e6:
		return fmt.Sprintf("%.1f µs", nanos/1e3)
	}
	return fmt.Sprintf("%.2f ms", nanos/1e6)
}

package diag

import (
	"fmt"
	"slices"
)

// worst returns at most so many diagnostics of each file, errors before warnings before
// others, with texts of bounded length; 0 keeps all. They keep their order. left has how
// many are left out, by file.
func worst(ds []Diagnostic, most int) (kept []Diagnostic, left map[string]int) {
	left = map[string]int{}
	if most <= 0 {
		most = len(ds)
	}
	keep := make([]bool, len(ds))
	taken := map[string]int{}
	for s := Error; s <= Info; s++ {
		for i, d := range ds {
			switch {
			case d.Severity != s:
			case taken[d.File] < most:
				taken[d.File]++
				keep[i] = true
			default:
				left[d.File]++
			}
		}
	}
	kept = make([]Diagnostic, 0, len(ds))
	for i, d := range ds {
		if keep[i] {
			kept = append(kept, d.bounded())
		}
	}
	return kept, left
}

// errorsFirst sorts diagnostics by severity, and else leaves their order.
func errorsFirst(ds []Diagnostic) {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int { return int(a.Severity) - int(b.Severity) })
}

func notShown(n, all int) string {
	return fmt.Sprintf("%d of %d problems are not shown", n, all)
}

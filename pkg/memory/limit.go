package memory

import (
	"errors"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// machineShare is the share of the machine's memory, in percent, that a process
// without a limit may use.
const machineShare = 75

// Detect returns the limit of this process in bytes, and where it was found: that
// of the Go runtime where the environment variable GOMEMLIMIT sets one, else that
// of the control group (version 2 or 1), else 75 % of the machine's memory. It is
// 0 where nothing is known.
func Detect() (limit int64, source string) {
	if os.Getenv("GOMEMLIMIT") != "" {
		if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
			return limit + limit/(collectorShare-1), "GOMEMLIMIT" // which Apply leaves as it is
		}
	}
	machine, err := memlimit.FromSystem()
	if err != nil || machine > math.MaxInt64/100 {
		machine = 0
	}
	if group, err := memlimit.FromCgroup(); err == nil && group > 0 && (machine == 0 || group < machine) {
		return int64(min(group, math.MaxInt64)), "control group"
	}
	return int64(machine) / 100 * machineShare, "machine"
}

// ParseSize reads a number of bytes with a unit, such as "512MiB": B, KiB, MiB,
// GiB or TiB, B if there is none.
func ParseSize(text string) (int64, error) {
	unit := int64(1)
	digits := strings.TrimSuffix(strings.ToLower(text), "b")
	for i, name := range []string{"ki", "mi", "gi", "ti"} {
		if rest, ok := strings.CutSuffix(digits, name); ok {
			digits, unit = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, errors.New("expected a size in bytes, such as 512MiB or 2GiB")
	}
	return n * unit, nil
}

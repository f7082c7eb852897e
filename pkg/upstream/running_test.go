//go:build unix

package upstream

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// running reports whether the process is there and is no zombie.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

package upstream

import (
	"os"
	"os/exec"
)

// running reports whether the process is there.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return p.Release() == nil
}

// ownGroup does nothing: Windows has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup ends p.
func killGroup(p *os.Process) { _ = p.Kill() }

//go:build unix

package wire

import (
	"os"
	"syscall"
)

// terminateGroup asks every process of p's group to end.
func terminateGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// killGroup ends every process of p's group. The group's number stays taken
// while it has a member, also after its leader was waited for.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

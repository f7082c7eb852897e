package wire

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the leader of a new process group, killed by the kernel
// when this process dies in whatever way.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

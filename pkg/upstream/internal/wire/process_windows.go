package wire

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup keeps console signals that are meant for this process from cmd.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup ends p: Windows has no way to ask.
func terminateGroup(p *os.Process) { _ = p.Kill() }

// killGroup ends p.
func killGroup(p *os.Process) { _ = p.Kill() }

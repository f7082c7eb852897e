//go:build unix

package wire

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// guardGroup has a process group killed when this process dies without a chance
// to do so itself, as by SIGKILL: a shell of its own waits for the end of a pipe
// that only this process holds. release ends the shell without a kill. Without
// /bin/sh it does nothing.
func guardGroup(pgid int) (release func()) {
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	cmd := exec.Command("/bin/sh", "-c", `read -r x || kill -9 -"$1"`, "sh", strconv.Itoa(pgid))
	cmd.Env, cmd.Dir, cmd.Stdin = []string{}, "/", r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal for our group is not meant for it
	err = cmd.Start()
	r.Close()
	if err != nil {
		w.Close()
		return func() {}
	}
	return func() {
		_, _ = w.WriteString("\n") // fails only where the shell was ended
		w.Close()
		_ = cmd.Wait()
	}
}

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// become starts a program in the place of this one, which ends with it and with its exit
// code. The program ends if this process is killed. The console sends its signals to both.
func become(a *app, path string, environ []string) error {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	job, err := killingJob()
	if err != nil {
		return failedf("cannot start %s: %w", path, err)
	}
	defer windows.CloseHandle(job)
	cmd := exec.Command(path, a.argv...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, environ
	if a.onStdin != nil {
		cmd.Stdin = strings.NewReader(*a.onStdin)
	}
	if err := cmd.Start(); err != nil {
		return failedf("%s does not start: %w", path, err)
	}
	if err := assign(job, cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return failedf("cannot start %s: %w", path, err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &exitError{code: exit.ExitCode()}
	case err != nil:
		return failedf("%s: %w", path, err)
	}
	return &exitError{code: exitClean}
}

// killingJob returns a job whose processes end when its handle is closed. What they start
// does not belong to it.
func killingJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// assign puts a process into a job.
func assign(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(job, process)
}

//go:build unix

package boundedfile

import "syscall"

// nonBlocking is the flag with which the opening of a pipe does not wait (POSIX, open).
const nonBlocking = syscall.O_NONBLOCK

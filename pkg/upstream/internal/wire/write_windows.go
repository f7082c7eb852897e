package wire

import "io"

// withoutWaiting returns nil: a pipe of Windows makes its writer wait.
func withoutWaiting(io.Writer) func([]byte) int { return nil }

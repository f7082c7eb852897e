//go:build !unix

package boundedfile

// nonBlocking is no flag: there are no named pipes among the files.
const nonBlocking = 0

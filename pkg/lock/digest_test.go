package lock_test

import (
	"crypto/sha256"
	"encoding/hex"
)

// digestOf returns the digest of servers that are written as compact JSON.
func digestOf(servers string) string {
	sum := sha256.Sum256([]byte(servers))
	return "sha256-" + hex.EncodeToString(sum[:])
}

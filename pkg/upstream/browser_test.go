package upstream

import (
	"net/url"
	"testing"
)

// query returns the query of the address that a browser was sent to.
func query(t testing.TB, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// redirectOf returns where the login comes back to.
func redirectOf(t testing.TB, address string) string { return query(t, address).Get("redirect_uri") }

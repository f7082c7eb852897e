package cli

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// openBrowser opens an address in the person's browser: the command in BROWSER,
// else what the system opens addresses with. One that does not start is only
// reported, for the address was printed.
func openBrowser(a *app, address string) {
	argv := browserOf(runtime.GOOS)
	if own := strings.Fields(a.environ["BROWSER"]); len(own) > 0 {
		argv = own
	}
	cmd := exec.Command(argv[0], append(argv[1:], address)...)
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(a.stderr, "Cannot open a browser (%v); open the URL yourself.\n", err)
		return
	}
	go func() { _ = cmd.Wait() }() // how it ends says nothing of the login
}

// browserOf returns the command that opens an address in the user's browser.
func browserOf(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

package cli_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/internal/mcptest/protected"
)

// browser is the BROWSER of the scripts: it logs in as the user of the variable
// LOGIN_AS and follows where it is sent.
func browser() {
	if err := mcptest.Browse(context.Background(), os.Args[1], os.Getenv("LOGIN_AS")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestAuthScripts runs the commands of auth against a real authorization
// server and a server that is protected by it.
func TestAuthScripts(t *testing.T) {
	as := mcptest.StartAuthServer(t)
	server := protected.Start(t, as)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/auth",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"code": code},
		Setup: func(env *testscript.Env) error {
			share(env)
			env.Setenv("SERVER_URL", server.URL)
			env.Setenv("ISSUER", as.URL)
			env.Setenv("BROWSER", "browser")
			env.Setenv("LOGIN_AS", "alice")
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/home")
			env.Setenv("HOME", env.WorkDir+"/home")
			return nil
		},
	})
}

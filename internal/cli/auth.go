package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// loginTime is how long a person has for a login.
const loginTime = 5 * time.Minute

// authOptions are the flags of the commands of auth.
type authOptions struct {
	config    string
	server    string
	mcpFiles  []string
	noBrowser bool
	json      bool
}

func authCommand(a *app) *cobra.Command {
	auth := &cobra.Command{
		Use:   "auth",
		Short: "Log in to upstream servers",
		Long: `Log in to upstream servers, and out of them. It works for servers whose auth
has the flow authorizationCode (OAuth 2.1).

Tokens are stored in the file that auth.store names. The default is the file in
MCPGRAPH_TOKEN_STORE, or else mcpgraph/tokens.json in your configuration folder.
Only you can read it.`,
		Example: `  mcpgraph auth login tools.yaml notes
  mcpgraph auth status tools.yaml
  mcpgraph auth logout tools.yaml notes`,
	}
	auth.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(auth, args[0])
		}
		return nil
	}
	auth.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	auth.AddCommand(loginCommand(a), logoutCommand(a), loginsCommand(a))
	return auth
}

// authFlags adds what the commands of auth have in common: CONFIG, which may also
// be given by --graph, and the arguments after it.
func authFlags(a *app, cmd *cobra.Command, o *authOptions, more ...string) {
	cmd.Flags().StringVarP(&o.config, "graph", "g", "", "the `FILE` with the server, instead of CONFIG")
	mcpFlag(a, cmd, &o.mcpFiles)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.config != "" {
			return configArgs(more...)(cmd, args)
		}
		return configArgs(append([]string{"CONFIG"}, more...)...)(cmd, args)
	}
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if o.config == "" {
			o.config, args = args[0], args[1:]
		}
		if len(args) > 0 {
			o.server = args[0]
		}
		return nil
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if o.config != "" {
			args = append([]string{o.config}, args...)
		}
		switch {
		case len(args) == 0:
			return completeConfig(cmd, args, prefix)
		case len(args) == 1 && len(more) > 0:
			return completeLogins(a, args[0], o.mcpFiles), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// withPool runs f on the servers of the file.
func withPool(a *app, o authOptions, f func(context.Context, *upstream.Pool) error) (err error) {
	ctx, stop := a.untilSignal()
	defer stop()
	engine, err := a.loadOnce(ctx, o.config, mcpgraph.WithUnsetVariables(), mcpgraph.WithMCPFiles(o.mcpFiles...))
	if err != nil {
		return err
	}
	defer closeEngine(engine, &err)
	if o.server != "" {
		if _, err := entryOf(engine, o.server); err != nil {
			return err
		}
	}
	err = f(ctx, engine.Upstreams())
	if stopped := interrupted(ctx); err != nil && stopped != nil {
		return stopped
	}
	return err
}

func loginCommand(a *app) *cobra.Command {
	var o authOptions
	cmd := &cobra.Command{
		Use:   "login CONFIG SERVER",
		Short: "Log in to a server with a browser",
		Long: `Log in to a server with a browser, within 5 minutes. The browser returns to a port
of this machine. BROWSER can name another browser. The URL is printed too, so that
you can open it yourself.`,
		Example: `  mcpgraph auth login tools.yaml notes
  mcpgraph auth login tools.yaml notes --no-browser`,
		RunE: func(*cobra.Command, []string) error {
			return withPool(a, o, func(ctx context.Context, pool *upstream.Pool) error {
				ctx, cancel := context.WithTimeout(ctx, loginTime)
				defer cancel()
				login, err := pool.Login(ctx, o.server, func(_ context.Context, address string) error {
					fmt.Fprintf(a.stderr, "Log in at:\n  %s\n", address)
					if !o.noBrowser {
						openBrowser(a, address)
					}
					return nil
				})
				if err != nil {
					return &exitError{exitProblems, err}
				}
				_, err = fmt.Fprintf(a.stdout, "logged in to %s; the token is in %s\n", login.Server, login.File)
				return failed(err)
			})
		},
	}
	authFlags(a, cmd, &o, "SERVER")
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "print the URL only")
	return cmd
}

func logoutCommand(a *app) *cobra.Command {
	var o authOptions
	cmd := &cobra.Command{
		Use:   "logout CONFIG SERVER",
		Short: "Log out of a server",
		Long: `Delete the tokens of a server, and revoke them if its authorization server
supports that (RFC 7009).`,
		Example: `  mcpgraph auth logout tools.yaml notes`,
		RunE: func(*cobra.Command, []string) error {
			return withPool(a, o, func(ctx context.Context, pool *upstream.Pool) error {
				there, err := pool.Logout(ctx, o.server)
				if err != nil {
					return &exitError{exitProblems, err}
				}
				text := "logged out of %s\n"
				if !there {
					text = "not logged in to %s\n"
				}
				_, err = fmt.Fprintf(a.stdout, text, o.server)
				return failed(err)
			})
		},
	}
	authFlags(a, cmd, &o, "SERVER")
	return cmd
}

func loginsCommand(a *app) *cobra.Command {
	var o authOptions
	cmd := &cobra.Command{
		Use:   "status CONFIG",
		Short: "Show the logins to upstream servers",
		Long: `Show each server with a login, and what is stored about it. Servers are not
contacted: a login that was revoked elsewhere fails at its next use.

The exit code is 1 if a login is missing.`,
		Example: `  mcpgraph auth status tools.yaml
  mcpgraph auth status tools.yaml --json`,
		RunE: func(*cobra.Command, []string) error {
			return withPool(a, o, func(ctx context.Context, pool *upstream.Pool) error {
				logins, err := pool.Logins(ctx)
				if err != nil {
					return &exitError{exitProblems, err}
				}
				if err := writeLogins(a, logins, o.json); err != nil {
					return failed(err)
				}
				for _, l := range logins {
					if !l.LoggedIn {
						return &exitError{code: exitProblems}
					}
				}
				return nil
			})
		},
	}
	authFlags(a, cmd, &o)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// loginJSON is a login as status --json prints it.
type loginJSON struct {
	Server    string    `json:"server"`
	LoggedIn  bool      `json:"loggedIn"`
	Issuer    string    `json:"issuer,omitempty"`
	Scopes    []string  `json:"scopes,omitempty"`
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	Renewable bool      `json:"renewable"`
	File      string    `json:"file"`
}

func writeLogins(a *app, logins []upstream.Login, asJSON bool) error {
	if asJSON {
		document := struct {
			Logins []loginJSON `json:"logins"`
		}{[]loginJSON{}}
		for _, l := range logins {
			document.Logins = append(document.Logins, loginJSON(l))
		}
		return json.NewEncoder(a.stdout).Encode(document)
	}
	if len(logins) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no server needs a login")
		return err
	}
	for _, l := range logins {
		if _, err := fmt.Fprintf(a.stdout, "%s: %s\n", l.Server, describeLogin(l)); err != nil {
			return err
		}
	}
	return nil
}

func describeLogin(l upstream.Login) string {
	if !l.LoggedIn {
		return "not logged in"
	}
	text := "logged in"
	if l.Issuer != "" {
		text += " at " + l.Issuer
	}
	if len(l.Scopes) > 0 {
		text += ", scopes " + strings.Join(l.Scopes, " ")
	}
	switch {
	case l.Renewable:
		text += ", renewed by itself"
	case !l.ExpiresAt.IsZero():
		text += ", until " + l.ExpiresAt.Local().Format(time.DateTime)
	}
	return text
}

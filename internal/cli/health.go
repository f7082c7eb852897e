package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/internal/loopback"
)

const (
	// healthPath is what health asks for where its URL names no page.
	healthPath = "/healthz"

	defaultHealthTimeout = 5 * time.Second

	// maxHealthAnswer bounds what health shows of an answer, in bytes.
	maxHealthAnswer = 200
)

func healthCommand(a *app) *cobra.Command {
	timeout := defaultHealthTimeout
	cmd := &cobra.Command{
		Use:   "health URL",
		Short: "Check that a server answers over HTTP",
		Long: `Check that a running server answers over HTTP. The exit code is 0 if it answers
with HTTP 200, and 1 otherwise. Use it where there is no shell and no curl, such
as in the HEALTHCHECK of a container.

A URL without a path means /healthz: the process is alive. Use /readyz to check
that the server also accepts requests.

Certificates of loopback hosts are not verified: they name the public host.`,
		Example: `  mcpgraph health http://127.0.0.1:8080
  mcpgraph health http://127.0.0.1:8080/readyz
  mcpgraph health https://127.0.0.1:8443 --timeout 2s`,
		Args:              configArgs("URL"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			page, err := healthPage(args[0])
			if err != nil {
				return err
			}
			if timeout <= 0 {
				return usagef("--timeout must be more than 0")
			}
			ctx, stop := a.untilSignal()
			defer stop()
			limited, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			answer, err := checkHealth(limited, page)
			if stopped := interrupted(ctx); stopped != nil {
				return stopped
			}
			if errors.Is(limited.Err(), context.DeadlineExceeded) {
				err = fmt.Errorf("%s: no response within %s", page.Redacted(), timeout)
			}
			if err != nil {
				return &exitError{exitProblems, err}
			}
			_, err = fmt.Fprintln(a.stdout, answer)
			return failed(err)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", defaultHealthTimeout, "wait at most this `TIME` for the response")
	return cmd
}

// healthPage returns the page that an argument of health means.
func healthPage(argument string) (*url.URL, error) {
	page, err := url.Parse(argument)
	if err != nil || page.Scheme != "http" && page.Scheme != "https" || page.Host == "" {
		return nil, usagef("URL is %q; expected one like http://127.0.0.1:8080", argument)
	}
	if strings.Trim(page.Path, "/") == "" {
		page.Path = healthPath
	}
	return page, nil
}

// checkHealth requests the page and returns the first bytes of its answer. It
// returns an error that names the page unless the answer is HTTP 200.
func checkHealth(ctx context.Context, page *url.URL) (string, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// The probe asks this very machine and sends no secret.
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: loopback.Is(page.Hostname())}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, page.String(), nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		var failure *url.Error
		if errors.As(err, &failure) {
			err = failure.Err
		}
		return "", fmt.Errorf("%s: no answer: %w", page.Redacted(), err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxHealthAnswer))
	answer := strings.TrimSpace(string(body))
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: HTTP %s: %q", page.Redacted(), response.Status, answer)
	}
	if err != nil {
		return "", fmt.Errorf("%s: incomplete response: %w", page.Redacted(), err)
	}
	return answer, nil
}

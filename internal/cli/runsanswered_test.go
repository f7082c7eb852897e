package cli

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/runs"
)

func TestCommandsAskAgainUntilAWorkerAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		fails int // requests that no worker answers, 15 seconds each
		err   error
		asked int
		said  int
	}{
		"a worker answers":            {0, nil, 1, 0},
		"another worker answers":      {1, nil, 2, 1},
		"there is none":               {9, runs.ErrNoWorker, 2, 1},
		"a worker knows of no run":    {0, runs.ErrNotFound, 1, 0},
		"another one knows of no run": {1, runs.ErrNotFound, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stderr bytes.Buffer
				asked := 0
				err := reportAnswered(context.Background(), &app{terminal: terminal{stderr: &stderr}}, func() error {
					if asked++; asked > test.fails {
						return test.err
					}
					time.Sleep(15 * time.Second)
					return runs.ErrNoWorker
				})
				if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) || asked != test.asked || strings.Count(stderr.String(), "asking again") != test.said {
					t.Errorf("%v after %d requests: %s", err, asked, stderr.String())
				}
			})
		})
	}
}

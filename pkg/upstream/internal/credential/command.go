package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
)

const (
	maxTokenOutput = 1 << 20 // bytes that a tokenCommand may write
	commandGrace   = time.Second
)

// tokenCommand is a program that prints a token.
type tokenCommand struct {
	argv    []string
	setting string // its name in the config
	timeout time.Duration
	longer  string // the setting of the timeout
	redact  *redact.Redactor
}

// fetch runs the command.
func (c *tokenCommand) fetch(ctx context.Context, _ renewal) (Token, error) {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.WaitDelay = commandGrace
	var out, errs boundedBuffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	hint := "check " + c.setting
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it did not end within %v", c.timeout)
			hint += ", or raise " + c.longer
		}
		message := fmt.Sprintf("the command that prints its token failed: %v", err)
		if line := lastLine(errs.String()); line != "" {
			message += ": " + line
		}
		return Token{}, &Error{Message: c.redact.Text(message), Hint: hint}
	}
	t, err := parseToken(out.Bytes())
	if err != nil {
		return Token{}, &Error{Message: "the command that prints its token " + err.Error(), Hint: hint}
	}
	c.redact.Learn(t.Value)
	return t, nil
}

// parseToken reads the output of a tokenCommand: a token, or a JSON object with
// the fields token and expiresAt (RFC 3339, or seconds since 1970). Its errors
// say nothing of the output, which is a secret.
func parseToken(out []byte) (Token, error) {
	text := strings.TrimSpace(string(out))
	var t Token
	if strings.HasPrefix(text, "{") {
		var parsed struct {
			Token     string          `json:"token"`
			ExpiresAt json.RawMessage `json:"expiresAt"`
		}
		if err := json.Unmarshal([]byte(text), &parsed); err != nil {
			return Token{}, errors.New(`printed an object that is not {"token": "…", "expiresAt": "…"}`)
		}
		t.Value = parsed.Token
		if err := parseTime(parsed.ExpiresAt, &t.ExpiresAt); err != nil {
			return Token{}, err
		}
	} else {
		t.Value = text
	}
	switch {
	case t.Value == "":
		return Token{}, errors.New("printed no token")
	case !validHeaderValue(t.Value) || strings.ContainsAny(t.Value, " \t"):
		return Token{}, errors.New("printed something that cannot be a token: it has blanks or several lines")
	}
	return t, nil
}

func parseTime(raw json.RawMessage, to *time.Time) error {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) == nil {
		*to = time.UnixMilli(int64(seconds * 1000))
		return nil
	}
	if json.Unmarshal(raw, to) != nil {
		return errors.New("printed an expiresAt that is neither a time (RFC 3339) nor seconds since 1970")
	}
	return nil
}

// validHeaderValue reports whether s may be the value of an HTTP header (RFC 9110,
// 5.5).
func validHeaderValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// boundedBuffer keeps the start of what is written to it.
type boundedBuffer struct{ bytes.Buffer }

var _ io.Writer = (*boundedBuffer)(nil)

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxTokenOutput-b.Len())])
	return len(p), nil
}

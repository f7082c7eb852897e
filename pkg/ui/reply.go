package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// span is a range of UTF-16 code units.
type span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// apiError is the answer to a request that failed.
type apiError struct {
	Status   int       `json:"-"`
	Message  string    `json:"message"`
	Code     string    `json:"code,omitempty"`     // stable, such as "unauthorized", "wrong_state", "not_found"
	Problems []problem `json:"problems,omitempty"` // of a file
	At       *span     `json:"at,omitempty"`       // in the expression of eval
	// Fields are what is wrong with the arguments of a call.
	Fields []map[string]string `json:"fields,omitempty" ts:"{ path: string; message: string }[]"`
	// more stands beside the error in the answer.
	more map[string]any
}

// Error returns the message.
func (e *apiError) Error() string { return e.Message }

func badRequest(format string, args ...any) error {
	return &apiError{Status: http.StatusBadRequest, Code: "bad_request", Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &apiError{Status: http.StatusNotFound, Code: "not_found", Message: fmt.Sprintf(format, args...)}
}

func refused(code, format string, args ...any) error {
	return &apiError{Status: http.StatusConflict, Code: code, Message: fmt.Sprintf(format, args...)}
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, code, message string) {
	writeError(w, &apiError{Status: status, Code: code, Message: message})
}

// writeError answers with an error, which is one of the server unless it is an
// apiError.
func writeError(w http.ResponseWriter, err error) {
	var known *apiError
	if !errors.As(err, &known) {
		known = &apiError{Status: http.StatusInternalServerError, Code: "internal", Message: err.Error()}
	}
	body := map[string]any{"error": known}
	for k, v := range known.more {
		body[k] = v
	}
	writeJSON(w, known.Status, body)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer cannot be written as JSON"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// Bounds of bodies, in bytes.
const (
	maxCommand = 1 << 20
	maxText    = 10 << 20 // a file of language.MaxBytes, escaped
	maxImport  = 32 << 20
)

// readBody reads the body of a request, which has to come within bodyTime.
func readBody(w http.ResponseWriter, r *http.Request, most int64, types ...string) ([]byte, error) {
	got, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	ok := false
	for _, t := range types {
		ok = ok || t == got
	}
	if !ok {
		return nil, &apiError{Status: http.StatusUnsupportedMediaType, Code: "bad_content_type", Message: fmt.Sprintf("Content-Type is %q; expected %s", got, types[0])}
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &apiError{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Message: fmt.Sprintf("the body is longer than %d bytes", most)}
	case err != nil:
		return nil, &apiError{Status: http.StatusRequestTimeout, Code: "bad_request", Message: "the body did not come as a whole"}
	}
	_ = control.SetReadDeadline(time.Time{})
	return text, nil
}

// decode reads a JSON body into v, strictly.
func decode(w http.ResponseWriter, r *http.Request, most int64, v any) error {
	text, err := readBody(w, r, most, "application/json")
	if err != nil {
		return err
	}
	if err := strictJSON(text, v); err != nil {
		return badRequest("the body: %v", err)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }

package credential

// Error says that a call has not got the credential that it needs, or
// that the server does not accept it.
type Error struct {
	Message, Hint string
	Err           error // the server's answer; nil if it was not asked
}

// Error returns what is wrong, and what to do about it.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// Unwrap returns the server's answer.
func (e *Error) Unwrap() error { return e.Err }

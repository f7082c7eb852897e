package server

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"time"
)

// sessionLife is how long a session can be taken up after its initialize.
const sessionLife = 30 * 24 * time.Hour

// maxSessionID is the length of the longest id that is looked at, in bytes.
const maxSessionID = 1024

// sessionSeal makes ids of sessions that carry their state, so that any process with
// the same key can take a session up: the same program after a restart, or another
// replica. An id is encrypted and authenticated (AES-256-GCM), together with the name
// of the caller that it was made for. It is safe for concurrent use.
type sessionSeal struct {
	aead cipher.AEAD
	now  func() time.Time
}

// newSessionSeal returns the seal of a secret; without one, ids are worth nothing to
// another process.
func newSessionSeal(secret []byte) *sessionSeal {
	if len(secret) == 0 {
		secret = make([]byte, 32)
		_, _ = rand.Read(secret) // it never fails
	}
	key, err := hkdf.Key(sha256.New, secret, nil, "mcpgraph sessions", 32)
	if err != nil {
		panic(err) // the length is a constant that HKDF allows
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the same
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // the same
	}
	return &sessionSeal{aead, time.Now}
}

// The form of what is sealed: a byte for the form itself, one for the capabilities,
// eight for the time of initialize in seconds since 1970, and three texts, each behind
// a byte with its length.
const (
	sealedForm  = 1
	sealedStart = 10
	sealedText  = 64 // bytes; longer names of clients are cut
)

// sessionIDs are letters, digits, - and _ (MCP 2025-11-25, Transports, Session
// Management: visible ASCII). Strict: each id has one spelling.
var sessionIDs = base64.RawURLEncoding.Strict()

var errUnknownSession = errors.New("unknown session; send initialize again")

// seal returns the id of a new session.
func (s *sessionSeal) seal(state sessionState, caller string) string {
	text := make([]byte, sealedStart, 256)
	text[0] = sealedForm
	for i, can := range []bool{state.can.form, state.can.url, state.can.sampling, state.can.roots} {
		if can {
			text[1] |= 1 << i
		}
	}
	binary.BigEndian.PutUint64(text[2:], uint64(s.now().Unix()))
	for _, part := range []string{state.version, state.client.Name, state.client.Version} {
		part = part[:min(len(part), sealedText)]
		text = append(append(text, byte(len(part))), part...)
	}
	return sessionIDs.EncodeToString(s.aead.Seal(nil, nil, text, []byte(caller)))
}

// open returns the state in an id that was sealed with this key, for this caller, and
// not longer than sessionLife ago. Otherwise it returns errUnknownSession.
func (s *sessionSeal) open(id, caller string) (sessionState, error) {
	var state sessionState
	if len(id) > maxSessionID {
		return state, errUnknownSession
	}
	raw, err := sessionIDs.DecodeString(id)
	if err != nil {
		return state, errUnknownSession
	}
	text, err := s.aead.Open(nil, nil, raw, []byte(caller))
	if err != nil || len(text) < sealedStart || text[0] != sealedForm {
		return state, errUnknownSession
	}
	began := time.Unix(int64(binary.BigEndian.Uint64(text[2:])), 0)
	if s.now().Sub(began) > sessionLife {
		return state, errUnknownSession
	}
	for i, can := range []*bool{&state.can.form, &state.can.url, &state.can.sampling, &state.can.roots} {
		*can = text[1]&(1<<i) != 0
	}
	rest := text[sealedStart:]
	for _, part := range []*string{&state.version, &state.client.Name, &state.client.Version} {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return sessionState{}, errUnknownSession
		}
		*part, rest = clip(string(rest[1:1+rest[0]])), rest[1+rest[0]:]
	}
	return state, nil
}

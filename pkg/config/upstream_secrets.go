package config

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// What counts as a secret although it is written in the file. A value that does must
// not be a word that texts use, because it is redacted wherever it stands.
//
//   - The name says that it is a credential: GITHUB_TOKEN, X-Api-Key.
//   - The name says that it may be one, and it looks random: X-Key, ?sig=…
//   - It has the form that an issuer gives its tokens, whatever its name is.
//   - It is the password in an address.

// credentialWords appear in the names of credentials.
var credentialWords = []string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey"}

// isCredential reports whether a header, variable or parameter with this name
// holds a credential, even if its value is written in the file.
func isCredential(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	return slices.ContainsFunc(credentialWords, func(word string) bool { return strings.Contains(name, word) })
}

// keyWords are the last words of names that may be those of credentials.
var keyWords = []string{
	"key", "auth", "bearer", "credential", "credentials", "jwt", "pass", "passphrase", "passwd", "pat", "pwd", "sig", "signature",
}

// noSecretKeys are words before "key" in names of what everybody may know.
var noSecretKeys = []string{"public", "primary", "foreign", "partition", "cache", "sort", "group", "routing", "idempotency", "publishable"}

// mayBeCredential reports whether a value with this name may be a credential.
func mayBeCredential(name string) bool {
	words := wordsOf(name)
	n := len(words)
	return n > 0 && slices.Contains(keyWords, words[n-1]) && !(n > 1 && slices.Contains(noSecretKeys, words[n-2]))
}

// wordsOf splits a name such as X-Account-Key, account_key or accountKey.
func wordsOf(name string) []string {
	var split strings.Builder
	before := rune(0)
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			split.WriteByte(' ')
		}
		split.WriteRune(r)
		before = r
	}
	return strings.FieldsFunc(strings.ToLower(split.String()), isNoAlphanumeric)
}

func isNoAlphanumeric(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// minNamedSecret is the shortest value of a variable or parameter that counts
// as a secret because of its name: MAX_TOKENS=100 is none.
const minNamedSecret = 8

// minRandomPart is the shortest part of a value that can make it look random.
const minRandomPart = 6

// looksRandom reports whether people would not choose a value: a part of it mixes
// letters and digits. Paths, addresses and texts of several words are chosen.
func looksRandom(val string) bool {
	isPath := strings.HasPrefix(val, "/") || strings.HasPrefix(val, ".") || strings.HasPrefix(val, "~") || strings.Contains(val, `:\`)
	if len(val) < minNamedSecret || isPath || strings.Contains(val, "://") || strings.ContainsFunc(val, unicode.IsSpace) {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(val, isNoAlphanumeric), func(part string) bool {
		return len(part) >= minRandomPart && strings.ContainsFunc(part, unicode.IsLetter) && strings.ContainsFunc(part, unicode.IsDigit) && !isNumbered(part)
	})
}

// isNumbered reports whether a part is one of a name, version or time: sha256,
// report2024, 100000ms.
func isNumbered(part string) bool {
	word := strings.TrimRightFunc(part, unicode.IsDigit)
	unit := strings.TrimLeftFunc(part, unicode.IsDigit)
	return len(part)-len(word) <= 4 && !strings.ContainsFunc(word, unicode.IsDigit) ||
		len(unit) <= 2 && !strings.ContainsFunc(unit, unicode.IsDigit)
}

// issuedPrefixes begin tokens whose issuers mark them: those of GitHub, GitLab, Slack,
// OpenAI and Anthropic, Stripe, AWS, Google, npm and Hugging Face.
var issuedPrefixes = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xapp-", "sk-",
	"sk_live_", "rk_live_", "sk_test_", "rk_test_", "AKIA", "ASIA", "AIza", "ya29.", "npm_", "hf_",
}

// minIssued is the length of the shortest of these tokens.
const minIssued = 20

// isIssued reports whether a value has the form of a token: that of a known issuer, or
// that of a JSON Web Token (RFC 7519).
func isIssued(val string) bool {
	if len(val) < minIssued || strings.ContainsFunc(val, func(r rune) bool { return isNoAlphanumeric(r) && !strings.ContainsRune("-_.", r) }) {
		return false
	}
	return strings.HasPrefix(val, "eyJ") && strings.Count(val, ".") == 2 ||
		slices.ContainsFunc(issuedPrefixes, func(prefix string) bool { return strings.HasPrefix(val, prefix) }) && strings.ContainsFunc(val, unicode.IsDigit)
}

// secretNames are the last words of names of arguments that hold secrets.
var secretNames = []string{
	"password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "credential", "credentials", "authorization",
	"apikey", "jwt", "cookie", "otp", "totp", "bearer",
}

// keyNames are the words before "key" in names of arguments that hold secrets.
var keyNames = []string{"api", "access", "secret", "private", "auth", "encryption", "signing", "account", "master", "license"}

// placeNames are the words before "token" in names of arguments that say where to go on.
var placeNames = []string{
	"page", "next", "previous", "prev", "continuation", "continue", "sync", "cursor", "start", "end", "stop", "resume", "progress", "max", "change",
}

// NamesSecret reports whether an argument with this name holds a secret: clientSecret,
// api_key and X-Auth-Token do, page_token and publicKey do not.
func NamesSecret(name string) bool {
	last, before := name, ""
	if strings.ContainsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }) { // else it is one word, as most names are
		words := wordsOf(name)
		if len(words) == 0 {
			return false
		}
		if last = words[len(words)-1]; len(words) > 1 {
			before = words[len(words)-2]
		}
	}
	switch last {
	case "token":
		return !slices.Contains(placeNames, before)
	case "key":
		return slices.Contains(keyNames, before)
	}
	return slices.Contains(secretNames, last)
}

// addNamedSecret adds what is secret in the value of a variable or parameter.
func addNamedSecret(s *section, name, val string) {
	switch {
	case isCredential(name) && len(val) >= minNamedSecret, mayBeCredential(name) && looksRandom(val):
		s.addSecret(val)
	default:
		addSecretOf(s, val)
	}
}

// addSecretOf adds what is secret in a value whatever its name is.
func addSecretOf(s *section, val string) {
	if isIssued(val) || strings.Contains(val, "PRIVATE KEY-----") {
		s.addSecret(val)
		return
	}
	if !strings.Contains(val, "://") {
		return
	}
	if u, err := url.Parse(val); err == nil && u.User != nil {
		if password, _ := u.User.Password(); len(password) >= minNamedSecret && password != u.User.Username() {
			s.addSecret(password)
		}
	}
}

// addHeaderSecret adds what is secret in a header. Of "Bearer TOKEN" that is the
// token: it may appear without the scheme.
func addHeaderSecret(s *section, h Header) {
	_, secret, found := strings.Cut(h.Value, " ")
	if !found {
		secret = h.Value
	}
	if isCredential(h.Name) {
		s.addSecret(secret)
	} else {
		addNamedSecret(s, h.Name, secret)
	}
}

// nonSecretSuffixes end the names of options that locate a credential without
// containing it.
var nonSecretSuffixes = []string{"file", "path", "dir", "env", "url", "command"}

// addArgumentSecrets adds the credentials among the arguments of a program:
// --token=VALUE, and --token VALUE if VALUE is not an option.
func addArgumentSecrets(s *section, args []string) {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			addSecretOf(s, arg)
			continue
		}
		name, val, found := strings.Cut(arg, "=")
		if !found && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			val = args[i+1]
		}
		if !slices.ContainsFunc(nonSecretSuffixes, func(word string) bool { return strings.HasSuffix(name, word) }) {
			addNamedSecret(s, name, val)
		}
	}
}

package config

import (
	"slices"
	"strings"
	"unicode"
)

// NamesSecret reports whether a variable, a header, a flag or a parameter of this name
// holds a secret: DB_PASSWORD, PGPASSWORD, apiKey, --token; but not TOKEN_LIMIT.
func NamesSecret(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if notSecret[last] || slices.ContainsFunc(words, func(w string) bool { return amount[w] }) {
		return false
	}
	if last == "key" || last == "keys" {
		return len(words) == 1 || !openKey[words[len(words)-2]]
	}
	return slices.ContainsFunc(words, func(w string) bool { return secretWord[w] || runTogether(w) })
}

// onlyAuth reports whether a name speaks of nothing more than how somebody proves who
// he is, so that its value may be the name of a method.
func onlyAuth(name string) bool {
	for _, w := range wordsOf(name) {
		if (secretWord[w] || runTogether(w)) && !authWord[w] {
			return false
		}
	}
	return true
}

// runTogether reports whether a word is a name that was written without a border:
// PGPASSWORD, MYTOKEN.
func runTogether(word string) bool {
	for _, s := range []string{"password", "passwd", "passphrase", "apikey"} {
		if strings.Contains(word, s) {
			return true
		}
	}
	for _, s := range []string{"token", "secret", "pwd", "accesskey", "secretkey", "privatekey", "authkey", "credentials"} {
		if strings.HasSuffix(word, s) {
			return true
		}
	}
	return false
}

var (
	secretWord = words(`token tokens secret secrets password passwords passwd passphrase passcode pass pwd pw credential credentials creds cred
		apikey apikeys bearer auth authorization cookie cookies pat psk jwt privatekey sig signature`)
	authWord = words("auth authorization")
	// notSecret are last words that make a name harmless: TOKEN_LIMIT, KEY_FILE.
	notSecret = words(`file files path dir directory folder url uri host port endpoint server domain limit max min count size length ttl timeout
		interval window expiry expires expiration age type id name user username email mode enabled disabled required budget method scheme scope
		scopes provider issuer audience realm version policy format encoding algorithm alg retries store storage cache prefix`)
	// amount are words of names that count tokens.
	amount = words("max min num number total")
	// openKey are words before key that make it no secret.
	openKey = words("public publishable primary foreign sort partition row group hot shortcut map cache")
)

// wordsOf cuts a name into words in lower case, at what is no letter and where a capital
// follows a small letter or begins a word after several.
func wordsOf(name string) []string {
	var out []string
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		letters := []rune(part)
		start := 0
		for i := 1; i < len(letters); i++ {
			before, here := unicode.IsUpper(letters[i-1]), unicode.IsUpper(letters[i])
			ends := i+1 < len(letters) && unicode.IsLower(letters[i+1])
			if here && (!before || ends) {
				out = append(out, strings.ToLower(string(letters[start:i])))
				start = i
			}
		}
		out = append(out, strings.ToLower(string(letters[start:])))
	}
	return out
}

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

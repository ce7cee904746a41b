package config

import (
	"regexp"
	"strings"
	"unicode"
)

// secretUnder reports whether a literal is a secret under this name. What stands under
// the name of a secret is one whatever it looks like: real passwords are short, common,
// and read like an example of one.
func secretUnder(name, v string) bool {
	return secretValue(v) || NamesSecret(name) && !open(name, v)
}

var (
	// issued are the beginnings of credentials that a service made.
	issued = regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])(?:` +
		`(?:gh[pousr]_|github_pat_|glpat-|sk-|sk_live_|sk_test_|rk_live_|xox[abeprs]-|xapp-|AKIA|ASIA|AIza|npm_|hf_|pypi-|ntn_|lin_api_|figd_|SG\.|gsk_|xai-|pplx-|r8_|` +
		`dop_v1_|shpat_|glsa_|dckr_pat_|ATATT3x|tvly-|lsv2_pt_|nvapi-|sbp_|apify_api_|GOCSPX-|ya29\.|hvs\.|dp\.pt\.|eyJ[A-Za-z0-9_-]{8,}\.)[A-Za-z0-9_.-]{12,}` +
		`|hooks\.slack\.com/services/[A-Za-z0-9/]{20,}|discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,})`)
	// carried is a token behind the word that says how it is meant: alone, or in a text
	// if it is long enough to be none.
	carried    = regexp.MustCompile(`(?i)^(?:Bearer|Basic|Token|ApiKey) +\S{6,}$|\bBearer +[A-Za-z0-9._~+/=-]{16,}`)
	privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)
	urlLogin   = regexp.MustCompile(`://[^/\s:@]*:[^/\s@]+@`)
)

// secretValue reports whether a literal looks like a secret by itself.
func secretValue(v string) bool {
	return issued.MatchString(v) || carried.MatchString(v) || privateKey.MatchString(v) || urlLogin.MatchString(v)
}

var (
	// switched are values that turn something on or off, or say that there is none.
	switched = words("true false yes no on off none null nil undefined 0 1")
	// methods are names of ways to prove who one is.
	methods = words("basic bearer digest oauth oauth2 oidc saml sso jwt token apikey api-key ntlm kerberos mtls anonymous enabled disabled required optional auto default")
	// location is a path or a URL, by its beginning, and bareFile the name of a file.
	location = regexp.MustCompile(`^(?:\.{1,2}/|~/|/|[A-Za-z]:\\|\\\\|(?i:https?|wss?|file)://)[^\s?&=+!*'"<>|;]*$`)
	bareFile = regexp.MustCompile(`(?i)^[\w./-]+\.(?:pem|key|crt|cer|der|p12|pfx|jks|json|ya?ml|toml|ini|env|txt|pub)$`)
	// shellRef is what a shell or a host replaces by a variable.
	shellRef = regexp.MustCompile(`^(?:\$[A-Z_][A-Z0-9_]*|\$[({].*|%[A-Z_][A-Z0-9_]*%)$`)
	// flagForm is a flag: the one before it takes no value.
	flagForm = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9-]*(?:=.*)?$`)
)

// open reports whether a value is none that anybody keeps secret, though its name is
// that of a secret: nothing, a switch, a path, a URL, a variable of a shell.
func open(name, v string) bool {
	v = strings.TrimSpace(v)
	low := strings.ToLower(v)
	switch {
	case v == "", switched[low], shellRef.MatchString(v), onlyAuth(name) && methods[low]:
		return true
	}
	return (location.MatchString(v) || bareFile.MatchString(v)) && !strings.ContainsFunc(v, unicode.IsControl) && !hasRandom(v)
}

// hasRandom reports whether a part of a path looks as if a machine had drawn it: no
// person gives a file such a name, and some secrets begin with a slash.
func hasRandom(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune(`/\.-_:@`, r) }) {
		if random(part) {
			return true
		}
	}
	return false
}

// random reports whether a word changes between small letters, capitals and digits more
// often than names do.
func random(word string) bool {
	if len(word) < 8 {
		return false
	}
	kind := func(r rune) int {
		switch {
		case unicode.IsDigit(r):
			return 1
		case unicode.IsUpper(r):
			return 2
		}
		return 3
	}
	changes, before := 0, 0
	seen := map[int]bool{}
	for _, r := range word {
		k := kind(r)
		if seen[k] = true; before != 0 && k != before {
			changes++
		}
		before = k
	}
	return len(seen) == 3 && changes*3 >= len(word)
}

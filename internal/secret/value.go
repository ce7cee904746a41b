package secret

import (
	b64 "encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// value judges what stands at start to end as the value of a name of this level.
func (s *scan) value(l level, start, end int, how manner) {
	for start < end && strings.IndexByte(" \t\r\n", s.text[start]) >= 0 {
		start++
	}
	for start < end && strings.IndexByte(" \t\r\n", s.text[end-1]) >= 0 {
		end--
	}
	v := s.text[start:end]
	if l == none || len(v) < 3 || l == password && len(v) > longestPassword || placeholder(v, how) {
		return
	}
	if code(v, how) {
		return
	}
	switch l {
	case cookie:
		s.cookies(start, end, how)
		return
	case auth:
		s.header(start, end)
		return
	case phrase:
		if words := wordsOf(v); words > 0 {
			s.add("keyed", start, end)
			return
		}
	}
	if fits(l, v, how) {
		s.add("keyed", start, end)
	}
}

func fits(l level, v string, how manner) bool {
	switch l {
	case weak:
		return len(v) >= 24 && opaque.all(v) && digits(v) > 0 && strings.ToLower(v) != v && strings.ToUpper(v) != v && mixed(v)
	case session:
		return !isUUID(v) && (len(v) >= 24 && hex.all(v) || len(v) >= 20 && tokenLike(v))
	case query:
		return len(v) >= 16 && opaque.all(v)
	case token:
		return tokenLike(v) || how != prose && isMachineKey(v)
	case password, phrase:
		return passwordLike(v, how)
	case pin:
		return len(v) >= 3 && len(v) <= 8 && digit.all(v) && how != prose
	case card:
		return luhn(v)
	}
	return false
}

// longestPassword is more than systems take.
const longestPassword = 256

// passwordLike reports whether v may be a password. Anything may be one: what is left
// out are words and expressions that stand where a password would.
func passwordLike(v string, how manner) bool {
	least := 4
	if how == bare || how == prose {
		least = 6
	}
	if len(v) < least || len(v) > longestPassword || strings.IndexFunc(v, unicode.IsSpace) >= 0 || constant(v) {
		return false
	}
	if digit.all(v) {
		return how != prose
	}
	if (how == bare || how == prose) && strings.ContainsFunc(v, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	}) {
		return false // a sentence: these have no blanks between words
	}
	if plain := letters(v); plain {
		switch {
		case how == bare || how == prose:
			return mixed(v)
		case upper.has(v[0]) && !strings.ContainsFunc(v[1:], unicode.IsUpper):
			return false // a label
		}
		return len(v) >= 6 && !names(v)
	}
	if sep := strings.IndexFunc(v, func(r rune) bool { return !unicode.IsLetter(r) && !strings.ContainsRune("-_.:,/|+", r) }); sep < 0 {
		return how != bare && how != prose && !names(v) // words with separators
	}
	if strings.Contains(v, "/") && path.all(v) && how != exact && how != line && how != flag {
		return mixed(v)
	}
	return (how != bare && how != prose) || !names(v) || strings.ContainsAny(v, "!@#$%^&*")
}

// letters reports whether v has nothing else.
func letters(v string) bool {
	return strings.IndexFunc(v, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// names reports whether v speaks of secrets itself: user_password, db-secret.
func names(v string) bool {
	v = strings.ToLower(v)
	for _, w := range [...]string{"pass", "pwd", "secret", "token", "key", "cred", "auth"} {
		if strings.Contains(v, w) {
			return true
		}
	}
	return false
}

// tokenLike reports whether v looks made by a machine: digits among letters, or letters
// that turn from case to case, in some part of it.
func tokenLike(v string) bool {
	if len(v) < 8 || len(v) > longest || strings.Contains(v, "://") || dated(v) || constant(v) {
		return false
	}
	for i := range len(v) {
		if v[i] <= ' ' || v[i] >= 0x7f {
			return false
		}
	}
	if isUUID(v) || len(v) >= 16 && anyHex.all(v) {
		return true
	}
	if isPath(v) {
		return false
	}
	least := 6
	if strings.ContainsAny(v, "-_./:") {
		least = 8
	}
	return randomPart(v, least) || len(v) >= 24 && digits(v) >= 2 && turns(v)*6 >= len(v) && !isName(v)
}

// isMachineKey is for long values that happen to have no digit in a part of their own:
// base64 with its other letters.
func isMachineKey(v string) bool {
	return len(v) >= 24 && base64Class.all(v) && mixed(v)
}

const base64Class = base64 | dash | underscore

// isName reports whether v is words and numbers with separators between them.
func isName(v string) bool {
	for _, p := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_./:@", r) }) {
		if d := digits(p); d > 0 && d < len(p) && len(p) > 4 {
			return false
		}
	}
	return true
}

// isPath reports whether v is the path of a file.
func isPath(v string) bool {
	if strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/") || len(v) > 2 && v[1:3] == `:\` {
		return true
	}
	return v[0] == '/' && strings.Count(v, "/") > 1 && !strings.ContainsAny(v, "+=")
}

// dated reports whether v begins like a date.
func dated(v string) bool {
	return len(v) >= 10 && v[4] == '-' && v[7] == '-' && digit.all(v[:4]) && digit.all(v[5:7]) && digit.all(v[8:10])
}

// constant reports whether v is a number of a program or a version: 0xc0506617, ^1.2.1.
func constant(v string) bool {
	if strings.Contains(v, ".") && (digit | dot).all(strings.TrimLeft(v, "^~v=")) {
		return true
	}
	v = strings.TrimLeft(v, "-")
	return len(v) < 40 && (strings.HasPrefix(v, "0x") || strings.HasPrefix(v, "0X")) && anyHex.all(v[2:])
}

func isUUID(v string) bool {
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' && uuid.all(v)
}

// placeholder reports whether v says that a secret belongs there.
func placeholder(v string, how manner) bool {
	if filler(v) {
		return true
	}
	switch {
	case v[0] == '<' || v[0] == '{' && v[len(v)-1] == '}' || v[0] == '[' && v[len(v)-1] == ']' || v[0] == '(':
		return true
	case strings.Contains(v, "${") || strings.Contains(v, "{{") || strings.Contains(v, "$(") || strings.Contains(v, "#{") || strings.Contains(v, "%("):
		return true
	case v[0] == '%' && (len(v) < 4 || v[len(v)-1] == '%'):
		return true
	case v[0] == '$' && nameByte.all(v[1:]) && (len(v) < 3 || !digit.has(v[1])), v[0] == ':' && nameByte.all(v[1:]), v[0] == '@' && how != exact && nameByte.all(v[1:]):
		return true
	case strings.HasPrefix(v, "!") && how == bare && lower.all(v[1:]):
		return true
	case strings.Contains(v, "://") || strings.HasPrefix(v, "env:") || strings.HasPrefix(v, "file:") || strings.HasPrefix(v, "vault:") || strings.HasPrefix(v, "arn:") || strings.HasPrefix(v, "op:") || strings.HasPrefix(v, "urn:"):
		return true
	case (isPath(v) || plainPath(v)) && !strings.ContainsAny(v[1:], "!#$%^&*"):
		return true
	case strings.ToUpper(v) == v && strings.Contains(v, "_") && word.all(v) && names(v):
		return true // the name of a variable
	}
	return dummies[strings.ToLower(strings.TrimFunc(v, func(r rune) bool { return !unicode.IsLetter(r) }))]
}

// filler reports whether v is made to fill a place, in any format.
func filler(v string) bool {
	low := strings.ToLower(v)
	for _, w := range [...]string{"example", "placeholder", "redacted", "your", "xxxx", "****", "....", "dummy", "changeme", "change-me", "change_me", "replace", "insert", "<", "••", "…", "0000000000", "1111111111", "my_api", "my-api", "fake", "&lt;", "&#x3c;"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	if strings.HasSuffix(v, "...") || strings.Trim(v, "*xX.-_#?•") == "" {
		return true
	}
	return same(v)
}

// same reports whether v is one or two bytes over and over.
func same(v string) bool {
	if len(v) < 8 {
		return false
	}
	seen := [256]bool{}
	n := 0
	for i := range len(v) {
		if !seen[v[i]] {
			seen[v[i]] = true
			n++
		}
	}
	return n <= 2 || len(v) >= 20 && n <= 4
}

// dummies are words that stand where a secret would, or say something about one.
var dummies = set(`password passwd pass pwd passphrase secret token key apikey changeme changeit admin root guest user username
	test testing foo bar foobar string str text value none null nil undefined true false yes no on off required optional
	invalid incorrect missing empty unset default hidden masked prompt unknown na n/a tbd todo enabled disabled
	mysecretpassword secretpassword mypassword mysecret supersecret somepassword postgres mysql redis mongo mongodb rabbitmq
	number object array boolean integer any bytes char varchar int function see ask stdin env file vault keyring auto generated
	plain basic bearer private public expired valid active pending never always must should wrong is not the a an and or
	input output output cookie session auth login hash hashed encrypted encryption plaintext field label type name id self this
	let const var new return await async import from str void unchanged same provided given omitted absent sensitive confidential
	options option flag flags argument arguments parameter sample demo anonymous anoncvs expires expired obscured visible show hide reset forgot`)

// code reports whether v is an expression of a program.
func code(v string, how manner) bool {
	if how == exact || how == flag || how == line {
		return false
	}
	if how == quoted {
		return strings.Contains(v, `\x`) || strings.Contains(v, `\0`)
	}
	if (strings.ContainsAny(v, "()[]{}") || strings.Contains(v, "->") || strings.Contains(v, "::") || strings.Contains(v, "=>")) && !strings.Contains(v, "%") {
		return true
	}
	if (v[0] == '&' || v[0] == '*') && nameByte.all(v[1:]) {
		return true
	}
	if !nameByte.all(v) || !word.has(v[0]) {
		return false
	}
	// config.password, user_name, MESH_AUTH, testPrivateKey2, onLastEvent
	return digits(v) == 0 && strings.ContainsAny(v, "._") || names(v) && how == bare ||
		strings.Contains(v, "_") && strings.ToUpper(v) == v || digits(v) == 0 && turns(v)*2 < len(v) && how == bare && len(v) > 8 && lower.has(v[0])
}

// wordsOf returns how many words a phrase has, 0 where it is none: a sentence is not.
func wordsOf(v string) int {
	fields := strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == '-' })
	if len(fields) < 3 {
		return 0
	}
	for _, w := range fields {
		if !lower.all(w) || dummies[w] || len(w) < 3 || sentence[w] {
			return 0
		}
	}
	return len(fields)
}

var sentence = set("for with that this your you are was has have will can may enter used use which when than then into only least characters required protected protect key keys set get from been")

// header judges the value of a header for authorization: a scheme and what follows.
func (s *scan) header(start, end int) {
	v := s.text[start:end]
	scheme, rest, ok := strings.Cut(v, " ")
	if ok && letter.all(strings.ReplaceAll(scheme, "-", "")) {
		at := end - len(strings.TrimLeft(rest, " "))
		v = s.text[at:end]
		if n := strings.IndexAny(v, " ,;"); n >= 0 {
			v = v[:n]
		}
		start = at
	} else if n := strings.IndexAny(v, " ,;"); n >= 0 {
		v = v[:n]
	}
	v = strings.TrimPrefix(v, "token=")
	if len(v) < 8 || placeholder(v, exact) {
		return
	}
	if strings.EqualFold(scheme, "basic") && basic(v) || basic(v) || len(v) >= 12 && tokenLike(v) || ok && knownSchemes[strings.ToLower(scheme)] && (tokenLike(v) || isMachineKey(v)) {
		s.add("authorization", start, start+len(v))
	}
}

var knownSchemes = set("bearer basic token apikey api-key key bot ssws splunk genie")

// basic reports whether v is a user and a password in base64.
func basic(v string) bool {
	b, err := base64Of(v).DecodeString(strings.TrimRight(v, "="))
	if err != nil || len(v) < 8 {
		return false
	}
	user, pass, ok := strings.Cut(string(b), ":")
	return ok && printable(user) && printable(pass) && pass != "" && !placeholder(pass+"   ", exact)
}

func printable(v string) bool {
	if !utf8.ValidString(v) {
		return false
	}
	return strings.IndexFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

func base64Of(v string) *b64.Encoding {
	if strings.ContainsAny(v, "-_") {
		return b64.RawURLEncoding
	}
	return b64.RawStdEncoding
}

// cookies judges the pairs of a cookie header.
func (s *scan) cookies(start, end int, how manner) {
	for start < end {
		stop := end
		if n := strings.IndexByte(s.text[start:end], ';'); n >= 0 {
			stop = start + n
		}
		if name, v, ok := strings.Cut(s.text[start:stop], "="); ok && strings.Trim(v, "=") != "" {
			at := stop - len(v)
			v = strings.TrimRight(v, " ,")
			name = strings.ToLower(strings.TrimSpace(name))
			if len(v) >= 8 && !attributes[name] && !placeholder(v, exact) && tokenLike(v) && (len(v) >= 16 || keyLevel(name) != none) {
				s.add("cookie", at, at+len(v))
			}
		} else if whole := s.text[start:stop]; opaque.all(whole) && tokenLike(whole) && stop-start >= 20 && (how != bare || digits(whole) > 1) {
			s.add("cookie", start, stop)
		}
		start = stop + 1
	}
}

var attributes = set("path domain expires max-age samesite secure httponly priority version comment")

// luhn reports whether v is the number of a payment card.
func luhn(v string) bool {
	sum, n := 0, 0
	for i := len(v) - 1; i >= 0; i-- {
		if v[i] == ' ' || v[i] == '-' {
			continue
		}
		if !digit.has(v[i]) {
			return false
		}
		d := int(v[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n >= 13 && n <= 19 && sum%10 == 0 && v[0] >= '2' && v[0] <= '6'
}

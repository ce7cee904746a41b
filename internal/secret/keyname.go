package secret

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
)

// level is what a name says of its value, and so how a value is judged.
type level uint8

const (
	none     level = iota
	weak           // a key of something: only what is random through and through
	session        // an identifier that lets in whoever has it
	query          // a signature, in the query of a URL alone
	token          // what a machine made: a key, a token, a secret
	cookie         // the header: pairs, some of which let in
	auth           // a header with a scheme before the token
	pin            // a few digits
	card           // digits with a checksum
	password       // what a person may have chosen
	phrase         // words with spaces between
)

// Key reports whether the name of a member, variable, header or flag says that its value
// is a secret: password, apiKey, DB_PASS, X-Auth-Token, 密码; but not max_tokens,
// passwordPolicy, next_page_token, public_key.
func Key(name string) bool {
	l := keyLevel(name)
	return l > weak && l != query
}

// longestName is how much of a name counts: its end.
const longestName = 96

// names of words, by what they say alone.
var (
	passwordWords = set("password passwords passwd pwd pw psk passcode passkey psw pswd passwort kennwort contrasena clave senha motdepasse mdp parola wachtwoord haslo losenord salasana sifre heslo jelszo adgangskode passord sandi")
	phraseWords   = set("passphrase mnemonic")
	tokenWords    = set("secret secrets token tokens apikey apikeys secretkey privatekey accesskey authkey authtoken accesstoken jwt bearer pat credential credentials creds cred keytab")
	authWords     = set("auth authorization authentication authn")
	cookieWords   = set("cookie cookies")
	sessionWords  = set("sid phpsessid jsessionid sessionid sessid session csrftoken xsrftoken")
	pinWords      = set("pin otp totp cvv cvc cvv2 cvc2 csc")
	cardWords     = set("cardnumber cardno ccnumber ccnum creditcard pan")
	queryWords    = set("sig signature sign hmac")

	// noise ends a name without a meaning of its own.
	noise = set("value val string str text plain plaintext plain raw new old current confirm confirmation confirmed repeat again prod production dev development test testing staging stage live sandbox backup primary secondary main default base64 b64 encoded encrypted hex v a b one two header param arg env var data")
	// keyKinds make a key a secret: api_key, but not sort_key.
	keyKinds = set("wlan wifi wpa wep api access secret private encryption encrypt decryption decrypt signing sign master account shared auth authentication service license storage session root admin deploy ssh rsa dsa ecdsa ed25519 aes des hmac crypto cipher subscription functions function webhook jwt consumer app application client x server user write read integration developer dev merchant pay payment wallet seed security rest ingest ingestion publish management personal stripe openai anthropic gemini aws azure gcp github gitlab slack twilio sendgrid mailgun datadog sentry algolia deepseek mistral groq cohere")
	// notTokens make a token something that is no secret.
	notTokens = set("page next previous prev continuation continue sync pagination cursor pad bos eos mask unk sep cls special stop start end cancellation cancel design input output prompt completion max min num number n per total cached image audio text first last scroll resume resumption skip delta change watch collection progress batch position count used remaining available avg reasoning vision thinking context window erc20 nft gas pool lp syntax lexer parse parser reserved keyword current cache idempotency")
	// firsts begin the names of settings and messages about secrets.
	firsts = set("has is no use uses require requires required forgot forgotten show hide enable disable enabled disabled allow allows needs should with without supports missing invalid wrong bad incorrect expired max min public publishable number num count total primary foreign")
)

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// keyLevel judges a name.
func keyLevel(name string) level {
	if len(name) < 2 {
		return none
	}
	if len(name) > longestName {
		name = name[len(name)-longestName:]
	}
	for i := range len(name) {
		if name[i] >= 0x80 {
			return foreignLevel(name)
		}
	}
	var words nameWords
	words.split(name)
	return words.level()
}

// nameWords are the words of a name, in lower case.
type nameWords struct {
	low  [longestName]byte
	from [24]uint8
	to   [24]uint8
	n    int
}

// split takes a name apart at separators, digits and humps: APIKey2 is api, key.
func (w *nameWords) split(name string) {
	open := false
	for i := range len(name) {
		c := classOf(name[i])
		b := name[i]
		w.low[i] = b
		switch {
		case c&upper != 0:
			w.low[i] = b + 'a' - 'A'
			after := i > 0 && lower.has(name[i-1]) ||
				i > 0 && upper.has(name[i-1]) && i+1 < len(name) && lower.has(name[i+1]) && !plural(name, i+1)
			if after {
				open = false
			}
		case c&lower == 0:
			open = false
			continue
		}
		if !open {
			if w.n == len(w.from) {
				copy(w.from[:], w.from[1:])
				copy(w.to[:], w.to[1:])
				w.n--
			}
			w.from[w.n] = uint8(i)
			w.n++
			open = true
		}
		w.to[w.n-1] = uint8(i + 1)
	}
}

// plural reports whether a lower case s at i only ends a word in capitals: APIKEYs.
func plural(name string, i int) bool {
	return name[i] == 's' && (i+1 == len(name) || !letter.has(name[i+1]))
}

// word returns the i-th word, counted from the end.
func (w *nameWords) word(i int) []byte {
	if i >= w.n {
		return nil
	}
	i = w.n - 1 - i
	return w.low[w.from[i]:w.to[i]]
}

func (w *nameWords) level() level {
	for w.n > 1 && noise[string(w.word(0))] {
		w.n--
	}
	if w.n == 0 || w.n > 1 && firsts[string(w.word(w.n-1))] {
		return none
	}
	last, prev := w.word(0), string(w.word(1))
	if prev == "public" || prev == "publishable" {
		return none
	}
	switch string(last) {
	case "key", "keys":
		return keyOf(prev)
	case "pass":
		return password
	case "phrase", "word", "passe", "id", "number", "no", "num", "card", "code", "codes", "seed":
		return together[[2]string{prev, string(last)}]
	}
	return wordLevel(last, prev)
}

// together are words that mean something only with the one before them.
var together = map[[2]string]level{
	{"pass", "phrase"}: phrase, {"seed", "phrase"}: phrase, {"recovery", "phrase"}: phrase, {"secret", "phrase"}: phrase, {"mnemonic", "phrase"}: phrase,
	{"wallet", "seed"}: phrase, {"hd", "seed"}: phrase,
	{"pass", "word"}: password, {"de", "passe"}: password,
	{"session", "id"}: session, {"sess", "id"}: session,
	{"card", "number"}: card, {"card", "no"}: card, {"card", "num"}: card, {"cc", "number"}: card, {"cc", "num"}: card, {"credit", "card"}: card, {"debit", "card"}: card,
	{"security", "code"}: pin, {"pin", "code"}: pin, {"pass", "code"}: pin,
	{"recovery", "code"}: token, {"backup", "code"}: token, {"recovery", "codes"}: token, {"backup", "codes"}: token,
}

// wordLevel judges by the last word, or what it ends with where words are glued.
func wordLevel(last []byte, prev string) level {
	switch {
	case passwordWords[string(last)]:
		return password
	case phraseWords[string(last)]:
		return phrase
	case tokenWords[string(last)]:
		if strings.HasPrefix(string(last), "token") && notTokens[prev] {
			return none
		}
		if string(last) == "pat" && prev == "" {
			return weak
		}
		return token
	case authWords[string(last)]:
		return auth
	case cookieWords[string(last)]:
		return cookie
	case sessionWords[string(last)]:
		return session
	case pinWords[string(last)]:
		return pin
	case cardWords[string(last)]:
		return card
	case queryWords[string(last)]:
		return query
	}
	return gluedLevel(last)
}

// gluedLevel is for names in one piece: dbpassword, accesstoken.
func gluedLevel(last []byte) level {
	for _, g := range glued {
		if head, ok := bytes.CutSuffix(last, g.end); ok {
			if g.heads != nil && !g.heads[string(head)] || notTokens[string(head)] || firsts[string(head)] {
				return none
			}
			return g.level
		}
	}
	return none
}

var glued = []struct {
	end   []byte
	level level
	heads map[string]bool // nil for all
}{
	{end: []byte("password"), level: password},
	{end: []byte("passwd"), level: password},
	{end: []byte("passwort"), level: password},
	{end: []byte("pwd"), level: password},
	{end: []byte("pass"), level: password, heads: set("db user smtp my mail ftp admin root proxy auth http login redis mysql pg sql ssh ldap require")},
	{end: []byte("token"), level: token},
	{end: []byte("secret"), level: token},
	{end: []byte("key"), level: token, heads: set("api secret private access auth myapi secretaccess encryption signing master account")},
}

// keyOf judges a name that ends in key.
func keyOf(prev string) level {
	switch {
	case prev == "" || prev == "verifier" || prev == "verify":
		return none
	case keyKinds[prev]:
		return token
	}
	return weak // OPENAI_KEY, but also CACHE_KEY
}

// foreign are words for passwords and keys in other scripts and with accents.
var foreign = []struct {
	word  string
	level level
}{
	{"密码", password}, {"密碼", password}, {"口令", password}, {"パスワード", password}, {"暗証番号", pin},
	{"비밀번호", password}, {"암호", password}, {"пароль", password}, {"contraseña", password}, {"şifre", password},
	{"hasło", password}, {"lösenord", password}, {"mật khẩu", password}, {"รหัสผ่าน", password}, {"पासवर्ड", password},
	{"סיסמה", password}, {"كلمة المرور", password}, {"كلمة السر", password}, {"κωδικός", password}, {"гасло", password},
	{"密钥", token}, {"密鑰", token}, {"秘钥", token}, {"秘鑰", token}, {"私钥", token}, {"私鑰", token}, {"令牌", token}, {"凭证", token}, {"凭据", token}, {"憑證", token},
	{"秘密鍵", token}, {"トークン", token}, {"シークレット", token}, {"apiキー", token}, {"토큰", token}, {"비밀키", token},
	{"токен", token}, {"секрет", token}, {"секретный ключ", token}, {"ключ api", token}, {"clé secrète", token}, {"clé api", token}, {"schlüssel", weak},
	{"卡号", card}, {"卡號", card},
}

// foreignLevel judges a name that is not all ASCII: by its end, as others.
func foreignLevel(name string) level {
	name = strings.TrimRightFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	for _, f := range foreign {
		if head, ok := strings.CutSuffix(name, f.word); ok {
			if strings.HasSuffix(head, "公") {
				return none
			}
			return f.level
		}
	}
	return none
}

// keyStems are the parts of names that a search looks for, as names are written: in
// lower case, in capitals, with a hump.
func keyStems() []string {
	var out []string
	for _, w := range strings.Fields("pass pwd pw psw psk secret token key cred auth cookie sess bearer jwt _pat otp pin cvv cvc card ccnum mnemonic phrase seed sig sid clave senha mdp contrasena kennwort parola wachtwoord haslo losenord salasana sifre heslo jelszo") {
		out = append(out, w, strings.ToUpper(w), strings.ToUpper(w[:1])+w[1:])
	}
	for _, f := range foreign {
		out = append(out, f.word)
		if t := title(f.word); t != f.word {
			out = append(out, t, strings.ToUpper(f.word))
		}
	}
	return unique(out)
}

// escapedNames are the foreign words as JSON has them that is all ASCII.
func escapedNames() []string {
	var out []string
	for _, f := range foreign {
		w := strings.Trim(strconv.QuoteToASCII(f.word), `"`)
		out = append(out, w, strings.ReplaceAll(strings.ToUpper(w), `\U`, `\u`))
	}
	return unique(out)
}

func title(w string) string {
	for i, r := range w {
		if i == 0 {
			return string(unicode.ToUpper(r)) + w[len(string(r)):]
		}
	}
	return w
}

func unique(list []string) []string {
	seen := map[string]bool{}
	out := list[:0]
	for _, w := range list {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

package secret

import (
	b64 "encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// form is a form of secrets that is more than a shape.
type form uint8

const (
	noForm form = iota
	keyedForm
	pemForm
	puttyForm
	jwtForm
	loginForm
	oracleForm
	cryptForm
	schemeForm
	discordForm
	hookForm
	curlForm
	commandForm
	statementForm
	manifestForm
	cardForm
	jwkForm     // only JSON shows it
	foreignForm // names of other scripts as JSON escapes them
	encodedForm
	codedForm
)

// formKeys are the keywords of the forms.
func formKeys() map[form][]string {
	return map[form][]string{
		keyedForm:     keyStems(),
		pemForm:       {"-----BEGIN ", "---- BEGIN "},
		puttyForm:     {"Private-Lines:"},
		jwtForm:       {"eyJ"},
		loginForm:     {"://", `:\/\/`},
		oracleForm:    {"jdbc:oracle:thin:"},
		cryptForm:     {"$1$", "$2a$", "$2b$", "$2y$", "$2x$", "$5$", "$6$", "$y$", "$gy$", "$7$", "$argon2", "$apr1$", "$scrypt$", "$pbkdf2", "pbkdf2_sha", "{SSHA", "{SMD5}"},
		schemeForm:    {"Bearer ", "bearer ", "BEARER ", "Basic ", "basic "},
		discordForm:   {"MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT", "Oj", "Oz"},
		hookForm:      {"logic.azure.com", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", "chat.googleapis.com/v1/spaces/"},
		curlForm:      {" -u ", " --user ", " --user=", " -u'", ` -u"`, " --proxy-user "},
		commandForm:   {"sshpass", "mysql", "mariadb", "redis-cli"},
		statementForm: {"IDENTIFIED BY ", "identified by ", "WITH PASSWORD ", "with password ", " PASSWORD '", " password '", "requirepass ", "masterauth "},
		manifestForm:  {"kind: Secret"},
		cardForm:      {"card", "Card", "CARD", "visa", "Visa", "VISA", "amex", "Amex", "AMEX", "卡号", "卡號"},
		jwkForm:       {`"kty`, `kty\"`},
		foreignForm:   escapedNames(),
		encodedForm:   {"%3D", "%3d", "%3A", "%3a", "%22", "%2D", "%2d", "%5F", "%5f", `\u00`, `\x`, "&#", "&quot;", "&amp;"},
		codedForm:     codedPrefixes(),
	}
}

// look searches for what the keyword at start to end means.
func (m *meaning) look(s *scan, start, end int) {
	switch m.form {
	case noForm:
		s.shape(m.shape, start, end)
	case keyedForm:
		s.keyed(start, end)
	case pemForm:
		s.pem(start, end)
	case puttyForm:
		s.putty(end)
	case jwtForm:
		s.jwt(start)
	case loginForm:
		s.login(start, end)
	case oracleForm:
		s.oracle(end)
	case cryptForm:
		s.crypt(start, end)
	case schemeForm:
		s.scheme(start, end)
	case discordForm:
		s.discord(start, end)
	case hookForm:
		s.hook(start, end)
	case curlForm:
		s.curlUser(start, end)
	case commandForm:
		s.command(start, end)
	case statementForm:
		s.statement(end)
	case manifestForm:
		s.manifest(start, end)
	case cardForm:
		s.cardNear(end)
	case encodedForm, foreignForm:
		s.encoded(start, end)
	case codedForm:
		s.coded(start)
	}
}

// shape looks for the credential of a provider.
func (s *scan) shape(r *shape, start, end int) {
	if s.seen(r, start) {
		return
	}
	if from, to, ok := r.match(s.text, start, end); ok {
		s.add(r.name, from, to)
		s.see(r, to)
	} else if to := r.body.run(s.text, end, longest); to-end > 256 {
		s.see(r, to)
	}
}

// live is a cheap look at JSON as it is written: whether a text that has the keyword is
// worth reading. It must be true wherever look could find something in that text.
func (m *meaning) live(text string, start, end int) bool {
	switch m.form {
	case noForm:
		return m.shape.live(text, start, end)
	case keyedForm:
		return liveKey(text, start, end)
	case jwtForm:
		return liveJWT(text, start, end)
	case loginForm:
		return liveURL(text, end)
	case discordForm:
		return liveDiscord(text, start, end)
	case cardForm:
		return liveCard(text, end)
	case encodedForm:
		return liveEncoded(text, start, end)
	}
	return true
}

// pem masks blocks of private keys, whole, also where their end is missing.
func (s *scan) pem(start, end int) {
	head := s.text[end:min(len(s.text), end+60)]
	stop := strings.Index(head, "----")
	if stop < 0 {
		return
	}
	label := strings.TrimSpace(head[:stop])
	if !strings.Contains(label, "PRIVATE KEY") && label != "OpenVPN Static key V1" {
		return
	}
	if s.seen(pemForm, start) {
		return
	}
	body := end + stop
	for body < len(s.text) && s.text[body] == '-' {
		body++
	}
	if n := strings.Index(s.text[body:min(len(s.text), body+longestBlock)], "-END "+label); n >= 0 {
		last := body + n + len("-END ") + len(label)
		for last < len(s.text) && (s.text[last] == '-' || s.text[last] == ' ' && last+1 < len(s.text) && s.text[last+1] == '-') {
			last++
		}
		if strings.TrimFunc(strings.Trim(s.text[body:body+n], "-"), notBase64) == "" || filler(keyBody(s.text[body:body+n])) {
			return
		}
		s.add("private-key", start, last)
		return
	}
	// Without an end: as far as it looks like a key.
	last := body
	s.see(pemForm, body+longestBlock)
	for last < len(s.text) && last < body+longestBlock && !strings.HasPrefix(s.text[last:], "----") && (base64.has(s.text[last]) || strings.IndexByte("\r\n\\ \t,:-", s.text[last]) >= 0) {
		last++
	}
	if t := strings.TrimRight(s.text[body:last], "\r\n\\ \t,:-"); len(keyBody(t)) >= 16 && !filler(keyBody(t)) && (digits(t) > 0 || mixed(t)) {
		s.add("private-key", start, body+len(t))
	}
}

const longestBlock = 32 << 10

func notBase64(r rune) bool { return r >= utf8.RuneSelf || !base64.has(byte(r)) }

// keyBody returns the beginning of a block without the ends of its lines.
func keyBody(text string) string {
	text = strings.TrimLeft(text[:min(len(text), 400)], "-\\nr \r\n\t")
	return text[:base64.run(text, 0, 64)]
}

// putty masks the private lines of a PuTTY key.
func (s *scan) putty(end int) {
	rest := s.text[end:min(len(s.text), end+longestBlock)]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		from := end + n + 1
		last := from
		for last < len(s.text) && (base64.has(s.text[last]) || s.text[last] == '\n' || s.text[last] == '\r') {
			last++
		}
		if stop := strings.Index(s.text[from:last], "\nPrivate"); stop >= 0 {
			last = from + stop
		}
		s.add("private-key", from, last)
	}
}

func liveJWT(text string, start, end int) bool {
	stop := url64.run(text, end, 1024)
	return border(text, start, false) && (stop-end >= 12 && stop < len(text) && (text[stop] == '.' || text[stop] == '\\' || text[stop] == '"'))
}

// jwt finds signed and encrypted tokens by their header, which says so.
func (s *scan) jwt(start int) {
	if !border(s.text, start, false) {
		return
	}
	if s.seen(jwtForm, start) {
		return
	}
	const segment = url64 | equals
	stop := segment.run(s.text, start, longest)
	s.see(jwtForm, stop)
	if stop-start < 12 || stop >= len(s.text) || s.text[stop] != '.' || !joseHeader(s.text[start:stop]) {
		return
	}
	parts, body := 1, 0
	for ; parts < 5 && stop < len(s.text) && s.text[stop] == '.'; parts++ {
		next := segment.run(s.text, stop+1, 64<<10)
		if next == stop+1 && parts > 2 {
			break
		}
		body += next - stop - 1
		stop = next
	}
	if parts < 2 || body < 16 {
		return
	}
	// One that was wrapped goes on in the next lines.
	s.see(jwtForm, stop)
	for range 32 {
		next := lineEnd(s.text, stop)
		to := (segment | dot).run(s.text, next, 512)
		if next == stop || to-next < 20 || s.text[to-1] == '.' {
			break
		}
		stop = to
	}
	s.add("jwt", start, stop)
}

func joseHeader(text string) bool {
	b, err := b64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return false
	}
	var h struct {
		Alg, Enc, Typ any
	}
	return json.Unmarshal(b, &h) == nil && (h.Alg != nil || h.Enc != nil || h.Typ != nil)
}

func liveURL(text string, end int) bool {
	for i := end; i < len(text) && i < end+512; i++ {
		switch text[i] {
		case '@':
			return true
		case ' ', '"', '\n', '<', '>':
			return false
		}
	}
	return false
}

// login finds the password of a URL: scheme://user:password@host. A user alone counts
// where it looks like a token.
func (s *scan) login(start, end int) {
	scheme := (alnum | dash | dot | plusSlash).before(s.text, start, 20)
	if scheme == start {
		return
	}
	stop := end
	for limit := min(len(s.text), end+1024); stop < limit && s.text[stop] > ' ' && strings.IndexByte("\"'<>`\\", s.text[stop]) < 0; {
		stop++
	}
	authority := s.text[end:stop]
	cut := strings.IndexAny(authority, "/?#")
	at := strings.LastIndexByte(authority, '@')
	if cut >= 0 {
		if a := strings.LastIndexByte(authority[:cut], '@'); a >= 0 {
			at = a
		} else if at > cut && (!strings.Contains(authority[:cut], ":") || !hostAfter(authority[at+1:]) || port(authority[:cut])) {
			return // the @ is in the path
		}
	}
	if at <= 0 {
		return
	}
	user, pass, ok := strings.Cut(authority[:at], ":")
	if !ok {
		if len(user) >= 16 && tokenLike(user) && !placeholder(user, exact) && !strings.HasPrefix(authority[at+1:], "o") {
			s.add("url-login", end, end+at)
		}
		return
	}
	if pass == "" {
		if len(user) >= 16 && tokenLike(user) && !placeholder(user, exact) {
			s.add("url-login", end, end+len(user))
		}
		return
	}
	if len(pass) < 3 && pass != "" || placeholder(pass+pad(pass), exact) || pass == user || strings.HasPrefix(pass, "%") && len(pass) < 4 {
		return
	}
	s.add("url-login", end+len(user)+1, end+at)
}

// pad makes a short password long enough to be judged.
func pad(pass string) string { return "   "[:max(0, 3-len(pass))] }

// port reports whether what precedes the path is a host with its port.
func port(authority string) bool {
	_, p, ok := strings.Cut(authority, ":")
	return ok && p != "" && digit.all(p)
}

func hostAfter(text string) bool {
	end := (alnum | dash | dot).run(text, 0, 255)
	return end > 2 && (end == len(text) || strings.IndexByte(":/?#,", text[end]) >= 0)
}

// oracle finds the password of jdbc:oracle:thin:user/password@host.
func (s *scan) oracle(end int) {
	rest := s.text[end:min(len(s.text), end+200)]
	at := strings.IndexByte(rest, '@')
	if slash := strings.IndexByte(rest, '/'); slash > 0 && at > slash+1 && !strings.ContainsAny(rest[:at], " \"'\n") && !placeholder(rest[slash+1:at]+"  ", exact) {
		s.add("url-login", end+slash+1, end+at)
	}
}

// crypt finds the hashes of /etc/shadow and of tables of users.
func (s *scan) crypt(start, end int) {
	if start > 0 && (word | dash | slash).has(s.text[start-1]) {
		return
	}
	const body = base64 | dot | dash | underscore
	stop := start
	for limit := min(len(s.text), start+400); stop < limit && (body.has(s.text[stop]) || strings.IndexByte("$,{}", s.text[stop]) >= 0); {
		stop++
	}
	s.see(cryptForm, stop)
	if v := s.text[start:stop]; len(v) >= 24 && !filler(v) && turns(v)*5 >= len(v) && strings.Count(v, "$") >= 2 || s.text[start] == '{' && stop-end >= 20 {
		s.add("password-hash", start, stop)
	}
}

// scheme finds what follows Bearer and Basic, in a header or not.
func (s *scan) scheme(start, end int) {
	if !border(s.text, start, false) {
		return
	}
	stop := opaque.run(s.text, end, longest)
	v := strings.TrimRight(s.text[end:stop], ".:%~")
	if len(v) < 8 || placeholder(v, exact) {
		return
	}
	if s.text[start]|0x20 == 'b' && s.text[start+1]|0x20 == 'a' {
		if basic(v) {
			s.add("authorization", end, end+len(v))
		}
		return
	}
	if len(v) >= 16 && (tokenLike(v) || isMachineKey(v)) {
		s.add("authorization", end, end+len(v))
	}
}

func liveDiscord(text string, start, end int) bool {
	stop := alnum.run(text, end, 32)
	return stop-end >= 20 && stop-end <= 28 && stop < len(text) && text[stop] == '.' && border(text, start, true)
}

// discord finds the tokens of bots: the number of an account in base64, a time, a code.
func (s *scan) discord(start, end int) {
	if !liveDiscord(s.text, start, end) {
		return
	}
	stop := alnum.run(s.text, end, 32)
	second := url64.run(s.text, stop+1, 9)
	if second >= len(s.text) || s.text[second] != '.' || second-stop-1 < 5 {
		return
	}
	third := url64.run(s.text, second+1, 60)
	id, err := b64.RawStdEncoding.DecodeString(s.text[start:stop])
	if err == nil && len(id) >= 15 && digit.all(string(id)) && third-second-1 >= 24 || third-second-1 >= 27 && third-second-1 <= 40 && mixed(s.text[second+1:third]) {
		s.add("discord", start, third)
	}
}

// hook finds addresses that anybody may post to who has them.
func (s *scan) hook(start, end int) {
	stop := end
	for stop < len(s.text) && stop < end+1024 && ((opaque).has(s.text[stop]) || strings.IndexByte("?&", s.text[stop]) >= 0) {
		stop++
	}
	if v := s.text[end:stop]; (strings.Contains(s.text[start:stop], "key=") || strings.Contains(v, "sig=")) && digits(v) > 3 && !filler(v) {
		s.add("webhook", start, stop)
	}
}

// curlUser finds the password of -u user:password.
func (s *scan) curlUser(start, end int) {
	line := s.text[max(0, start-300):start]
	if n := strings.LastIndexByte(line, '\n'); n >= 0 {
		line = line[n:]
	}
	if !strings.Contains(line, "curl") && !strings.Contains(line, "http") {
		return
	}
	for end < len(s.text) && strings.IndexByte(` '"\`, s.text[end]) >= 0 {
		end++
	}
	stop := bareEnd(s.text, end, flag)
	if user, pass, ok := strings.Cut(s.text[end:stop], ":"); ok && len(pass) >= 3 && !placeholder(pass, exact) {
		s.add("url-login", end+len(user)+1, stop)
	} else if !ok && len(user) >= 16 && tokenLike(user) && !placeholder(user, exact) {
		s.add("url-login", end, stop)
	}
}

// command finds passwords of -p and -a on the lines of programs that take them so.
func (s *scan) command(start, end int) {
	if start > 0 && (word | dash).has(s.text[start-1]) {
		return
	}
	rest := s.text[end:min(len(s.text), end+300)]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	option, apart := " -p", s.text[start] == 's'
	if s.text[start] == 'r' {
		option, apart = " -a", true
	}
	n := strings.Index(rest, option)
	if n < 0 {
		return
	}
	from := end + n + len(option)
	if apart {
		from = skipBlank(s.text, from)
	}
	if from < len(s.text) && (s.text[from] == '\'' || s.text[from] == '"') {
		from++
	}
	stop := bareEnd(s.text, from, flag)
	if v := s.text[from:stop]; len(v) >= 4 && passwordLike(v, flag) && !placeholder(v, flag) && (apart || !lower.all(v)) {
		s.add("command", from, stop)
	}
}

// statement finds the passwords of SQL and of settings with a blank.
func (s *scan) statement(end int) {
	i := end
	if s.text[end-1] == '\'' {
		i--
	}
	i = skipBlank(s.text, i)
	if q := openQuote(s.text, &i); q == "`" {
		return
	} else if q != "" {
		if n := closing(s.text[i:], q); n >= 0 {
			s.value(password, i, i+n, quoted)
		}
		return
	}
	s.value(password, i, bareEnd(s.text, i, bare), bare)
}

// manifest finds the data of a Kubernetes Secret in YAML.
func (s *scan) manifest(start, end int) {
	if s.seen(manifestForm, start) {
		return
	}
	at, inData, indent := end, false, 0
	before := strings.LastIndex(s.text[max(0, start-2000):start], "\n---")
	if n := strings.LastIndex(s.text[max(0, start-2000):start], "\ndata:"); n > before {
		at = max(0, start-2000) + n + 1
	}
	limit := min(len(s.text), end+longestBlock)
	s.see(manifestForm, limit)
	for at < limit {
		stop := at
		for stop < limit && s.text[stop] != '\n' {
			stop++
		}
		row := strings.TrimRight(s.text[at:stop], " \r")
		body := strings.TrimLeft(row, " ")
		switch depth := len(row) - len(body); {
		case body == "---":
			s.see(manifestForm, at)
			return
		case body == "data:" || body == "stringData:":
			inData, indent = true, depth
		case inData && body != "" && depth <= indent:
			inData = false
		case inData:
			if name, v, ok := strings.Cut(body, ":"); ok && nameByte.all(name) {
				v = strings.Trim(strings.TrimSpace(v), `"'`)
				if len(v) >= 4 && !placeholder(v, quoted) && !strings.HasPrefix(v, "LS0tLS1CRUdJTiBDRVJU") {
					from := at + strings.LastIndex(row, v)
					s.add("kubernetes", from, from+len(v))
				}
			}
		}
		at = stop + 1
	}
}

// cardReach is how far behind a word for cards the number of one may stand.
const cardReach = 48

// liveCard reports whether as many digits as a card has follow.
func liveCard(text string, end int) bool {
	return digits(text[end:min(len(text), end+cardReach)]) >= 13
}

// cardNear finds the number of a payment card behind a word for one, on the same line.
func (s *scan) cardNear(end int) {
	if !liveCard(s.text, end) {
		return
	}
	limit := min(len(s.text), end+cardReach)
	for i := end; i < limit && s.text[i] != '\n'; i++ {
		if !digit.has(s.text[i]) || digit.has(s.text[i-1]) {
			continue
		}
		stop := i
		for n := 0; stop < len(s.text) && n < 24 && (digit.has(s.text[stop]) || strings.IndexByte(" -", s.text[stop]) >= 0 && stop+1 < len(s.text) && digit.has(s.text[stop+1])); n++ {
			stop++
		}
		for to := stop; to-i >= 13; to-- { // what follows may be digits, too: an expiry
			if digit.has(s.text[to-1]) && (to == stop || !digit.has(s.text[to])) && luhn(s.text[i:to]) {
				s.add("card", i, to)
				return
			}
		}
	}
}

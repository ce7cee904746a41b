package secret

import "strings"

// class is a set of bytes.
type class uint16

// The bytes that credentials are made of.
const (
	hexLower class = 1 << iota // a–f
	restLower
	hexUpper // A–F
	restUpper
	digit
	underscore
	dash
	dot
	plusSlash
	equals
	tilde
	colon
	percent
	slash // alone
	at

	lower  = hexLower | restLower
	upper  = hexUpper | restUpper
	letter = lower | upper
	alnum  = letter | digit
	hex    = hexLower | digit
	anyHex = hex | hexUpper
	word   = alnum | underscore
	url64  = word | dash
	dotted = url64 | dot
	base64 = alnum | plusSlash | equals
	capped = upper | digit
	small  = lower | digit
	uuid   = anyHex | dash
	path   = dotted | plusSlash
	opaque = path | equals | tilde | colon | percent
)

// classOf returns the set of one byte.
func classOf(c byte) class {
	switch {
	case c >= 'a' && c <= 'f':
		return hexLower
	case c >= 'g' && c <= 'z':
		return restLower
	case c >= 'A' && c <= 'F':
		return hexUpper
	case c >= 'G' && c <= 'Z':
		return restUpper
	case c >= '0' && c <= '9':
		return digit
	}
	switch c {
	case '_':
		return underscore
	case '-':
		return dash
	case '.':
		return dot
	case '+':
		return plusSlash
	case '/':
		return plusSlash | slash
	case '=':
		return equals
	case '~':
		return tilde
	case ':':
		return colon
	case '%':
		return percent
	case '@':
		return at
	}
	return 0
}

func (c class) has(b byte) bool { return classOf(b)&c != 0 }

// all reports whether a text is made of the class alone.
func (c class) all(text string) bool {
	for i := range len(text) {
		if !c.has(text[i]) {
			return false
		}
	}
	return true
}

// run returns where the bytes of the class end that start at i, at most limit of them.
func (c class) run(text string, i, limit int) int {
	for end := min(len(text), i+limit); i < end && c.has(text[i]); {
		i++
	}
	return i
}

// before returns where the bytes of the class start that end at i.
func (c class) before(text string, i, limit int) int {
	for end := max(0, i-limit); i > end && c.has(text[i-1]); {
		i--
	}
	return i
}

// longest is how many bytes of a credential are looked at.
const longest = 4096

// shape is the form of a provider's credentials: some bytes, a literal key, more bytes.
type shape struct {
	name string
	keys string // separated by spaces
	// body is what follows the key: at least min bytes, and no more than max if it is
	// not 0.
	body     class
	min, max int
	// head is what precedes the key.
	head             class
	headMin, headMax int
	// loose shapes have a key that stands in other words too: their body needs a part
	// without separators that is random by itself.
	loose bool
}

// match returns the place of the credential whose key is at start to end.
func (r *shape) match(text string, start, end int) (int, int, bool) {
	from := start
	if r.headMax > 0 {
		from = r.head.before(text, start, r.headMax+1)
		if n := start - from; n < r.headMin || n > r.headMax {
			return 0, 0, false
		}
	}
	if !border(text, from, r.loose) || inBlob(text, from) {
		return 0, 0, false
	}
	to := r.body.run(text, end, longest)
	if to-end < r.min && !r.loose {
		to = r.wrapped(text, end, to)
	}
	to = r.tail(text, end, to)
	body := text[end:to]
	if n := len(body); n < r.min || r.max > 0 && n > r.max && !strings.ContainsAny(body, "\r\n") {
		return 0, 0, false
	}
	// What follows a sentence is not part of it.
	if t := strings.TrimRight(body, ".-:/~%"); len(t) >= r.min {
		to, body = end+len(t), t
	}
	if filler(text[from:start]+body) || !r.random(text[from:start]+body) {
		return 0, 0, false
	}
	return from, to, true
}

// random keeps out words: a body of words alone is a name that begins like a credential.
func (r *shape) random(body string) bool {
	if r.loose {
		return randomPart(body, min(r.min, 12)) || len(body) >= 30 && alnum.all(body) && turns(body)*4 >= len(body)
	}
	return digits(body) > 0 || turns(body)*4 >= len(body)
}

// wrapped goes on behind the ends of lines, at most eight, where the credential is not
// complete. A line of fewer than eight bytes is not taken for a piece.
func (r *shape) wrapped(text string, start, end int) int {
	stop, n := end, end-start
	for range 8 {
		next := lineEnd(text, stop)
		if next == stop || n < 4 {
			return end
		}
		to := r.body.run(text, next, longest)
		if n += to - next; to-next < 4 || r.max > 0 && n > r.max {
			return end
		}
		if stop = to; n >= r.min {
			return stop
		}
	}
	return end
}

// tail goes on behind the end of a line where a credential of no certain length was
// complete, but the next line begins with what must be its rest: random, too.
func (r *shape) tail(text string, start, end int) int {
	next := lineEnd(text, end)
	if next == end || end-start < r.min || r.max > 0 {
		return end
	}
	to := r.body.run(text, next, longest)
	alone := to == len(text) || strings.IndexByte(" \t\r\n\"'`,;)\\", text[to]) >= 0
	if alone && to-next >= 8 && randomPart(text[next:to], 8) {
		return to
	}
	return end
}

// lineEnd skips one end of a line, as it is or escaped, what continues a line before it
// and what indents or quotes after it.
func lineEnd(text string, i int) int {
	at := i
	if i < len(text) && (text[i] == '\\' || text[i] == '=') && i+1 < len(text) && (text[i+1] == '\n' || text[i+1] == '\r') {
		i++
	}
	switch rest := text[i:]; {
	case strings.HasPrefix(rest, "\r\n"):
		i += 2
	case strings.HasPrefix(rest, "\n"):
		i++
	case strings.HasPrefix(rest, `\r\n`):
		i += 4
	case strings.HasPrefix(rest, `\n`):
		i += 2
	default:
		return at
	}
	for n := 0; n < 40 && i < len(text) && strings.IndexByte(" \t>|#*", text[i]) >= 0; n++ {
		i++
	}
	return i
}

// border reports whether something may start at i: not within a word. An escape before
// it is no word, although it ends like one.
func border(text string, i int, strict bool) bool {
	if i == 0 {
		return true
	}
	c := text[i-1]
	if !word.has(c) || c == '_' { // names of tools are put together so
		return !strict || c != '-'
	}
	if i >= 2 && text[i-2] == '\\' && strings.IndexByte("nrtbf", c) >= 0 {
		return true
	}
	if i >= 3 && text[i-3] == '%' && anyHex.all(text[i-2:i]) {
		return true
	}
	return i >= 6 && text[i-6] == '\\' && text[i-5] == 'u' && anyHex.all(text[i-4:i])
}

func digits(text string) (n int) {
	for i := range len(text) {
		if digit.has(text[i]) {
			n++
		}
	}
	return n
}

// turns counts the places where lower case, upper case and digits follow each other.
// Random text turns every other byte, a word in camel case once a word.
func turns(text string) (n int) {
	last := class(0)
	for i := range len(text) {
		c := classOf(text[i])
		switch {
		case c&lower != 0:
			c = lower
		case c&upper != 0:
			c = upper
		}
		if i > 0 && c != last {
			n++
		}
		last = c
	}
	return n
}

// mixed reports whether letters turn as often as random ones do: half as often as they
// may. Words in camel case turn twice a word.
func mixed(text string) bool { return len(text) >= 16 && turns(text)*5 >= len(text)*2 }

// inBlob reports whether i is within base64, also of several lines: a picture or a
// program has any three letters somewhere.
func inBlob(text string, i int) bool {
	const blob = 40
	if i == 0 || text[i-1] != '\n' && !plusSlash.has(text[i-1]) {
		return false
	}
	n := 0
	for i--; i >= 0 && n < blob; i-- {
		if c := text[i]; base64.has(c) {
			n++
		} else if c != '\n' && c != '\r' {
			return false
		}
	}
	return n == blob
}

// randomPart reports whether some part between separators is random and has at least
// least bytes.
func randomPart(text string, least int) bool {
	for i := 0; i < len(text); {
		end := alnum.run(text, i, len(text))
		if p := text[i:end]; len(p) >= least && (turns(p)*5 >= len(p) && digits(p) > 0 || mixed(p)) {
			return true
		}
		i = end + 1
	}
	return false
}

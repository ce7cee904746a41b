package secret

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// manner is how a value stands behind its name. What is written by a machine for a
// machine is taken at its word, prose and code are full of values that are none.
type manner uint8

const (
	exact  manner = iota // the whole value of a member
	quoted               // "…" in code or settings
	line                 // NAME=value alone on a line
	flag                 // --name value
	param                // ?name=value of a URL
	bare                 // name: value, name = value
	prose                // the name is value
)

// keyed looks at the name around a part of one, and at what stands behind it.
func (s *scan) keyed(start, end int) {
	if start < s.names {
		return
	}
	from, to := nameAround(s.text, start, end)
	s.names = to
	l := levelAt(s.text, from, to)
	if l == none {
		return
	}
	if a, b, how, ok := valueAfter(s.text, from, to); ok {
		if l == query && how != param || how == prose && l != password && l != token && l != phrase {
			return
		}
		if strings.EqualFold(s.text[from:to], "pass") && aWord(s.text, from, how) {
			return
		}
		if l != cookie && l != auth && reference(s.text, from, a, b, how) {
			return
		}
		a, b = stretch(s.text, l, a, b, how)
		s.value(l, a, b, how)
		if l == cookie || l == auth || len(s.found) > 0 && s.found[len(s.found)-1].End >= b {
			s.names = max(s.names, b) // what is in it needs no more looking at
		}
	}
}

// aWord reports whether "pass" at from is a word of prose or of a test runner.
func aWord(text string, from int, how manner) bool {
	switch how {
	case prose:
		return true
	case bare, quoted:
		return text[from] == 'P' || from > 0 && text[from-1] == ' ' && !lineStart(text, from)
	}
	return false
}

// liveKey reports whether the name around a part of one is that of a secret.
func liveKey(text string, start, end int) bool {
	from, to := nameAround(text, start, end)
	return levelAt(text, from, to) != none
}

const nameByte = word | dash | dot

// nameAround returns the name that has a part at start to end.
func nameAround(text string, start, end int) (from, to int) {
	from = nameByte.before(text, start, longestName)
	if text[start] >= utf8.RuneSelf || from > 0 && text[from-1] >= utf8.RuneSelf {
		for from > 0 && start-from < longestName {
			r, n := utf8.DecodeLastRuneInString(text[:from])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '_' {
				break
			}
			from -= n
		}
	}
	// An escape before a name is not part of it.
	if from > 0 && from < start && text[from-1] == '\\' {
		switch {
		case strings.IndexByte("nrt", text[from]) >= 0:
			from++
		case text[from] == 'u' && from+5 <= start && anyHex.all(text[from+1:from+5]):
			from += 5
		}
	}
	if to = end; text[end-1] < utf8.RuneSelf {
		to = nameByte.run(text, end, longestName)
		for to > end && strings.IndexByte(".-", text[to-1]) >= 0 {
			to--
		}
	}
	return from, to
}

// levelAt judges the name at from to to with the word before it: API key, next page
// token.
func levelAt(text string, from, to int) level {
	name := text[from:to]
	l := keyLevel(name)
	if name == "key" && from > 0 && (text[from-1] == '?' || text[from-1] == '&') {
		return weak
	}
	if from == 0 || text[from-1] != ' ' || text[from] == '-' {
		return l
	}
	before := letter.before(text, from-1, 20)
	prev := text[before : from-1]
	switch {
	case prev == "":
		return l
	case l == none && pairs[name]:
		if l = keyLevel(text[before:to]); l == weak {
			return none // the keys of anything
		}
		return l
	case l == token && (strings.EqualFold(prev, "public") || notTokens[strings.ToLower(prev)]):
		return none
	}
	return l
}

// pairs are the words that mean something with the one before them.
var pairs = set("key keys phrase word id number no num card code codes seed Key Keys Phrase Word ID Id Number No Card Code Codes Seed KEY NUMBER")

// valueAfter finds the value of the name at from to to, and how it stands there.
func valueAfter(text string, from, to int) (start, end int, how manner, ok bool) {
	i := to + quoteAt(text, to)
	inQuotes := i > to && from > 0 && strings.IndexByte("\"'`*;“‘「", text[from-1]) >= 0
	if i > to && !inQuotes && strings.HasPrefix(text[to:], "*") {
		inQuotes = true // emphasis around more than the name
	}
	if inQuotes && i < len(text) && text[i] == ']' {
		i++
	}
	gap := skipBlank(text, i)
	listed := strings.HasPrefix(text[gap:], ",")
	i, how, ok = separator(text, from, gap, inQuotes, gap > i || inQuotes)
	if !ok {
		return 0, 0, 0, false
	}
	if how == bare && from > 0 && strings.IndexByte("?&", text[from-1]) >= 0 && text[i-1] == '=' && i == to+1 {
		how = param
	}
	if how == bare && text[i-1] == '=' && gap == to && lineStart(text, from) {
		how = line
	}
	if from > 0 && i < len(text) && text[i] == text[from-1] && strings.IndexByte("\"'`", text[i]) >= 0 && !inQuotes {
		return 0, 0, 0, false // "NAME=" + value
	}
	if rest := text[i:]; strings.HasPrefix(rest, "** ") || strings.HasPrefix(rest, "__ ") {
		i += len("**") // the emphasis of the name
	}
	i = skipBlank(text, i)
	i = block(text, i)
	i = annotation(text, i)
	if q := openQuote(text, &i); q != "" {
		if n := closing(text[i:], q); n >= 0 {
			// Of a list of names none is the value of another.
			return i, i + n, quoted, !listed || digits(text[i:i+n]) > 0
		}
	}
	if listed {
		return 0, 0, 0, false
	}
	return i, bareEnd(text, i, how), how, true
}

// quoteAt returns the length of the quote or the emphasis at i.
func quoteAt(text string, i int) int {
	for _, q := range [...]string{`\\\"`, `\"`, `"`, `'`, "`", "&quot;", "**", "”", "’", "」", "*"} {
		if strings.HasPrefix(text[i:], q) {
			return len(q)
		}
	}
	return 0
}

func skipBlank(text string, i int) int {
	for end := min(len(text), i+64); i < end && (text[i] == ' ' || text[i] == '\t'); {
		i++
	}
	return i
}

// separators stand between a name and its value, longer ones first.
var separators = []string{":=", "=>", "==", "?=", "+=", "?:", "!:", "=", ":", "：", "＝", "是：", "为：", "是", "为", "為", "は"}

// separator returns the end of what separates a name from its value. apart says that
// there is something between the name and i.
func separator(text string, from, i int, inQuotes, apart bool) (int, manner, bool) {
	rest := text[i:]
	for _, s := range separators {
		if strings.HasPrefix(rest, s) {
			return i + len(s), bare, true
		}
	}
	switch {
	case inQuotes && strings.HasPrefix(rest, ",") && !strings.HasPrefix(text[skipBlank(text, i+1):], "\n"):
		return i + 1, quoted, true // ("password", "…")
	case strings.HasPrefix(rest, ">") && (inQuotes || from > 0 && text[from-1] == '<'):
		return i + 1, bare, true
	case strings.HasPrefix(rest, "|") && lineStart(text, from):
		return i + 1, bare, true
	case !apart || rest == "":
		return 0, 0, false
	case text[from] == '-' && rest[0] != '-' && rest[0] != '\n':
		return i, flag, true
	case inQuotes && strings.HasPrefix(rest, "value="):
		return i + len("value="), bare, true
	case !inQuotes && (netrc(text, from) || strings.HasSuffix(text[:from], "ENV ")):
		return i, flag, true
	}
	for _, verb := range [...]string{"is ", "was ", "es ", "ist ", "est ", "is: "} {
		if strings.HasPrefix(rest, verb) {
			return i + len(verb), prose, true
		}
	}
	return 0, 0, false
}

// netrc reports whether the name follows the login of a machine.
func netrc(text string, from int) bool {
	before := text[max(0, from-300):from]
	at := max(strings.LastIndex(before, "machine "), strings.LastIndex(before, "default login"))
	return at >= 0 && strings.Contains(before[at:], "login ") && strings.HasPrefix(text[from:], "password")
}

// lineStart reports whether a name begins its line, but for what sets or lists it.
func lineStart(text string, from int) bool {
	for _, word := range [...]string{"export ", "set ", "ENV ", "ARG ", "$env:", "setx ", "-e ", "--env "} {
		if strings.HasSuffix(text[:from], word) {
			from -= len(word)
			break
		}
	}
	for n := 0; from > 0 && n < 16 && strings.IndexByte(" \t+-|", text[from-1]) >= 0; n++ {
		from--
	}
	return from == 0 || text[from-1] == '\n' || strings.HasSuffix(text[:from], `\n`)
}

// block steps into a YAML block scalar of one line.
func block(text string, i int) int {
	if i >= len(text) || text[i] != '|' && text[i] != '>' {
		return i
	}
	j := i + 1
	for j < len(text) && strings.IndexByte("-+ \r", text[j]) >= 0 {
		j++
	}
	if j == len(text) || text[j] != '\n' {
		return i
	}
	return skipBlank(text, j+1)
}

// annotation steps over a type between a name and its value: password: str = "…".
func annotation(text string, i int) int {
	const typeByte = word | dot
	end := i
	for limit := min(len(text), i+40); end < limit && (typeByte.has(text[end]) || strings.IndexByte("&[]<>?|'", text[end]) >= 0); {
		end++
	}
	next := skipBlank(text, end)
	if end == i || next == end || next >= len(text) || text[next] != '=' || strings.HasPrefix(text[next:], "==") {
		return i
	}
	return skipBlank(text, next+1)
}

// openQuote returns the quote at i and steps over it, also where a letter or a plain
// constructor stands before it.
func openQuote(text string, i *int) string {
	at := *i
	end := letter.run(text, at, 12)
	if w := strings.ToLower(text[at:end]); end < len(text) && wrappers[w] && (text[end] == '(' || len(w) <= 2) {
		if at = end; text[at] == '(' {
			at++
		}
	}
	if at < len(text) && text[at] == '@' {
		at++
	}
	for _, q := range [...]string{`\\\"`, `\"`, `"`, `'`, "`", "&quot;", "“", "「"} {
		if strings.HasPrefix(text[at:], q) {
			*i = at + len(q)
			return q
		}
	}
	return ""
}

var wrappers = set("b r u f l secret secretstr string str bytes some")

// closing returns where the quote ends that was opened before text, -1 where it does not
// on its line.
func closing(text, quote string) int {
	switch quote {
	case "“":
		quote = "”"
	case "「":
		quote = "」"
	}
	text = text[:min(len(text), longest)]
	for at := 0; ; {
		n := strings.Index(text[at:], quote)
		if n < 0 || strings.IndexByte(text[at:at+n], '\n') >= 0 {
			return -1
		}
		// An escaped quote does not end a plain one. Of escaped ones the end of an
		// outer text is told by what stands before.
		if at += n; len(quote) > 1 || at == 0 || text[at-1] != '\\' || at > 1 && text[at-2] == '\\' {
			return at
		}
		at += len(quote)
	}
}

// longestValue is how long a value without quotes may be.
const longestValue = 512

// bareEnd returns the end of a value without quotes.
func bareEnd(text string, i int, how manner) int {
	end := i
	open := 0
	for limit := min(len(text), i+longestValue); end < limit; end++ {
		c := text[end]
		if c <= ' ' || strings.IndexByte("\"'<>`", c) >= 0 {
			break
		}
		if c == '\\' && end+1 < len(text) && strings.IndexByte(`nrtu"\`, text[end+1]) >= 0 {
			break
		}
		if how == param && (c == '&' || c == '#') || c == '|' && how != line {
			break
		}
		if c == '&' && (strings.HasPrefix(text[end:], "&quot;") || pairAfter(text, end+1)) {
			break
		}
		if (c == ',' || c == ';') && how != flag && (end+1 == len(text) || text[end+1] <= ' ' || strings.IndexByte("\"'}])", text[end+1]) >= 0 || pairAfter(text, end+1)) {
			break
		}
		if strings.IndexByte("([{", c) >= 0 {
			open++
		}
		if strings.IndexByte(")]}", c) >= 0 && open == 0 && (end+1 == len(text) || strings.IndexByte(" \t\r\n,;.)]}\"'`", text[end+1]) >= 0) && how != line {
			break
		}
		if c >= utf8.RuneSelf && how != line {
			if r, _ := utf8.DecodeRuneInString(text[end:]); unicode.IsPunct(r) || unicode.IsSpace(r) {
				break
			}
		}
	}
	if how != line {
		end = i + len(strings.TrimRight(text[i:end], ".,;:"))
	}
	return end
}

// pairAfter reports whether the next pair of name and value begins at i.
func pairAfter(text string, i int) bool {
	end := i
	for limit := min(len(text), i+40); end < limit && (nameByte.has(text[end]) || text[end] == ' ' || text[end] == '"'); {
		end++
	}
	return end > i && end < len(text) && (text[end] == '=' || text[end] == ':')
}

// stretch makes a bare value longer where what it is has spaces in it.
func stretch(text string, l level, start, end int, how manner) (int, int) {
	if how == quoted || how == exact {
		return start, end
	}
	stop := start
	switch l {
	case cookie, auth:
		for limit := min(len(text), start+longestValue); stop < limit && strings.IndexByte("\r\n\"'`\\", text[stop]) < 0; {
			stop++
		}
	case phrase:
		for limit := min(len(text), start+longestValue); stop < limit && (letter.has(text[stop]) || text[stop] == ' ' || text[stop] == '-'); {
			stop++
		}
	case card:
		for limit := min(len(text), start+32); stop < limit && (digit.has(text[stop]) || text[stop] == ' ' || text[stop] == '-'); {
			stop++
		}
	}
	return start, max(end, stop)
}

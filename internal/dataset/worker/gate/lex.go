package gate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/internal/dataset/protocol"
)

// Statement is a text that the engine's parser can take.
type Statement struct {
	// Body is the one statement, without comments and without EXPLAIN.
	Body string
	// Explain is EXPLAIN with its options, spelled anew, or "".
	Explain string

	tokens []token // of Body
}

// Bounds on text. The parser takes time that grows with the cube of the length of a
// run of operators, and cannot be interrupted.
const (
	maxRun   = 16  // operator characters in a row; the longest operator has five
	maxDepth = 100 // brackets within brackets
)

type kind byte

const (
	word   kind = iota // a keyword or a name without quotes
	name               // a name in double quotes
	text               // a string in any quotes
	number             // a number, or a parameter
	run                // operator characters in a row
	mark               // one of ( ) [ ] { } , ; . :
)

// A token is a part of a text that has no comments.
type token struct {
	kind       kind
	start, end int
	text       string // of a word, a run and a mark; words in lower case
}

func (t token) is(text string) bool { return t.text == text }

// Lexical checks a text without a parser and makes a [Statement] of it. The error is
// an *Error.
func Lexical(sql string) (Statement, error) {
	switch {
	case len(sql) > protocol.MaxSQL:
		return Statement{}, refuse("The SQL has %d bytes; at most %d are allowed. Split it, or join with a table instead of listing values.", len(sql), protocol.MaxSQL)
	case !utf8.ValidString(sql):
		return Statement{}, invalid("The SQL is not valid UTF-8.")
	case strings.ContainsRune(sql, 0):
		return Statement{}, invalid("The SQL has a NUL character.")
	}
	l := lexer{in: strings.TrimPrefix(sql, "\ufeff")}
	if err := l.all(); err != nil {
		return Statement{}, err
	}
	return l.statement()
}

// lexer copies in to out without comments, and notes the tokens of out.
type lexer struct {
	in     string
	at     int
	out    strings.Builder
	tokens []token
	depth  int
}

func (l *lexer) all() *Error {
	for l.at < len(l.in) {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

// next takes a token, a comment or space off in.
func (l *lexer) next() *Error {
	rest := l.in[l.at:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.HasPrefix(rest, "--"):
		n := strings.IndexAny(rest, "\r\n")
		if n < 0 {
			n = len(rest)
		}
		return l.skip(n)
	case strings.HasPrefix(rest, "/*"):
		n := comment(rest)
		if n < 0 {
			return invalid("A comment that begins with /* does not end.")
		}
		return l.skip(n)
	case unicode.IsSpace(r):
		l.out.WriteString(rest[:size])
		l.at += size
		return nil
	case r == '\'':
		return l.quoted(text, 1, "'", l.escapes())
	case r == '"':
		return l.quoted(name, 1, `"`, false)
	case r == '$':
		if tag := dollar(rest); tag != "" {
			return l.quoted(text, len(tag), tag, false)
		}
		l.take(number, 1+span(rest[1:], letter), "")
	case '0' <= r && r <= '9':
		l.take(number, span(rest, func(r rune) bool { return letter(r) || r == '.' }), "")
	case letter(r):
		n := span(rest, letter)
		l.take(word, n, strings.ToLower(rest[:n]))
	case operator(r):
		return l.operators(rest)
	default:
		return l.mark(rest[:size])
	}
	return nil
}

// skip leaves n bytes out; a line break in their place separates what they did,
// and joins strings on two lines as before.
func (l *lexer) skip(n int) *Error {
	l.at += n
	l.out.WriteByte('\n')
	return nil
}

func (l *lexer) take(k kind, n int, text string) {
	l.tokens = append(l.tokens, token{k, l.out.Len(), l.out.Len() + n, text})
	l.out.WriteString(l.in[l.at : l.at+n])
	l.at += n
}

// quoted takes a string or a name: open bytes, then up to the closing quote, which
// stands for itself when it comes twice.
func (l *lexer) quoted(k kind, open int, quote string, backslash bool) *Error {
	rest := l.in[l.at:]
	for i := open; i < len(rest); {
		switch {
		case backslash && rest[i] == '\\':
			i += 2
		case !strings.HasPrefix(rest[i:], quote):
			i++
		case len(quote) == 1 && strings.HasPrefix(rest[i+1:], quote):
			i += 2
		default:
			l.take(k, i+len(quote), "")
			return nil
		}
	}
	return invalid("A quote that begins with %s does not end.", quote)
}

// escapes reports whether the quote that follows belongs to a string such as E'\n'.
func (l *lexer) escapes() bool {
	if len(l.tokens) == 0 || l.at == 0 {
		return false
	}
	last := l.tokens[len(l.tokens)-1]
	return last.kind == word && last.is("e") && l.in[l.at-1]|0x20 == 'e'
}

func (l *lexer) operators(rest string) *Error {
	n := 0
	for n < len(rest) && operator(rune(rest[n])) && !strings.HasPrefix(rest[n:], "--") && !strings.HasPrefix(rest[n:], "/*") {
		n++
	}
	if n > maxRun {
		return refuse("There are %d operator characters in a row; at most %d are allowed. Put spaces or brackets between operators.", n, maxRun)
	}
	l.take(run, n, rest[:n])
	return nil
}

func (l *lexer) mark(m string) *Error {
	switch m {
	case "(", "[", "{":
		if l.depth++; l.depth > maxDepth {
			return refuse("Brackets are nested deeper than %d. Write a WITH clause instead.", maxDepth)
		}
	case ")", "]", "}":
		l.depth--
	}
	l.take(mark, len(m), m)
	return nil
}

// statement makes a statement of the tokens: exactly one, without its semicolon.
func (l *lexer) statement() (Statement, error) {
	tokens := l.tokens
	for len(tokens) > 0 && tokens[len(tokens)-1].is(";") {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		return Statement{}, invalid("The SQL is empty. Write one SELECT over the datasets; SHOW TABLES lists them.")
	}
	for _, t := range tokens {
		if t.is(";") {
			return Statement{}, refuse("Only one statement at a time: there is something after a semicolon. Use WITH for steps, or send the statements one by one.")
		}
	}
	explain, rest, err := explain(tokens)
	if err != nil {
		return Statement{}, err
	}
	start, end := rest[0].start, rest[len(rest)-1].end
	moved := make([]token, len(rest))
	for i, t := range rest {
		moved[i] = token{t.kind, t.start - start, t.end - start, t.text}
	}
	return Statement{Body: l.out.String()[start:end], Explain: explain, tokens: moved}, nil
}

// explain splits EXPLAIN, EXPLAIN ANALYZE or EXPLAIN (options) off.
func explain(tokens []token) (string, []token, *Error) {
	if !tokens[0].is("explain") {
		return "", tokens, nil
	}
	prefix, rest := "EXPLAIN", tokens[1:]
	switch {
	case len(rest) > 0 && rest[0].is("analyze"):
		prefix, rest = "EXPLAIN ANALYZE", rest[1:]
	case len(rest) > 1 && rest[0].is("(") && (rest[1].is("analyze") || rest[1].is("format")):
		var err *Error
		if prefix, rest, err = options(rest[1:]); err != nil {
			return "", nil, err
		}
	}
	switch {
	case len(rest) == 0:
		return "", nil, invalid("EXPLAIN needs a SELECT after it.")
	case rest[0].is("explain"):
		return "", nil, refuse("EXPLAIN of EXPLAIN is not allowed. Write EXPLAIN once, before a SELECT.")
	}
	return prefix, rest, nil
}

// options reads the options of EXPLAIN after the bracket and writes them anew.
func options(tokens []token) (string, []token, *Error) {
	var words []string
	for i, t := range tokens {
		switch {
		case t.is(")"):
			return "EXPLAIN (" + strings.Join(words, " ") + ")", tokens[i+1:], nil
		case t.kind == word, t.is(","):
			words = append(words, t.text)
		default:
			return "", nil, refuse("EXPLAIN takes the options ANALYZE and FORMAT with a word, such as EXPLAIN (ANALYZE, FORMAT json).")
		}
	}
	return "", nil, invalid("The options of EXPLAIN do not end.")
}

// comment returns the length of the comment that s begins with, -1 if it does not
// end. Comments nest.
func comment(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// dollar returns the tag with which s begins, such as $$ or $tag$, or "".
func dollar(s string) string {
	n := 1 + span(s[1:], func(r rune) bool { return letter(r) && r != '$' })
	if n >= len(s) || s[n] != '$' || n > 1 && '0' <= s[1] && s[1] <= '9' {
		return ""
	}
	return s[:n+1]
}

func span(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

// letter reports whether r may be in a name without quotes.
func letter(r rune) bool {
	return r == '_' || r == '$' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		r >= utf8.RuneSelf && !unicode.IsSpace(r)
}

// operator reports whether the parser takes r for a part of an operator.
func operator(r rune) bool { return r != 0 && strings.ContainsRune("~!@#^&|`?+-*/%<>=", r) }

package minify

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fact is a kind of thing that a description may say and must not lose.
type fact uint8

const (
	factDefault fact = 1 << iota
	factValues
	factRange
	factFormat
	factUnit
	factDeprecated
)

// stated returns the facts that the schema states itself, so that its description
// need not.
func stated(v *value) (f fact) {
	for _, m := range v.members {
		switch m.key {
		case "default":
			f |= factDefault
		case "enum", "const":
			f |= factValues
		case "format", "pattern":
			f |= factFormat
		case "deprecated":
			f |= factDeprecated
		}
	}
	if has(v, "minimum", "exclusiveMinimum") && has(v, "maximum", "exclusiveMaximum") || v.get("maxItems") != nil || v.get("maxLength") != nil {
		f |= factRange
	}
	if items := v.get("items"); items != nil && items.kind == '{' {
		f |= stated(items) & factValues
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if branches := v.get(key); branches != nil {
			f |= statedByAll(branches.items)
		}
	}
	return f
}

// statedByAll returns the facts that every branch states but for null.
func statedByAll(branches []*value) fact {
	f, any := ^fact(0), false
	for _, b := range branches {
		if b.kind == '{' && b.text("type") != "null" {
			f, any = f&stated(b), true
		}
	}
	if !any {
		return 0
	}
	return f
}

func has(v *value, keys ...string) bool {
	for _, k := range keys {
		if v.get(k) != nil {
			return true
		}
	}
	return false
}

// tell is how a sentence is known to state a fact.
type tell struct {
	fact fact
	re   *regexp.Regexp
}

var tells = []tell{
	compile(factDefault, `\bdefault`),
	compile(factValues, `\b(one of|any of|either|(allowed|valid|possible|supported|accepted|available|permitted|known) (\w+ )?(values?|options?|types?|formats?|modes?|states?)|options?( are| include)?:|values?( are| include)?:|(options|values) (are|include)|(can|may|must|should) (only )?be( either|:| \W?[\"'\x60]| one)|choices?|enum)\b|["'\x60] ?(,|or|/|\||, or) ?["'\x60]|[\w-]+, ([\w-]+, )*or [\w-]+|\((e\.g\.,? )?([\w-]+(, |/|\|)){2,}|\w=\w.*\w=\w`),
	compile(factRange, `\b(max(imum)?|min(imum)?|at (most|least)|up to|between|no (more|less|fewer) than|(more|less|fewer|greater|longer|shorter) than|range[sd]?|limit(ed)?\b.{0,20}\d|not exceed)\b|[<>≤≥]=? ?\d|(^|[^-\d])\d{1,7} ?(-|–|to|\.\.) ?\d+($|[^-\d:T])`),
	compile(factFormat, `\b(formats?|formatted|ISO[ -]?\d+|RFC[ -]?\d+|YYYY|HH:mm|UTC|unix|epoch|timestamp|base64|UUID|GUID|(comma|space|semicolon|newline|pipe)[- ]separated|delimited|stringified|JSON|regex(p)?|regular expression|MIME|E\.164|semver|hex(adecimal)?|glob|cron|absolute path|url[- ]encoded|markdown|HTML|case[- ](in)?sensitive)\b`),
	compile(factUnit, `\b(in|of|per) (milli|micro|nano)?(second|minute|hour|day|week|month|year|byte|pixel|point|cent|meter|metre|kilometer|mile|degree|character|token|percent)s?\b|\b(milliseconds?|microseconds?|seconds?|minutes?|ms|px|bytes?|[KMGT]i?B|percent(age)?|pixels?|cents|degrees|kilomet(er|re)s?|met(er|re)s|celsius|fahrenheit|Hz|fps|dpi|bps)\b|\d ?%`),
	compile(factDeprecated, `\b(deprecat|obsolete|no longer|legacy\b|removed in)`),
}

func compile(f fact, re string) tell { return tell{f, regexp.MustCompile(`(?i)` + re)} }

// factsOf returns the facts that a sentence states.
func factsOf(sentence string) (f fact) {
	for _, t := range tells {
		if t.re.MatchString(sentence) {
			f |= t.fact
		}
	}
	return f
}

// shortText returns the first sentence of a description and those after it that
// state a fact which is not in known, each without what only goes on.
func shortText(text string, known fact) string {
	all := sentences(text)
	if len(all) == 0 {
		return ""
	}
	out := []string{trim(all[0], known)}
	for _, s := range all[1:] {
		if factsOf(s)&^known != 0 {
			out = append(out, trim(s, known))
		}
	}
	short := strings.TrimSpace(strings.Join(out, " "))
	for _, article := range []string{"Specifies ", "Specify ", "The ", "the ", "A ", "An "} {
		short = strings.TrimPrefix(short, article)
	}
	if s, ok := strings.CutSuffix(short, "."); ok && !strings.HasSuffix(s, ".") {
		short = s
	}
	return short
}

// shortTool returns the start of a tool's own description, and what it says of
// its limits and of its end.
func shortTool(text string) string {
	if len(text) > maxText {
		return text
	}
	return shortText(text, factValues|factFormat)
}

// longSentence is how long a sentence may be before clauses that state no fact go.
const longSentence = 60

// trim takes out of a sentence what is in brackets or after a comma and states
// nothing, or only facts that are known.
func trim(sentence string, known fact) string {
	parts := clauses(sentence)
	size := len(sentence)
	// Where there are facts, what follows may belong to them; a condition is nothing
	// without what follows.
	tail := factsOf(sentence)&^known == 0 && !opens.MatchString(sentence)
	kept := parts[:0:0]
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		f := factsOf(p)
		if i > 0 && f&^known == 0 && (f != 0 || idleClause.MatchString(p) || tail && size > longSentence) {
			size -= len(p)
			continue
		}
		kept, tail = append(kept, p), false
	}
	slices.Reverse(kept)
	out := strings.Join(kept, "")
	if strings.HasSuffix(sentence, ".") && !strings.HasSuffix(out, ".") {
		out = strings.TrimRight(out, " ,;:-–—") + "."
	}
	return strings.TrimRight(out, " ,;:-–—")
}

// opens is how a sentence begins that says the point last.
var opens = regexp.MustCompile(`(?i)^(if|when|where|while|for|in|to|on|by|after|before|unless|once|given|as|with)\b`)

// idleClause is a clause about what the schema says in any case.
var idleClause = regexp.MustCompile(`(?i)^\W*(optional|required|not required|mandatory)\W*$`)

// clauses cuts a sentence before each bracket, comma, semicolon and dash outside
// of brackets and quotes; joined they are the sentence.
func clauses(s string) []string {
	var out []string
	start, depth := 0, 0
	cut := func(at int) {
		if at > start {
			out = append(out, s[start:at])
			start = at
		}
	}
	quoted := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '`' || c == '"' || c == '\'' && (i == 0 || s[i-1] == ' ' || s[i-1] == '(') && strings.IndexByte(s[i+1:], '\'') >= 0:
			if strings.IndexByte(s[i+1:], c) >= 0 {
				quoted = c
			}
		case strings.IndexByte("([{", c) >= 0:
			if depth == 0 && c == '(' && i > 0 && s[i-1] == ' ' {
				cut(i - 1)
			}
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth = max(depth-1, 0)
			if depth == 0 && c == ')' && i+1 < len(s) && s[i+1] == ' ' && s[start] == ' ' {
				cut(i + 1)
			}
		case depth == 0 && i+1 < len(s) && s[i+1] == ' ' && (c == ',' || c == ';'):
			cut(i)
		case depth == 0 && c == ' ' && strings.HasPrefix(s[i:], " - "):
			cut(i)
		}
	}
	cut(len(s))
	return out
}

// sentences cuts a text at the ends of sentences and lines. What follows a colon
// at the end of a line belongs to it up to the next empty line.
func sentences(text string) []string {
	var out []string
	open := false // a line with a colon waits for its list
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "":
			open = false
			continue
		case open && bullet(line):
			out[len(out)-1] += " " + line
			continue
		}
		open = strings.HasSuffix(line, ":")
		out = append(out, split(line)...)
	}
	return out
}

func bullet(line string) bool {
	r, n := utf8.DecodeRuneInString(line)
	return strings.ContainsRune("-*•–+", r) || unicode.IsDigit(r) && strings.ContainsAny(line[n:min(len(line), n+2)], ".)")
}

// split cuts a line at the ends of its sentences.
func split(line string) []string {
	var out []string
	start := 0
	depth := 0 // of brackets: what they hold belongs to its sentence
	for i, r := range line {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case '.', '!', '?', '。', '！', '？':
			end := i + utf8.RuneLen(r)
			if depth == 0 && endsSentence(line, start, i, end) {
				out = append(out, strings.TrimSpace(line[start:end]))
				start = end
			}
		}
	}
	if rest := strings.TrimSpace(line[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// endsSentence reports whether the mark at line[at:end] ends the sentence that
// began at start.
func endsSentence(line string, start, at, end int) bool {
	if line[at] >= utf8.RuneSelf { // full-width marks
		return true
	}
	rest := line[end:]
	if rest == "" {
		return true
	}
	if rest[0] != ' ' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	if unicode.IsLower(next) {
		return false
	}
	word := line[start:at]
	word = word[strings.LastIndexByte(word, ' ')+1:]
	switch strings.ToLower(strings.TrimLeft(word, "(")) {
	case "e.g", "i.e", "etc", "vs", "approx", "cf", "ex", "no", "incl", "resp":
		return false
	}
	return true
}

// repeats reports whether a short text says no more than the words of names.
func repeats(text string, names ...string) bool {
	said := words(text)
	if len(said) == 0 || len(said) > 12 {
		return false
	}
	known := map[string]bool{}
	var short []string // such as repo, for repository
	for _, name := range names {
		for _, w := range words(name) {
			known[stem(w)] = true
			if w == "identifier" {
				known["id"] = true
			}
			if len(w) >= 3 {
				short = append(short, w)
			}
		}
	}
	if len(known) == 0 {
		return false
	}
	for _, w := range said {
		if !known[stem(w)] && !idle(w) && !slices.ContainsFunc(short, func(s string) bool { return strings.HasPrefix(w, s) }) {
			return false
		}
	}
	return true
}

// idle reports whether a word says nothing by itself.
func idle(word string) bool {
	switch word {
	case "the", "a", "an", "of", "for", "to", "this", "that", "is", "be", "in", "on", "its", "it", "your", "you", "which", "with", "from", "by", "and", "s",
		"parameter", "param", "field", "value", "property", "argument", "optional", "required", "given", "specified", "specify", "specifies", "provide",
		"used", "use", "set", "name", "associated", "whose", "where",
		"when", "was", "were", "at", "has", "been", "or", "unique", "identifier", "entity", "item", "object", "target", "resource", "path", "segment", "list", "details", "information":
		return true
	}
	return false
}

// stem cuts a plural.
func stem(word string) string { return strings.TrimSuffix(word, "s") }

// words returns the words of a name or text in lower case; camelCase is two.
func words(text string) []string {
	var b strings.Builder
	var last rune
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	return strings.Fields(b.String())
}

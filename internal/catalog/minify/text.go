package minify

import (
	"regexp"
	"slices"
	"strings"
)

// shortText returns the first sentence of a description and those after it with
// which a fact would be lost, each without what only goes on. Of a list or table
// only the items that state facts are kept, all of them if what introduces it
// does.
func shortText(text string, facts reader) string {
	all := blocks(text)
	if len(all) == 0 {
		return ""
	}
	var out []string
	first := true // until something was said of what it is
	for i, b := range all {
		stated, lost := facts.read(b.text)
		items := b.lost(facts, lost&factValues != 0 || lost != 0 && row(b.text))
		if !first && len(items) == 0 && (lost == 0 || opensList(b.text)) {
			continue
		}
		s := trim(b.text, facts)
		if i > 0 && len(items) == 0 && slices.Contains(out, s) {
			continue
		}
		if len(items) > 0 && !strings.HasSuffix(s, ":") && strings.HasSuffix(b.text, ":") {
			s += ":"
		}
		out = append(append(out, s), items...)
		first = first && (stated&factDeprecated != 0 && len(s) < 40 || idleClause.MatchString(s))
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

// shortTool returns a tool's own description shortened.
func shortTool(text string, facts reader) string {
	if len(text) > maxText {
		return text
	}
	return shortText(text, facts)
}

// firstSentence returns what every shortened description begins with.
func firstSentence(text string) string {
	if len(text) > maxText {
		return ""
	}
	if all := blocks(text); len(all) > 0 {
		return trim(all[0].text, describedBy(nil))
	}
	return ""
}

// lost returns the items of a list with which facts would be lost.
func (b *block) lost(facts reader, all bool) (out []string) {
	for _, item := range b.items {
		if _, lost := facts.read(item); !all && lost == 0 {
			continue
		}
		for i, s := range split(item) {
			if _, lost := facts.read(s); i == 0 || lost != 0 {
				out = append(out, trim(s, facts))
			}
		}
	}
	return out
}

// longSentence is how long a sentence may be before clauses that state no fact go.
const longSentence = 50

// trim takes out of a sentence what is in brackets or after a comma and states
// nothing, or only facts that are known.
func trim(sentence string, facts reader) string {
	parts := clauses(sentence)
	size := len(sentence)
	_, lost := facts.read(sentence)
	// Where there are facts, what follows may belong to them; a condition is nothing
	// without what follows.
	tail := !opens.MatchString(sentence)
	var kept []clause
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		stated, left := facts.read(p.text)
		gone := i > 0 && !(i == 1 && unfinished.MatchString(parts[0].text)) && left == 0 && (stated != 0 && p.apart || idleClause.MatchString(p.text) ||
			tail && size > longSentence && p.apart && (lost == 0 || comment.MatchString(p.text)))
		if gone {
			size -= len(p.text)
			continue
		}
		kept, tail = append(kept, p), false
	}
	slices.Reverse(kept)
	var b strings.Builder
	for _, p := range kept {
		b.WriteString(p.text)
	}
	out := b.String()
	if strings.HasSuffix(sentence, ".") && !strings.HasSuffix(out, ".") {
		out = strings.TrimRight(out, " ,;:-–—") + "."
	}
	return strings.TrimRight(out, " ,;:-–—")
}

// opens is how a sentence begins that says the point last.
var opens = regexp.MustCompile(`(?i)^(if|when|where|while|for|in|to|on|by|after|before|unless|once|given|as|with)\b`)

// unfinished is the start of a sentence that is none before a comma.
var unfinished = regexp.MustCompile(`(?i)\b(a|an|the) \w+-[\w-]+$|^\W*[\w'-]+( [\w'-]+)?$`)

// idleClause is a clause about what the schema says in any case.
var idleClause = regexp.MustCompile(`(?i)^\W*(optional|required|not required|mandatory)\W*$`)

// comment begins a clause that only goes on about what was said before it.
var comment = regexp.MustCompile(`(?i)^\W*(regardless|so\b|because|since|which\b|as (it|this|they)\b|allowing|making|ensuring|enabling|helping|useful|helpful|similar|just like)`)

// A clause is a part of a sentence. One that stands apart may go and leave a
// sentence: it is in brackets, or follows a comma and is neither the rest of a
// list nor what a word such as "otherwise" announced.
type clause struct {
	text  string
	apart bool
}

// clauses cuts a sentence before each bracket, comma, semicolon and dash outside
// of brackets and quotes; joined they are the sentence.
func clauses(s string) []clause {
	var out []clause
	start, depth := 0, 0
	next := false // whether what begins at start stands apart
	cut := func(at int, apart bool) {
		if at > start {
			out = append(out, clause{s[start:at], next})
			start = at
		}
		next = apart
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
				cut(i-1, true)
			}
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth = max(depth-1, 0)
			if depth == 0 && c == ')' && i+1 < len(s) && s[i+1] == ' ' && s[start] == ' ' {
				cut(i+1, false)
			}
		case depth == 0 && i+1 < len(s) && s[i+1] == ' ' && (c == ',' || c == ';') && !announces.MatchString(s[start:i]):
			cut(i, !goesOn.MatchString(s[i:]))
		case depth == 0 && c == ' ' && (strings.HasPrefix(s[i:], " - ") || strings.HasPrefix(s[i:], " — ")):
			cut(i, true)
		}
	}
	cut(len(s), false)
	return out
}

// announces is the start of a clause that is nothing without the next.
var announces = regexp.MustCompile(`(?i)^\W*(otherwise|however|for example|for instance|e\.g\.?|i\.e\.?|such as|if not|therefore|then|instead|including)$`)

// goesOn begins the last item of a list.
var goesOn = regexp.MustCompile(`(?i)^[,;] (and|or)\b`)

package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one word of a text as written: the whole, and its parts if it is an
// identifier of several (createIssue, ms365).
type word struct {
	whole string
	parts []string
}

// Terms returns the terms of a text in order: lower case, stemmed, without stop
// words. Identifiers that differ in spelling alone (createIssue, create-issues)
// have the same terms.
func Terms(text string) []string {
	var terms []string
	split(text, func(w word) {
		parts := w.parts
		if len(parts) == 0 {
			parts = []string{w.whole}
		}
		for _, p := range parts {
			if t := term(p); t != "" {
				terms = append(terms, t)
			}
		}
	})
	return terms
}

// term normalises a word; "" for a stop word.
func term(w string) string {
	w = strings.ToLower(w)
	if isStop(w) {
		return ""
	}
	return stem(w)
}

// The classes of characters that a text is cut by.
const (
	separator = iota
	letter    // letters, marks and digits
	unspaced  // of a script that puts no spaces between words
)

func class(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' {
			return letter
		}
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー':
		return unspaced
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return letter
	}
	return separator
}

// split yields the words of a text. Everything but letters, marks and digits
// separates words; Chinese, Japanese and Korean are cut into pairs of
// neighbouring characters.
func split(text string, yield func(word)) {
	for len(text) > 0 {
		first, _ := utf8.DecodeRuneInString(text)
		c := class(first)
		end := strings.IndexFunc(text, func(r rune) bool { return class(r) != c })
		if end < 0 {
			end = len(text)
		}
		switch c {
		case letter:
			yield(word{whole: text[:end], parts: parts(text[:end])})
		case unspaced:
			bigrams(text[:end], yield)
		}
		text = text[end:]
	}
}

func bigrams(run string, yield func(word)) {
	_, first := utf8.DecodeRuneInString(run)
	for first < len(run) {
		_, second := utf8.DecodeRuneInString(run[first:])
		yield(word{whole: run[:first+second]})
		run = run[first:]
		first = second
		if len(run) == second {
			return
		}
	}
	yield(word{whole: run})
}

// parts cuts a word where camel case or a digit starts a new one. Parts of one
// character say nothing and are left out; without two others there are none.
func parts(w string) []string {
	var found []string
	start, before := 0, rune(0)
	for i, r := range w {
		if i > start && startsPart(before, r, w[i+utf8.RuneLen(r):]) {
			found = appendPart(found, w[start:i])
			start = i
		}
		before = r
	}
	if start == 0 {
		return nil
	}
	if found = appendPart(found, w[start:]); len(found) < 2 {
		return nil
	}
	return found
}

func appendPart(found []string, part string) []string {
	if utf8.RuneCountInString(part) < 2 {
		return found
	}
	return append(found, part)
}

// startsPart reports whether a part starts with r: at a capital after a small
// letter, at the last capital of an acronym (HTTPServer), between letter and
// digit.
func startsPart(before, r rune, after string) bool {
	if unicode.IsDigit(before) != unicode.IsDigit(r) {
		return true
	}
	if !unicode.IsUpper(r) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(after)
	return !unicode.IsUpper(before) || unicode.IsLower(next)
}

// stem cuts the endings off English words by which a question differs from a
// description: plurals, -ing, -ed. It need not leave words, only the same for all
// forms.
func stem(w string) string {
	if len(w) < 3 {
		return w
	}
	if strings.HasSuffix(w, "s") && !hasSuffix(w, "ss", "us", "is") {
		w = w[:len(w)-1]
	}
	for _, ending := range []string{"ing", "ed"} {
		if root := strings.TrimSuffix(w, ending); root != w && len(root) >= 3 && strings.ContainsAny(root, "aeiouy") && !hasSuffix(w, "eed") {
			w = undouble(root)
			break
		}
	}
	switch {
	case len(w) > 3 && hasSuffix(w, "ie"):
		w = w[:len(w)-1] // movie, and query from queries
	case len(w) > 3 && hasSuffix(w, "e"):
		w = w[:len(w)-1]
	case len(w) > 3 && hasSuffix(w, "y"):
		w = w[:len(w)-1] + "i"
	}
	return w
}

// undouble turns runn(ing) into run, but leaves fill, pass and buzz.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeioulsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

func hasSuffix(w string, endings ...string) bool {
	for _, e := range endings {
		if strings.HasSuffix(w, e) {
			return true
		}
	}
	return false
}

// isStop reports whether w is a word that says nothing about a tool.
func isStop(w string) bool {
	switch w {
	case "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
		"could", "did", "do", "does", "e", "each", "etc", "for", "from", "g", "had", "has", "have", "how", "i", "if",
		"in", "into", "is", "it", "its", "let", "like", "may", "me", "my", "need", "no", "not", "of", "on", "one",
		"only", "or", "our", "out", "please", "s", "should", "so", "some", "something", "such", "t", "than", "that",
		"the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "tool", "tools", "up", "us",
		"use", "used", "uses", "using", "want", "was", "we", "were", "what", "when", "where", "which", "who", "will",
		"with", "would", "you", "your":
		return true
	}
	return false
}

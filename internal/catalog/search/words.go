package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// runs yields the longest pieces of a text whose characters are all letters or
// all of a script without spaces. Everything else separates them.
func runs(text string, yield func(run string, class int)) {
	for len(text) > 0 {
		first, _ := utf8.DecodeRuneInString(text)
		c := class(first)
		end := strings.IndexFunc(text, func(r rune) bool { return class(r) != c })
		if end < 0 {
			end = len(text)
		}
		if c != separator {
			yield(text[:end], c)
		}
		text = text[end:]
	}
}

// bigrams yields the pairs of neighbouring characters of a run, or its only
// character.
func bigrams(run string, yield func(pair string)) {
	_, first := utf8.DecodeRuneInString(run)
	if first == len(run) {
		yield(run)
	}
	for first < len(run) {
		_, second := utf8.DecodeRuneInString(run[first:])
		yield(run[:first+second])
		run, first = run[first:], second
	}
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

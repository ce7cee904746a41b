package lock

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// hidden says that a reader would not see a character, or not where it stands:
// control characters, formats such as zero width and bidirectional ones, variation
// selectors, fillers, spaces that are none, private use and what is not assigned.
func hidden(r rune) bool {
	const blankBraille, replacement = 0x2800, 0xFFFD
	return !unicode.IsPrint(r) || r == blankBraille || r == replacement ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Show returns text of a stranger for a terminal, in quotes and on one line: what is
// hidden, and letters that stand for others, are \u{…}.
func Show(s string) string { return show(runes(s)) }

func show(text []rune) string {
	var b strings.Builder
	b.WriteByte('"')
	word := scripts{}
	for i, r := range text {
		if i >= word.end {
			word = scriptsAt(text, i)
		}
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case utf16.IsSurrogate(r), hidden(r), word.disguises(r):
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// scripts says what a word, which ends at end, is written in.
type scripts struct {
	latin bool // it has plain Latin letters
	end   int
}

func scriptsAt(text []rune, i int) scripts {
	var w scripts
	for i < len(text) && (unicode.IsLetter(text[i]) || unicode.IsMark(text[i])) {
		w.latin = w.latin || text[i] < utf8.RuneSelf
		i++
	}
	w.end = i
	return w
}

// disguises says that a letter in a Latin word is of another alphabet, of which some
// letters look the same, or an accent apart from its letter, which looks as if it were
// one with it.
func (w scripts) disguises(r rune) bool {
	return w.latin && r >= utf8.RuneSelf && (unicode.IsMark(r) || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee))
}

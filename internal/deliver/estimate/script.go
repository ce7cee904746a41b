package estimate

import "unicode/utf8"

// Scripts, as far as their characters cost differently.
const (
	scriptLatin = iota // words with a letter beyond ASCII in them
	scriptGreek
	scriptCyrillic
	scriptSlavonic // Cyrillic in a text with letters that Russian lacks
	scriptArmenian
	scriptGeorgian // and Ethiopic and other alphabets that are seldom met
	scriptHebrew
	scriptArabic
	scriptDevanagari
	scriptBengali
	scriptIndic // the other scripts of India
	scriptThai
	scriptHangul
	scriptHiragana
	scriptKatakana
	scriptHan
	scriptMark  // punctuation, arrows, box drawing
	scriptWide  // punctuation of CJK and full-width forms
	scriptEmoji // and all else of four bytes
	scriptRest
	scriptCount
)

const firstHan, lastHan = 0x4E00, 0x9FFF

// The cells of a script's costs. The first are for a rune behind another of its
// run, by how readily the two of them join.
const (
	cellStart  = 15                // the first rune of a run, by lead
	cellTwo    = cellStart + leads // a rune that is two tokens, on top of a start
	cellThree  = cellTwo + 1       // one that is more
	cellJoined = cellThree + 1     // a rune that is a token with the one before it
	cellChain  = cellJoined + 1    // one that could be, if that was not so of the one before
	cells      = cellChain + 1
	cellFirst  = -1 // the first rune: what a start costs is all
)

// join says how readily r joins the rune after it and the one before it, as
// logarithms of with how many runes it makes one token. r that is no token itself
// has 0 for the first, and 1 for the second if it is two.
func join(r rune) (after, before int) {
	if int(r>>8) >= len(pages) {
		return 0, 0
	}
	v := joins[int(pages[r>>8])<<8|int(r&255)] - ' '
	return int(v >> 3), int(v & 7)
}

// paired reports whether a and b make a token together. It may say so of others:
// it knows a hash of each pair alone.
func paired(a, b rune) bool {
	h := pairHash(a, b)
	return pairs[h/64]>>(h%64)&1 != 0
}

func pairHash(a, b rune) uint32 { return (uint32(a)<<16 ^ uint32(b)) * 0x9E3779B1 >> 16 }

// scriptOf returns the script of r.
func scriptOf(r rune) int {
	switch {
	case r >= firstHan && r <= lastHan:
		return scriptHan
	case r < 0x590:
		return alphabet(r)
	case r < 0x3000:
		return southern(r)
	case r >= 0xAC00 && r < 0xD7B0:
		return scriptHangul
	case r >= 0x3040 && r < 0x30A0:
		return scriptHiragana
	case r >= 0x30A0 && r < 0x3100:
		return scriptKatakana
	case r < 0x3040, r >= 0xFF00 && r < 0xFFF0:
		return scriptWide
	case r >= 0x10000:
		return scriptEmoji
	}
	return scriptRest
}

// alphabet is scriptOf for Europe.
func alphabet(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return scriptLatin
	case r < 0xC0:
		return scriptMark
	case r < 0x250:
		return scriptLatin
	case r < 0x370:
		return scriptRest
	case r < 0x400:
		return scriptGreek
	case r < 0x530:
		return scriptCyrillic
	}
	return scriptArmenian
}

// southern is scriptOf for the blocks from Hebrew to the symbols.
func southern(r rune) int {
	switch {
	case r >= 0x2000:
		return scriptMark
	case r >= 0x1E00:
		return scriptLatin
	case r < 0x600:
		return scriptHebrew
	case r < 0x900:
		return scriptArabic
	case r < 0x980:
		return scriptDevanagari
	case r < 0xA00:
		return scriptBengali
	case r < 0xE00:
		return scriptIndic
	case r < 0xE80:
		return scriptThai
	case r >= 0x10A0:
		return scriptGeorgian
	}
	return scriptIndic
}

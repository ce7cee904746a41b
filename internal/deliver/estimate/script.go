package estimate

// Scripts, as far as their characters cost differently.
const (
	scriptLatin = iota
	scriptHan
	scriptHiragana
	scriptKatakana
	scriptHangul
	scriptCyrillic
	scriptGreek
	scriptArabic // and Hebrew
	scriptIndic
	scriptThai
	scriptMark  // punctuation, arrows, box drawing
	scriptWide  // punctuation of CJK and full-width forms
	scriptEmoji // and all else of four bytes
	scriptRest
	scriptCount
)

// latin reports whether r continues a word of Latin letters.
func latin(r rune) bool { return r >= 0xC0 && r < 0x250 }

// scriptOf returns the script of r.
func scriptOf(r rune) int {
	switch {
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
	case r >= 0x590 && r < 0x780:
		return scriptArabic
	case r >= 0x900 && r < 0xE00:
		return scriptIndic
	case r >= 0xE00 && r < 0xE80:
		return scriptThai
	case r >= firstHan && r <= lastHan:
		return scriptHan
	case r >= 0x3040 && r < 0x30A0:
		return scriptHiragana
	case r >= 0x30A0 && r < 0x3100:
		return scriptKatakana
	case r >= 0xAC00 && r < 0xD7B0:
		return scriptHangul
	case r >= 0x2000 && r < 0x2C00:
		return scriptMark
	case r >= 0x3000 && r < 0x3040, r >= 0xFF00 && r < 0xFFF0:
		return scriptWide
	case r >= 0x10000:
		return scriptEmoji
	}
	return scriptRest
}

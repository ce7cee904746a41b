package definition

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// skeleton brings a name into a form that is the same for names that look the same:
// lower case, compatible forms plain, nothing invisible, no accents, letters of other
// alphabets and digits as the Latin letters that they resemble.
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		if r >= 0x80 && (invisible(r) || r >= 0x300 && r < 0x370) {
			continue
		}
		if latin, ok := resembles[r]; ok {
			r = latin
		}
		b.WriteRune(r)
	}
	lower := strings.ToLower(b.String())
	return strings.NewReplacer("rn", "m", "vv", "w").Replace(lower)
}

// resembles has the characters that one takes for Latin letters. It is not changed.
var resembles = func() map[rune]rune {
	out := map[rune]rune{'1': 'l', '0': 'o', 'I': 'l', '|': 'l', 'ı': 'i', 'ɑ': 'a', 'ɡ': 'g', 'ł': 'l', 'ø': 'o', 'đ': 'd', 'ʏ': 'y', 'ꞌ': '\''}
	for latin, others := range map[rune]string{
		'a': "аАαΑ", 'b': "ЬВΒᏏ", 'c': "сСϲᏟ", 'd': "ԁᏧᎠ", 'e': "еЕεΕҽᎬ", 'f': "ғϝ", 'g': "ԍᏀ", 'h': "һНΗհᏂ", 'i': "іІιΙɪᎥ",
		'j': "јЈϳᎫ", 'k': "кКκΚᏦ", 'l': "ӏӀᏞ", 'm': "мМΜᎷ", 'n': "пηΝռՈ", 'o': "оОοΟσօՕ", 'p': "рРρΡᏢ", 'q': "ԛզ", 'r': "гᎡ",
		's': "ѕЅՏᏚ", 't': "тТτΤᎢ", 'u': "υսՍ", 'v': "ѵνᏙ", 'w': "ԝωшᎳ", 'x': "хХχΧ", 'y': "уУγΥүᎩ", 'z': "ΖᏃ",
	} {
		for _, r := range others {
			out[r] = latin
		}
	}
	return out
}()

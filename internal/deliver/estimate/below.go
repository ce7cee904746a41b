package estimate

import (
	"encoding/json"
	"unicode/utf8"
)

// Below reports whether raw surely has no more than limit tokens, as [Result]
// counts them. It is several times as fast, because it looks at pairs of bytes and
// not at pieces; where it says no, Result may still be below.
func Below(raw json.RawMessage, limit int) bool {
	return len(raw) <= limit || bound(raw, limit*unit) <= limit*unit
}

// What a word costs at most: costs.go has none that is more.
const (
	mostFirst   = 70 // its first letter, or a run of punctuation's first mark
	mostLetter  = 6  // each other letter
	mostRare    = 18 // a step by which a pair of letters is rare
	mostCapital = 12 // a capital
	mostMark    = 30 // each other mark
	mostDigit   = 22 // a digit behind another
	mostRune    = 4 * unit
	mostHex     = 5 * unit // \uXXXX, which is all of this in structuredContent
)

// slow marks what a pair of bytes is not enough to judge.
const slow = 0xFF

// pairBounds is what a byte costs at most behind another.
var pairBounds = func() (t [utf8.RuneSelf][utf8.RuneSelf]uint8) {
	for prev := range t {
		for c := range t[prev] {
			t[prev][c] = pairBound(byte(prev), byte(c))
		}
	}
	return t
}()

func pairBound(prev, c byte) uint8 {
	was := kinds[prev]
	switch kinds[c] {
	case isLower, isUpper:
		most := 0
		if kinds[c] == isUpper {
			most = mostCapital
		}
		if was == isUpper || was == isLower && kinds[c] == isLower {
			return uint8(most + mostLetter + mostRare*int(rare[prev&31]>>(c&31*2)&3))
		}
		return uint8(most + mostFirst)
	case isDigit:
		switch was {
		case isDigit:
			return mostDigit
		case isSpace: // which is a token of its own
			return 2 * unit
		}
		return unit
	case isSpace:
		switch {
		case was == isSpace:
			return slow
		case c == ' ': // part of what follows
			return 0
		}
		return unit
	}
	switch {
	case c == '\\':
		return slow
	case was == isOther:
		return mostMark
	case was == isSpace && prev != ' ':
		return mostFirst + unit
	}
	return mostFirst
}

// bound returns a sum that is no less than the meter's for raw, or any above most.
func bound(raw []byte, most int) int {
	sum := 2*unit + len(raw)/1024*2*unit // pieces that end where a stretch of a literal does
	prev := byte(' ')
	for i := 0; i < len(raw) && sum <= most; {
		end := min(i+256, len(raw))
		for i < end {
			c := raw[i]
			if c < utf8.RuneSelf {
				if cost := pairBounds[prev&(utf8.RuneSelf-1)][c]; cost != slow {
					sum += int(cost)
					prev = c
					i++
					continue
				}
			}
			n, cost := slowBound(raw, i)
			sum += cost
			i += n
			prev = '.'
			if c < utf8.RuneSelf {
				prev = ' '
			}
		}
	}
	return sum
}

// slowBound returns the length and the most that it costs of what begins at b[i]: an
// escape, white space behind white space or a word with runes beyond ASCII.
func slowBound(b []byte, i int) (n, cost int) {
	switch {
	case kinds[b[i]] == isSpace:
		for n = 1; i+n < len(b) && kinds[b[i+n]] == isSpace; n++ {
		}
		return n, 3*unit + n*unit/40
	case b[i] == '\\' && i+1 == len(b):
		return 1, mostFirst
	case b[i] == '\\' && b[i+1] != 'u':
		if kinds[b[i+1]] == isLower { // white space, or a backslash and a word
			return 2, mostFirst
		}
		return 2, mostFirst + mostMark
	}
	for j := i - 1; j >= 0 && (kinds[b[j]] == isLower || kinds[b[j]] == isUpper); j-- {
		cost += mostRune // a letter of such a word is dearer than it was taken for
	}
	for i+n < len(b) {
		switch k := kinds[b[i+n]]; {
		case k == isHigh, k == isLower, k == isUpper:
			_, size := utf8.DecodeRune(b[i+n:])
			cost += mostRune
			n += size
		case b[i+n] == '\\' && i+n+1 < len(b) && b[i+n+1] == 'u':
			cost += mostHex
			n += min(6, len(b)-i-n)
		default:
			return n, cost
		}
	}
	return n, cost
}

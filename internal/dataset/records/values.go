package records

import (
	"bytes"
	"math"
	"strconv"
)

// holds is the kinds of values that a column has, as a set.
type holds uint16

const (
	hasBool   holds = 1 << iota
	hasSmall        // integers that a double holds as well
	hasInt          // other integers of 64 bits
	hasHuge         // other integers of 128 bits
	hasDouble       // numbers with a fraction or an exponent that a double holds
	hasOdd          // numbers that no type holds exactly
	hasText
	hasArray
	hasObject
	hasWhole // objects that are no columns: too deep, or with too many keys

	integers = hasSmall | hasInt | hasHuge
	numbers  = integers | hasDouble | hasOdd
)

// typ is the narrowest type that keeps all of the values.
func (h holds) typ() Type {
	switch {
	case h == 0:
		return Null
	case h == hasBool:
		return Boolean
	case h == hasText:
		return Text
	case h&^numbers != 0:
		return JSON
	case h&^(hasSmall|hasInt) == 0:
		return Integer
	case h&^integers == 0:
		return Huge
	case h&^(hasSmall|hasDouble) == 0:
		return Double
	}
	return Number
}

// numberKind says which numbers n is one of; it is a JSON number.
func numberKind(n []byte, integer bool) holds {
	if !integer {
		if keepsDigits(n) {
			return hasDouble
		}
		return hasOdd
	}
	digits := n
	if n[0] == '-' {
		digits = n[1:]
	}
	switch {
	case len(digits) <= 15:
		if digits[0] == '0' && len(n) > len(digits) {
			return hasOdd // -0 has a sign that integers lack
		}
		return hasSmall
	case len(digits) < 19:
		if len(digits) == 16 && string(digits) <= "9007199254740992" { // 2^53
			return hasSmall
		}
		return hasInt
	case len(digits) == 19 && fits(n, digits, "9223372036854775807", "9223372036854775808"):
		return hasInt
	case len(digits) < 39 || len(digits) == 39 && fits(n, digits,
		"170141183460469231731687303715884105727", "170141183460469231731687303715884105728"):
		return hasHuge
	}
	return hasOdd
}

// fits compares digits with the bounds of a type that has as many.
func fits(n, digits []byte, most, least string) bool {
	if len(n) > len(digits) {
		return string(digits) <= least
	}
	return string(digits) <= most
}

// keepsDigits reports whether a double has all digits of n: what it prints as has the
// same ones.
func keepsDigits(n []byte) bool {
	var buf [48]byte
	digits := mantissa(buf[:0], n)
	if len(digits) > 17 {
		return false
	}
	if len(digits) <= 15 && !bytes.ContainsAny(n, "eE") && len(n) < 40 {
		return true // a double keeps 15 digits of whatever is no extreme
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.IsInf(f, 0) {
		return false
	}
	var shortest [32]byte
	var back [48]byte
	return bytes.Equal(mantissa(back[:0], strconv.AppendFloat(shortest[:0], f, 'e', -1, 64)), digits)
}

// mantissa appends the significant digits of n to dst, at most about 40 of them.
func mantissa(dst, n []byte) []byte {
	for _, c := range n {
		switch {
		case c|0x20 == 'e':
			return trimZeros(dst)
		case !isDigit(c), c == '0' && len(dst) == 0:
		case len(dst) < 40:
			dst = append(dst, c)
		case c != '0':
			return dst // too many for any type: how many does not matter
		}
	}
	return trimZeros(dst)
}

func trimZeros(digits []byte) []byte { return bytes.TrimRight(digits, "0") }

// looks is what all texts of a column might be beside texts, as a set.
type looks uint8

const (
	looksDate looks = 1 << iota
	looksTime
	looksNumber
	allLooks = looksDate | looksTime | looksNumber
)

// look says what the text might be.
func look(text []byte) looks {
	if len(text) == 0 || len(text) > 40 {
		return 0
	}
	if isNumeric(text) {
		return looksNumber
	}
	if len(text) < 10 || text[4] != '-' || text[7] != '-' || !allDigits(text[:4]) || !between(text[5:7], "01", "12") || !between(text[8:10], "01", "31") {
		return 0
	}
	switch {
	case len(text) == 10:
		return looksDate
	case (text[10] == 'T' || text[10] == ' ') && isClock(text[11:]):
		return looksTime
	}
	return 0
}

// isClock reports whether text is 10:30, 10:30:00 or 10:30:00.123, with Z or +02:00
// after it or not.
func isClock(text []byte) bool {
	if len(text) < 5 || text[2] != ':' || !between(text[:2], "00", "23") || !between(text[3:5], "00", "59") {
		return false
	}
	text = text[5:]
	if len(text) >= 3 && text[0] == ':' && between(text[1:3], "00", "59") {
		text = text[3:]
		if len(text) > 1 && text[0] == '.' {
			text = bytes.TrimLeft(text[1:], "0123456789")
		}
	}
	switch {
	case len(text) == 0 || string(text) == "Z":
		return true
	case text[0] != '+' && text[0] != '-':
		return false
	case len(text) == 6:
		return allDigits(text[1:3]) && text[3] == ':' && allDigits(text[4:])
	}
	return len(text) == 3 && allDigits(text[1:])
}

// note is a hint for whoever queries a column of texts.
func (l looks) note() string {
	switch l {
	case looksDate:
		return "ISO dates: cast to DATE"
	case looksTime:
		return "ISO times: cast to TIMESTAMP"
	case looksNumber:
		return "numbers as text"
	}
	return ""
}

// between compares two digits.
func between(b []byte, least, most string) bool {
	return allDigits(b) && string(b) >= least && string(b) <= most
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// isNumeric reports whether text is a number in some usual notation: 007, +49, 1.10,
// 1e5.
func isNumeric(text []byte) bool {
	if len(text) > 0 && text[0] == '+' {
		text = text[1:]
	}
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	if len(text) == 0 || !isDigit(text[0]) {
		return false
	}
	for len(text) > 1 && text[0] == '0' && isDigit(text[1]) {
		text = text[1:]
	}
	s := scanner{b: text}
	end, _, err := s.number(0)
	return err == nil && end == len(text)
}

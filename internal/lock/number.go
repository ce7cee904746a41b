package lock

import (
	"strconv"
	"strings"
)

// Bounds of a number in canonical form: how many digits it may have without an
// exponent, and which exponents are calculated with. One beyond stays as spelled, so
// that another spelling of the same number counts as a change.
const (
	maxPlain    = 40
	maxExponent = 1_000_000
)

// number returns the canonical spelling of a number of JSON; what is none comes back as
// it is. No digit is lost: 1.0, 10e-1 and 1 are "1", and 2^53 is not 2^53+1.
func number(s string) string {
	if s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return s
	}
	rest, negative := strings.CutPrefix(s, "-")
	exponent := 0
	if e := strings.IndexAny(rest, "eE"); e >= 0 {
		n, err := strconv.Atoi(rest[e+1:])
		zero := strings.Trim(rest[:e], "0.") == ""
		if !zero && (err != nil || n > maxExponent || n < -maxExponent) {
			return s
		}
		rest, exponent = rest[:e], n
	}
	whole, fraction, _ := strings.Cut(rest, ".")
	exponent -= len(fraction)
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0" // also -0, which equals it
	}
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	out := spell(short, exponent)
	if negative {
		out = "-" + out
	}
	return out
}

// spell writes digits × 10^exponent.
func spell(digits string, exponent int) string {
	point := len(digits) + exponent // how many digits stand before the decimal point
	switch {
	case exponent >= 0 && point <= maxPlain:
		return digits + strings.Repeat("0", exponent)
	case exponent < 0 && point > 0:
		return digits[:point] + "." + digits[point:]
	case exponent < 0 && len(digits)-point <= maxPlain:
		return "0." + strings.Repeat("0", -point) + digits
	case len(digits) == 1:
		return digits + "e" + strconv.Itoa(exponent)
	}
	return digits[:1] + "." + digits[1:] + "e" + strconv.Itoa(point-1)
}

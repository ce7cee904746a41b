package schema

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
)

// maxExponent bounds exponents: beyond it all numbers compare alike, which no
// schema can tell, since its own are bounded far below.
const maxExponent = 1 << 40

// decimal is a JSON number, exact: ±0.digits × 10^exp. digits has no zeros at
// either end; it is empty for zero.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// parseDecimal reads the text of a JSON number. Its time is linear in the text,
// whatever the exponent says.
func parseDecimal(s string) decimal {
	var d decimal
	if strings.HasPrefix(s, "-") {
		d.neg, s = true, s[1:]
	}
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exp = clampExponent(s[i+1:])
		s = s[:i]
	}
	whole, frac, _ := strings.Cut(s, ".")
	d.digits = whole
	if frac != "" {
		d.digits = whole + frac
	}
	d.exp = exp + len(whole)
	trimmed := strings.TrimLeft(d.digits, "0")
	d.exp -= len(d.digits) - len(trimmed)
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func clampExponent(s string) int {
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "+"), 10, 64)
	if err != nil {
		n = maxExponent
		if strings.HasPrefix(s, "-") {
			n = -maxExponent
		}
	}
	return int(min(max(n, -maxExponent), maxExponent))
}

func (d decimal) isInteger() bool { return len(d.digits) <= max(d.exp, 0) }

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// cmp returns -1, 0 or 1.
func (d decimal) cmp(o decimal) int {
	if s, t := d.sign(), o.sign(); s != t {
		return cmp.Compare(s, t)
	}
	c := cmp.Compare(d.exp, o.exp)
	if c == 0 {
		c = strings.Compare(d.digits, o.digits)
	}
	if d.neg {
		return -c
	}
	return c
}

// maxMultipleDigits bounds the digits of a number that is divided.
const maxMultipleDigits = 2000

// isMultipleOf says whether d is an integer multiple of o, which is not zero.
func (d decimal) isMultipleOf(o decimal) bool {
	if d.digits == "" {
		return true
	}
	if len(d.digits) > maxMultipleDigits {
		return false
	}
	m, _ := new(big.Int).SetString(d.digits, 10)
	by, _ := new(big.Int).SetString(o.digits, 10)
	// d / o = m/by × 10^shift
	shift := (d.exp - len(d.digits)) - (o.exp - len(o.digits))
	if shift < 0 {
		return false // m does not end in a zero, so no power of ten divides it
	}
	pow := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), by)
	return m.Mul(m, pow).Mod(m, by).Sign() == 0
}

// text returns the canonical spelling, equal for equal numbers.
func (d decimal) text() string {
	if d.digits == "" {
		return "0"
	}
	s := d.digits + "e" + strconv.Itoa(d.exp)
	if d.neg {
		return "-" + s
	}
	return s
}

// bound is a number of a schema: fast for the usual small integers.
type bound struct {
	small bool
	i     int64
	dec   decimal
	// shown is its spelling in messages.
	shown string
}

func newBound(r *big.Rat) *bound {
	if r == nil {
		return nil
	}
	places, _ := r.FloatPrec()
	b := &bound{shown: r.FloatString(places)}
	b.dec = parseDecimal(b.shown)
	if i, ok := smallInt(b.shown); ok {
		b.small, b.i = true, i
	}
	return b
}

// cmp compares the number written as text with b.
func (b *bound) cmp(text string) int {
	if b.small {
		if i, ok := smallInt(text); ok {
			return cmp.Compare(i, b.i)
		}
	}
	return parseDecimal(text).cmp(b.dec)
}

func (b *bound) divides(text string) bool {
	if i, ok := smallInt(text); ok && b.small && b.i != 0 {
		return i%b.i == 0
	}
	return parseDecimal(text).isMultipleOf(b.dec)
}

// smallInt reads a plain integer of up to 18 digits. It does not allocate for what
// is none, as strconv does.
func smallInt(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	var i int64
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = i*10 + int64(c-'0')
	}
	if len(digits) < len(s) {
		i = -i
	}
	return i, true
}

// isInteger says whether the number written as text has no fraction: 5.0 and 5e0
// are integers.
func isInteger(text string) bool {
	return !strings.ContainsAny(text, ".eE") || parseDecimal(text).isInteger()
}

func sameNumber(a, b string) bool {
	return a == b || parseDecimal(a).cmp(parseDecimal(b)) == 0
}

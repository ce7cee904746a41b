//go:build cgo

package worker

import (
	"math/big"
	"strconv"
	"strings"
)

// Values as the engine prints them, where asking it would cost a statement.

func formatHuge(h hugeint) string {
	n := new(big.Int).Lsh(big.NewInt(h.upper), 64)
	return n.Or(n, new(big.Int).SetUint64(h.lower)).String()
}

// formatDouble prints the shortest text that reads as f, with a fraction or an
// exponent.
func formatDouble(f float64) string {
	switch {
	case f != f:
		return "nan"
	case f > maxFinite:
		return "inf"
	case f < -maxFinite:
		return "-inf"
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	_, exponent, _ := strings.Cut(s, "e")
	if n, _ := strconv.Atoi(exponent); n < -4 || n >= 16 {
		return s
	}
	s = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

const maxFinite = 0x1p1023 * (1 + (1 - 0x1p-52))

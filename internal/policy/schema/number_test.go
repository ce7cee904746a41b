package schema

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Numbers are compared as text; the outcome must be that of exact arithmetic.
func TestNumbersAreExact(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got, want := parseDecimal(a).cmp(parseDecimal(b)), x.Cmp(y); got != want {
			t.Fatalf("cmp(%s, %s): got %d, want %d", a, b, got, want)
		}
		if got, want := newBound(y).cmp(a), x.Cmp(y); got != want {
			t.Fatalf("bound %s, cmp(%s): got %d, want %d", b, a, got, want)
		}
		if got, want := isInteger(a), x.IsInt(); got != want {
			t.Fatalf("isInteger(%s): got %v, want %v", a, got, want)
		}
		if y.Sign() == 0 {
			return
		}
		if got, want := newBound(y).divides(a), new(big.Rat).Quo(x, y).IsInt(); got != want {
			t.Fatalf("%s is a multiple of %s: got %v, want %v", a, b, got, want)
		}
	})
}

// An exponent costs nothing, however large.
func TestHugeNumbersAreCheap(t *testing.T) {
	start := time.Now()
	three := newBound(big.NewRat(3, 1))
	huge := "3e" + strings.Repeat("9", 100_000)
	if !three.divides("3e999999999") || three.divides("1e999999999") || three.divides("3e-999999999") {
		t.Error("wrong multiples of 3")
	}
	if three.cmp(huge) != 1 || three.cmp("-"+huge) != -1 || !isInteger(huge) || isInteger("3e-999999999") {
		t.Error("wrong order of huge numbers")
	}
	if three.divides(strings.Repeat("3", 1_000_000)) {
		t.Error("a number of a million digits was divided")
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("took %v", d)
	}
}

package figures

import (
	"strconv"

	"heddle/internal/ledger"
)

// Tokens say what hosts took, and what they would have taken without heddle.
type Tokens struct {
	// Native is the definitions of all tools, Surface what hosts listed instead and
	// Shown the definitions that searches and descriptions showed.
	Native  int64 `json:"native_tokens"`
	Surface int64 `json:"surface_tokens"`
	Shown   int64 `json:"shown_tokens"`
	// Upstream is what servers answered, Delivered what hosts got of it at once, and
	// Read what they read on later.
	Upstream  int64 `json:"upstream_tokens"`
	Delivered int64 `json:"delivered_tokens"`
	Read      int64 `json:"read_tokens"`
	// Saved is Native - (Surface + Shown) + Upstream - (Delivered + Read), Percent
	// its part of Native and Upstream.
	Saved   int64 `json:"saved_tokens"`
	Percent int   `json:"saved_percent"`
}

func tokensOf(s ledger.Sums) Tokens {
	return Tokens{
		Native: s.Native, Surface: s.Surface, Shown: s.Shown, Upstream: s.Upstream, Delivered: s.Delivered, Read: s.Read,
		Saved: s.Saved(), Percent: Percent(s.Saved(), s.Without()),
	}
}

// Without is what hosts would have taken without heddle, With what they took.
func (t Tokens) Without() int64 { return t.Native + t.Upstream }

// With is what hosts took.
func (t Tokens) With() int64 { return t.Surface + t.Shown + t.Delivered + t.Read }

// Percent returns part of whole in rounded percent; 0 of nothing.
func Percent(part, whole int64) int {
	if whole == 0 {
		return 0
	}
	half := whole / 2
	if part < 0 {
		half = -half
	}
	return int((100*part + half) / whole)
}

// Thousands writes a number with commas.
func Thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

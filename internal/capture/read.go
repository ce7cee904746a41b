package capture

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"

	"heddle"
)

// budgetLeast is the smallest budget: a page has room for any rune, so that paging
// always comes to an end.
const budgetLeast = 8

// Page is a part of a capture.
type Page struct {
	// Text is the exact bytes. It begins and ends between runes; bytes that are no
	// UTF-8 are in it as they are, and each is taken for a rune of its own.
	Text string
	// Offset and End are where it begins and ends, Size is the capture's, in bytes.
	Offset, End, Size int64
	// Next is the cursor of the following page; "" at the end.
	Next string
	// FirstLine and LastLine are the lines of its first and last byte, from 1.
	FirstLine, LastLine int
}

// Page returns the part that a cursor points to; "" is the beginning. As the inside
// of a JSON string ([JSONSize]) it takes at most budget bytes; a budget below 8 is
// 8. It ends at the end of a line if one is in the last quarter of the budget. The
// pages from the beginning on, put together, are the capture.
//
// A cursor of something else is a [heddle.Error] of kind invalid_cursor.
func (c *Capture) Page(cursor string, budget int) (Page, error) {
	off, err := c.offset(cursor)
	if err != nil {
		return Page{}, err
	}
	budget = max(budget, budgetLeast)
	// No byte takes less than one in JSON. The rest decides whether the last rune is
	// whole, and what it goes with.
	b := make([]byte, min(int64(budget)+togetherMost, c.Size-off))
	lines := int64(0)
	if len(b) > 0 {
		if _, lines, err = c.readAt(b, off); err != nil && err != io.EOF {
			return Page{}, err
		}
	}
	b = b[:cut(b, budget)]
	p := Page{Text: string(b), Offset: off, End: off + int64(len(b)), Size: c.Size, FirstLine: int(lines) + 1}
	if len(b) == 0 {
		p.FirstLine = max(1, c.Lines)
	}
	p.LastLine = p.FirstLine + bytes.Count(b[:max(0, len(b)-1)], newline)
	if p.End < c.Size {
		p.Next = c.Cursor(p.End)
	}
	return p, nil
}

// cut returns how much of b is a page: what fits the budget, or less where that
// reads better. It is never 0 unless b is empty.
func cut(b []byte, budget int) int {
	fit, cost, line := 0, 0, 0
	for fit < len(b) {
		r, n := utf8.DecodeRune(b[fit:])
		w := jsonWidth(r, n)
		if cost+w > budget {
			break
		}
		cost += w
		fit += n
		if r == '\n' && cost >= budget-budget/4 {
			line = fit
		}
	}
	switch {
	case fit == len(b): // all that is left: there is more in b than fits otherwise
		return fit
	case line > 0:
		return line
	}
	return apart(b, fit)
}

// togetherMost is how many bytes back apart looks.
const togetherMost = 32

// apart moves a cut back to where it does not part what is seen as one: a carriage
// return and its line feed, a letter and the marks on it, joined emoji.
func apart(b []byte, at int) int {
	for i := at; i > 0 && at-i < togetherMost; {
		next, _ := utf8.DecodeRune(b[i:])
		last, n := utf8.DecodeLastRune(b[:i])
		if !joined(last, next) {
			return i
		}
		i -= n
	}
	return at
}

func joined(a, b rune) bool {
	const joiner = 0x200d
	switch {
	case a == '\r' && b == '\n':
		return true
	case b < 0x300:
		return false
	}
	return a == joiner || b == joiner || unicode.In(b, unicode.Mn, unicode.Me, unicode.Mc, unicode.Variation_Selector) ||
		b >= 0x1f3fb && b <= 0x1f3ff // skin tones
}

// JSONSize returns how many bytes s takes inside a JSON string, quotes not counted,
// as encoding/json writes it without HTML escapes. Bytes that are no UTF-8 are
// replaced in JSON; they count as the replacement.
func JSONSize(s string) int {
	size := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			size += jsonWidth(rune(c), 1)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		size += jsonWidth(r, n)
		i += n
	}
	return size
}

// jsonWidth is JSONSize of a rune that takes n bytes.
func jsonWidth(r rune, n int) int {
	switch {
	case r >= 0x20 && r < utf8.RuneSelf && r != '"' && r != '\\':
		return 1
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < 0x20 || r == '\u2028' || r == '\u2029' || r == utf8.RuneError && n == 1:
		return 6
	}
	return n
}

// checkDigits is how many digits at the end of a cursor tie it to its capture.
const checkDigits = 3

// Cursor returns the cursor for an offset in the capture. A page from the middle of
// a rune begins with bytes that are no UTF-8.
func (c *Capture) Cursor(off int64) string {
	pos := strconv.FormatInt(off, 36)
	return pos + c.check(pos)
}

func (c *Capture) check(pos string) string {
	const values = 36 * 36 * 36
	sum := crc32.ChecksumIEEE([]byte(c.Ref + " " + pos))
	return strconv.FormatInt(values+int64(sum%values), 36)[1:] // with leading zeros
}

var errCursor = errors.New("no cursor of this capture")

// offset returns where a cursor points to.
func (c *Capture) offset(cursor string) (int64, error) {
	if cursor == "" {
		return 0, nil
	}
	if i := len(cursor) - checkDigits; i > 0 {
		pos := cursor[:i]
		off, err := strconv.ParseInt(pos, 36, 64)
		if err == nil && off >= 0 && off <= c.Size && cursor == c.Cursor(off) {
			return off, nil
		}
	}
	return 0, &heddle.Error{
		Kind: heddle.KindInvalidCursor, Op: "capture.page", Err: errCursor,
		Public: "This is no cursor of " + c.Ref + ": take next_cursor from its last page, as it is, or leave cursor out to begin at the start.",
	}
}

package upstream

import (
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// strays counts lines on stdout that are no messages and keeps the first few.
type strays struct {
	mask  func(string) string
	mu    sync.Mutex
	count int64
	first []string
}

const (
	straysKept  = 5
	strayLength = 200
	strayMasked = 8 << 10 // secrets are hidden before the cut, which may go through one
)

func (s *strays) add(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if len(s.first) < straysKept {
		text := s.mask(string(line[:min(len(line), strayMasked)]))
		s.first = append(s.first, printable([]byte(text), strayLength))
	}
}

func (s *strays) get() (int64, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count, append([]string(nil), s.first...)
}

// printable cuts b to n bytes and escapes what a terminal would act on or would
// not show.
func printable(b []byte, n int) string {
	cut := len(b) > n
	if cut {
		b = b[:n]
	}
	var out strings.Builder
	for _, r := range string(b) {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			q := strconv.QuoteRune(r)
			out.WriteString(q[1 : len(q)-1])
		}
	}
	if cut {
		out.WriteString("…")
	}
	return out.String()
}

package policy

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPattern is the longest pattern that is accepted, in bytes.
const maxPattern = 1024

// glob is a pattern as path.Match has them: "*", "?", "[a-z]", "[^a-z]" (or
// "[!a-z]") and "\" before a literal; and "{a,b}" for alternatives, one level.
// Matching takes time in proportion to pattern and name, whatever they are.
type glob struct {
	alts [][]element
	// ascii says that the pattern has no letter beyond ASCII.
	ascii bool
}

// element is one step of a pattern.
type element struct {
	kind   elementKind
	r      rune      // literal
	ranges [][2]rune // class
	negate bool
}

type elementKind uint8

const (
	literal  elementKind = iota
	anyOne               // ?
	anyMany              // *
	anyDeep              // **
	runeList             // [a-z]
)

var errBadPattern = errors.New("malformed pattern")

// parseGlob reads a pattern.
func parseGlob(pattern string) (*glob, error) {
	if pattern == "" || len(pattern) > maxPattern || !utf8.ValidString(pattern) {
		return nil, errBadPattern
	}
	alts, err := alternatives(pattern)
	if err != nil {
		return nil, err
	}
	g := &glob{ascii: true}
	for _, alt := range alts {
		el, err := parseElements(alt)
		if err != nil {
			return nil, err
		}
		g.alts = append(g.alts, el)
	}
	for _, r := range pattern {
		g.ascii = g.ascii && r < utf8.RuneSelf
	}
	return g, nil
}

// maxAlternatives bounds what the braces of one pattern may multiply to.
const maxAlternatives = 64

// alternatives spells the braces out: "a{b,c}" is "ab" and "ac".
func alternatives(pattern string) ([]string, error) {
	open, end, commas, err := firstBraces(pattern)
	if err != nil {
		return nil, err
	}
	if open < 0 {
		return []string{pattern}, nil
	}
	rest, err := alternatives(pattern[end+1:])
	if err != nil {
		return nil, err
	}
	var out []string
	from := open + 1
	for _, to := range append(commas, end) {
		for _, tail := range rest {
			out = append(out, pattern[:open]+pattern[from:to]+tail)
		}
		from = to + 1
	}
	if len(out) > maxAlternatives {
		return nil, errBadPattern
	}
	return out, nil
}

// firstBraces finds the first pair and the commas within, outside of escapes and
// classes. open is -1 if there is none.
func firstBraces(p string) (open, end int, commas []int, err error) {
	open = -1
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '{' && open < 0:
			open = i
		case c == '{', c == '}' && open < 0:
			return 0, 0, nil, errBadPattern
		case c == ',' && open >= 0:
			commas = append(commas, i)
		case c == '}':
			return open, i, commas, nil
		}
	}
	if open >= 0 {
		return 0, 0, nil, errBadPattern
	}
	return -1, 0, nil, nil
}

func parseElements(p string) ([]element, error) {
	var out []element
	rs := []rune(p)
	for i := 0; i < len(rs); i++ {
		switch r := rs[i]; r {
		case '*':
			kind := anyMany
			for i+1 < len(rs) && rs[i+1] == '*' {
				kind = anyDeep
				i++
			}
			out = append(out, element{kind: kind})
		case '?':
			out = append(out, element{kind: anyOne})
		case '[':
			el, n, err := parseClass(rs[i+1:])
			if err != nil {
				return nil, err
			}
			out = append(out, el)
			i += n
		case '\\':
			if i++; i == len(rs) {
				return nil, errBadPattern
			}
			out = append(out, element{r: rs[i]})
		default:
			out = append(out, element{r: r})
		}
	}
	return out, nil
}

// parseClass reads what follows "[" and returns how many runes that was.
func parseClass(rs []rune) (element, int, error) {
	el := element{kind: runeList}
	i := 0
	one := func() (rune, bool) {
		if i < len(rs) && rs[i] == '\\' {
			i++
		}
		if i >= len(rs) {
			return 0, false
		}
		i++
		return rs[i-1], true
	}
	if len(rs) > 0 && (rs[0] == '^' || rs[0] == '!') {
		el.negate = true
		i++
	}
	for i < len(rs) && rs[i] != ']' {
		if rs[i] == '-' {
			return el, 0, errBadPattern
		}
		lo, ok := one()
		hi := lo
		if i+1 < len(rs) && rs[i] == '-' && rs[i+1] != ']' {
			i++
			hi, ok = one()
		}
		if !ok || hi < lo {
			return el, 0, errBadPattern
		}
		el.ranges = append(el.ranges, [2]rune{lo, hi})
	}
	if i >= len(rs) || len(el.ranges) == 0 {
		return el, 0, errBadPattern
	}
	return el, i + 1, nil
}

// matching says how a glob is applied.
type matching struct {
	fold  bool // ignore case
	slash bool // "*" and "?" match "/"
}

// match says whether the whole of name fits.
func (g *glob) match(name string, m matching) bool {
	for _, alt := range g.alts {
		states := m.run(alt, name)
		if states != nil && states[len(alt)] {
			return true
		}
	}
	return false
}

// reaches says whether some name with that prefix and more could fit.
func (g *glob) reaches(prefix string, m matching) bool {
	for _, alt := range g.alts {
		// Some element must be left for the rest, or one that takes any length.
		for i, on := range m.run(alt, prefix) {
			if on && i < len(alt) {
				return true
			}
		}
	}
	return false
}

// run returns the positions in the pattern that can be reached by reading s, nil if
// none can.
func (m matching) run(alt []element, s string) []bool {
	now := make([]bool, len(alt)+1)
	m.enter(alt, now, 0)
	for _, r := range s {
		next, live := make([]bool, len(alt)+1), false
		for i, on := range now[:len(alt)] {
			if !on || !m.takes(&alt[i], r) {
				continue
			}
			live = true
			if k := alt[i].kind; k == anyMany || k == anyDeep {
				m.enter(alt, next, i)
			} else {
				m.enter(alt, next, i+1)
			}
		}
		if !live {
			return nil
		}
		now = next
	}
	return now
}

// enter marks position i, and those behind stars that may match nothing.
func (m matching) enter(alt []element, at []bool, i int) {
	for ; i < len(alt); i++ {
		at[i] = true
		if alt[i].kind != anyMany && alt[i].kind != anyDeep {
			return
		}
	}
	at[i] = true
}

func (m matching) takes(el *element, r rune) bool {
	switch el.kind {
	case anyDeep:
		return true
	case anyOne, anyMany:
		return m.slash || r != '/'
	case literal:
		return el.r == r || m.fold && sameFold(el.r, r)
	}
	return el.has(r) != el.negate && (m.slash || r != '/' || !el.negate) ||
		m.fold && m.takesOtherCase(el, r)
}

// takesOtherCase is for classes: a rune fits a deny's if it does in any case, also
// where the class is negated.
func (m matching) takesOtherCase(el *element, r rune) bool {
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if el.has(f) != el.negate {
			return true
		}
	}
	return false
}

func (el *element) has(r rune) bool {
	for _, rg := range el.ranges {
		if rg[0] <= r && r <= rg[1] {
			return true
		}
	}
	return false
}

func sameFold(a, b rune) bool {
	for f := unicode.SimpleFold(a); f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return false
}

// splitPattern cuts "server/tool" at the first "/" that is not escaped or in a
// class.
func splitPattern(p string) (server, tool string, ok bool) {
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '/':
			return p[:i], p[i+1:], true
		}
	}
	return "", p, false
}

// safeName replaces what hosts do not accept in names.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

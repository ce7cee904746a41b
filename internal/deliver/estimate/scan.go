package estimate

import "unicode/utf8"

// The kinds of a byte.
const (
	isOther = iota // punctuation and control characters
	isLower
	isUpper
	isDigit
	isSpace
	isHigh // part of a rune beyond ASCII
)

// scan adds the cost of b. The encoding first cuts a text into pieces (words with
// the space before them, up to three digits, runs of punctuation, white space)
// and merges within each, so the sum over the pieces is exact but for what a
// piece costs, which is an average of its kind, shape and length.
func (m *meter) scan(b []byte) {
	sum := 0
	for i := 0; i < len(b); {
		n, cost := m.piece(b, i)
		i += n
		sum += cost
	}
	m.sum += sum
}

// piece returns the length and cost of the piece at b[i].
func (m *meter) piece(b []byte, i int) (n, cost int) {
	c := b[i]
	switch kinds[c] {
	case isLower, isUpper:
		return m.word(b, i, 0, leadNone)
	case isDigit:
		n = 1
		for n < 3 && i+n < len(b) && kinds[b[i+n]] == isDigit {
			n++
		}
		return n, unit
	case isSpace:
		return m.white(b, i)
	case isHigh:
		return m.high(b, i, 0, leadNone)
	}
	if i+1 < len(b) {
		switch kinds[b[i+1]] {
		case isLower, isUpper:
			if c == '\\' {
				return m.escaped(b, i)
			}
			if c == '@' { // an address, which has names
				m.strange = max(m.strange, (m.strange+5*odder)/2)
			}
			return m.word(b, i, 1, leadMark)
		case isHigh:
			return m.high(b, i, 1, leadMark)
		}
	}
	return marks(b, i, 0)
}

// Leads are what is glued to the front of a word.
const (
	leadNone = iota
	leadSpace
	leadMark
	leads
)

// Shapes of a word.
const (
	shapeLower = iota
	shapeTitle
	shapeUpper
	shapeMixed
	shapes
)

const (
	longest = 16 // words from here on cost by the letter
	tongues = 4
	odds    = 9 // how rare the pairs of letters are, summed up
)

// word returns the piece of capitals and then small letters at b[i+skip].
func (m *meter) word(b []byte, i, skip, lead int) (n, cost int) {
	rest := b[i+skip:]
	upper, odd := 0, 0
	prev := byte(0)
	for upper < len(rest) && kinds[rest[upper]] == isUpper {
		c := rest[upper] & 31
		odd += int(rare[prev] >> (c * 2) & 3)
		prev = c
		upper++
	}
	letters := upper
	for letters < len(rest) && kinds[rest[letters]] == isLower {
		c := rest[letters] & 31
		odd += int(rare[prev] >> (c * 2) & 3)
		prev = c
		letters++
	}
	if letters < len(rest) && rest[letters] >= utf8.RuneSelf {
		if r, _ := utf8.DecodeRune(rest[letters:]); scriptOf(r) == scriptLatin { // a word with é in it
			return m.high(b, i, skip, lead)
		}
	}
	odd = min(odd, odds-1)
	row := ((m.tongue()*odds+odd)*shapes+shape(upper, letters))*leads + lead
	cost = int(words[row*(longest+1)+min(letters, longest)])
	if letters > longest {
		cost += (letters - longest) * beyond
	}
	if letters > 3 {
		m.strange += (odd*odder - m.strange) / 8
	}
	return skip + letters, cost
}

// shape returns the shape of a word of so many letters, the first of them capitals.
func shape(upper, letters int) int {
	switch upper {
	case 0:
		return shapeLower
	case letters:
		return shapeUpper
	case 1:
		return shapeTitle
	}
	return shapeMixed
}

// odder is how much a rare pair of letters in each word makes [meter.strange].
const odder = 64

// tongue says how unlike English and code the words before were. A word of
// common letters is one token among those and often two in Polish or among names.
func (m *meter) tongue() int {
	switch {
	case m.strange < odder*5/4:
		return 0
	case m.strange < odder*9/4:
		return 1
	case m.strange < odder*7/2:
		return 2
	}
	return 3
}

// cyrillic watches for letters that Russian lacks.
func (m *meter) cyrillic(r rune) {
	switch {
	case r > 'ё', r == 'ъ':
		m.slavonic = 60
	case r == 'ы', r == 'э':
		m.slavonic = 0
	default:
		m.slavonic--
	}
}

// escaped is a backslash before a letter, as in the source of a string: the
// escape and the word behind it are one piece that seldom merges as a word.
func (m *meter) escaped(b []byte, i int) (n, cost int) {
	n, cost = 2, escape
	if i+2 < len(b) {
		if k := kinds[b[i+2]]; k == isLower || k == isUpper {
			more, rest := m.word(b, i+2, 0, leadNone)
			return n + more, cost + rest
		}
	}
	return n, cost
}

// white returns a piece that begins with white space.
func (m *meter) white(b []byte, i int) (n, cost int) {
	j, line := i, -1
	for j < len(b) && kinds[b[j]] == isSpace {
		if b[j] == '\n' || b[j] == '\r' {
			line = j
		}
		j++
	}
	switch {
	case line >= 0: // all up to the last line break is one
		n = line + 1 - i
		return n, blank(n)
	case j == len(b):
		return j - i, blank(j - i)
	case j-i > 1: // the last one belongs to what follows
		return j - i - 1, blank(j - i - 1)
	}
	switch kinds[b[j]] {
	case isLower, isUpper:
		return m.word(b, i, 1, leadSpace)
	case isHigh:
		return m.high(b, i, 1, leadSpace)
	case isOther:
		if b[i] == ' ' {
			return marks(b, i, 1)
		}
	}
	return 1, unit
}

// blank is the cost of n characters of white space.
func blank(n int) int { return unit + n/40*unit }

// marks returns a run of punctuation and the line breaks after it.
func marks(b []byte, i, skip int) (n, cost int) {
	j := i + skip
	first, same := b[j], true
	for j < len(b) && kinds[b[j]] == isOther {
		same = same && b[j] == first
		j++
	}
	count := j - i - skip
	lines := 0
	for j < len(b) && (b[j] == '\n' || b[j] == '\r') {
		lines = 1
		j++
	}
	if same && count > 3 {
		return j - i, unit + count/16*unit
	}
	cost = int(runs[(lines*2+skip)*(longestRun+1)+min(count, longestRun)])
	if count > longestRun {
		cost += (count - longestRun) * runBeyond
	}
	return j - i, cost
}

const longestRun = 8

// high returns a run of runes of one script at b[i+skip].
func (m *meter) high(b []byte, i, skip, lead int) (n, cost int) {
	j := i + skip
	r, size := utf8.DecodeRune(b[j:])
	script := scriptOf(r)
	costs := m.costs(script)
	cost = int(costs[cellStart+lead])
	var c chain
	if x := c.next(script, r); x != cellFirst { // no token itself, so a start is no good measure
		cost += int(costs[x]) - int(costs[cellStart])
	}
	for {
		j += size
		if j >= len(b) {
			break
		}
		if b[j] < utf8.RuneSelf {
			if script != scriptLatin || kinds[b[j]] != isLower && (kinds[b[j]] != isUpper || kinds[b[j-1]] != isUpper) {
				break
			}
			r, size = rune(b[j]), 1
		} else if r, size = utf8.DecodeRune(b[j:]); scriptOf(r) != script {
			break
		}
		if script == scriptCyrillic {
			m.cyrillic(r)
		}
		cost += int(costs[c.next(script, r)])
	}
	return j - i, cost
}

// costs are those of a script, in the context of what was read before.
func (m *meter) costs(script int) *[cells]uint16 {
	switch {
	case script == scriptLatin:
		m.strange += (6*odder - m.strange) / 8
	case script == scriptCyrillic && m.slavonic > 0:
		script = scriptSlavonic
	}
	return &scripts[script]
}

// chain is the state between the runes of a run.
type chain struct {
	rune   rune
	after  int
	joined bool
}

// next returns the cell of r behind the runes before.
func (c *chain) next(script int, r rune) int {
	after, before := join(r)
	prev := *c
	*c = chain{rune: r, after: after}
	switch {
	case after == 0:
		return cellThree - before
	case prev.rune == 0:
		return cellFirst
	case script < scriptHangul || script > scriptHan || prev.after == 0 || !paired(prev.rune, r):
		return prev.after + before
	case prev.joined:
		return cellChain
	}
	c.joined = true
	return cellJoined
}

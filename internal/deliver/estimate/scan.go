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
		end := min(i+4096, len(b))
		for i < end {
			n, cost := piece(b, i)
			i += n
			sum += cost
		}
		if m.sum+sum > m.limit+unit {
			break
		}
	}
	m.sum += sum
}

// piece returns the length and cost of the piece at b[i].
func piece(b []byte, i int) (n, cost int) {
	c := b[i]
	switch kinds[c] {
	case isLower, isUpper:
		return word(b, i, 0, leadNone)
	case isDigit:
		n = 1
		for n < 3 && i+n < len(b) && kinds[b[i+n]] == isDigit {
			n++
		}
		return n, unit
	case isSpace:
		return white(b, i)
	case isHigh:
		return high(b, i, 0, leadNone)
	}
	if i+1 < len(b) {
		switch kinds[b[i+1]] {
		case isLower, isUpper:
			if c == '\\' {
				return escaped(b, i)
			}
			return word(b, i, 1, leadMark)
		case isHigh:
			return high(b, i, 1, leadMark)
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
	odds    = 4  // counts of rare pairs of letters: 0, 1, 2, more
)

// word returns the piece of capitals and then small letters at b[i+skip].
func word(b []byte, i, skip, lead int) (n, cost int) {
	j := i + skip
	prev, odd := byte(0), 0
	for j < len(b) && kinds[b[j]] == isUpper {
		odd += int(rare[prev] >> (b[j] & 31) & 1)
		prev = b[j] & 31
		j++
	}
	upper := j - i - skip
	for j < len(b) && kinds[b[j]] == isLower {
		odd += int(rare[prev] >> (b[j] & 31) & 1)
		prev = b[j] & 31
		j++
	}
	letters := j - i - skip
	shape := shapeLower
	switch {
	case upper == 0:
	case upper == letters:
		shape = shapeUpper
	case upper == 1:
		shape = shapeTitle
	default:
		shape = shapeMixed
	}
	cost = int(words[((min(odd, odds-1)*shapes+shape)*leads+lead)*(longest+1)+min(letters, longest)])
	if letters > longest {
		cost += (letters - longest) * beyond
	}
	if j < len(b) && b[j] >= utf8.RuneSelf {
		if r, size := utf8.DecodeRune(b[j:]); latin(r) { // a word with é in it
			more, rest := high(b, j, 0, leadNone)
			return j - i + max(more, size), cost + rest
		}
	}
	return j - i, cost
}

// escaped is a backslash before a letter, as in the source of a string: the
// escape and the word behind it are one piece that seldom merges as a word.
func escaped(b []byte, i int) (n, cost int) {
	n, cost = 2, escape
	if i+2 < len(b) {
		if k := kinds[b[i+2]]; k == isLower || k == isUpper {
			more, rest := word(b, i+2, 0, leadNone)
			return n + more, cost + rest
		}
	}
	return n, cost
}

// white returns a piece that begins with white space.
func white(b []byte, i int) (n, cost int) {
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
		return word(b, i, 1, leadSpace)
	case isHigh:
		return high(b, i, 1, leadSpace)
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
func high(b []byte, i, skip, lead int) (n, cost int) {
	j := i + skip
	r, size := utf8.DecodeRune(b[j:])
	s := scriptOf(r)
	if s == scriptHan {
		cost = hanStart
	}
	for {
		if s == scriptHan {
			cost += int(hanCosts[han[(r-firstHan)/16]>>((r-firstHan)%16*2)&3])
		} else {
			cost += int(scripts[s])
		}
		j += size
		if j >= len(b) || b[j] < utf8.RuneSelf {
			break
		}
		if r, size = utf8.DecodeRune(b[j:]); scriptOf(r) != s {
			break
		}
	}
	if skip > 0 && lead == leadMark {
		cost += unit * 3 / 4
	}
	return j - i, cost
}

const firstHan, lastHan = 0x4E00, 0x9FFF

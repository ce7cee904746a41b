package project

// slot is a variable part of a line: a number, an id, a time, an address.
type slot struct {
	start, end int32
	varied     bool // another line of the template has something else here
}

// Hash words, FNV-1a.
const (
	hashStart = 14695981039346656037
	hashPrime = 1099511628211
)

// mask finds the variable parts of line and returns a hash of the rest.
func mask(line []byte, slots []slot) (uint64, []slot) {
	h := uint64(hashStart)
	put := func(from, to int) {
		slots = append(slots, slot{start: int32(from), end: int32(to)})
		h *= hashPrime
	}
	for i := 0; i < len(line); {
		c := line[i]
		if !alnum(c) {
			h = (h ^ uint64(c)) * hashPrime
			i++
			continue
		}
		j, figures, hexes := i, 0, true
		for j < len(line) && alnum(line[j]) {
			d := line[j]
			if d <= '9' {
				figures++
			} else if d|0x20 > 'f' {
				hexes = false
			}
			j++
		}
		n := j - i
		switch {
		case n == 8 && uuid(line[i:]):
			j = i + 36
			put(i, j)
		case figures == 0:
			for _, d := range line[i:j] {
				h = (h ^ uint64(d)) * hashPrime
			}
		case hexes && n >= 6 || n >= 12 && figures >= 2: // an id; a long number looks the same
			j = joined(line, j, figures == n)
			put(i, j)
		case c <= '9':
			j = i + digits(line[i:])
			if j < i+n && n-figures > 3 { // 3rd, 10ms: a unit stays, 5f3kx9q does not
				j = i + n
			} else if j == i+n {
				j = joined(line, j, true)
			}
			put(i, j)
		default: // worker3, utf8, item12b
			for j = i; line[j] > '9'; j++ {
				h = (h ^ uint64(line[j])) * hashPrime
			}
			from := j
			put(from, i+n)
			j = i + n
		}
		i = j
	}
	return h, slots
}

// joined extends a number at line[:j] over what numbers are joined with: in
// fractions, times, dates, addresses with ports, groups of thousands.
func joined(line []byte, j int, number bool) int {
	for number && j+1 < len(line) && line[j+1] >= '0' && line[j+1] <= '9' {
		switch line[j] {
		case '.', ':', ',', '-', '/', 'T':
		default:
			return j
		}
		n := digits(line[j+1:])
		if j+1+n < len(line) && letter(line[j+1+n]) && line[j+1+n] != 'T' && line[j+1+n] != 'Z' { // 1.5ms
			return j + 1 + n
		}
		j += 1 + n
	}
	return j
}

func alnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// uuid reports whether b begins with one.
func uuid(b []byte) bool {
	if len(b) < 36 {
		return false
	}
	for i, c := range b[:36] {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
				return false
			}
		}
	}
	return true
}

// coarse masks an example further, for templates that are too many: quoted
// strings, paths and what stands behind "=" count as variable too.
func coarse(line []byte) uint64 {
	h := uint64(hashStart)
	for i := 0; i < len(line); {
		c := line[i]
		end := i
		switch {
		case c == '"' || c == '\'' || c == '`':
			for end = i + 1; end < len(line) && line[end] != c; end++ {
			}
			if end++; end > len(line) {
				end = i + 1
			}
		case c == '=' || c == '/':
			for end = i + 1; end < len(line) && line[end] != ' ' && line[end] != ',' && line[end] != '"'; end++ {
			}
		case alnum(c):
			figures := false
			for end = i; end < len(line) && (alnum(line[end]) || line[end] == '_' || line[end] == '-' || line[end] == '.'); end++ {
				figures = figures || line[end] <= '9' && line[end] >= '0'
			}
			if !figures {
				for _, d := range line[i:end] {
					h = (h ^ uint64(d)) * hashPrime
				}
				i = end
				continue
			}
		default:
			h = (h ^ uint64(c)) * hashPrime
			i++
			continue
		}
		h = (h ^ 1) * hashPrime
		i = end
	}
	return h
}

package estimate

import "bytes"

// members calls f for each member of the object that b starts with, until f
// returns false, and returns the object's length. It trusts that b is JSON: this
// is the third time that these bytes are looked at, and a check would cost more
// than the estimate.
func members(b []byte, f func(key, value []byte) bool) int {
	for i := 1; i < len(b); {
		switch b[i] {
		case '}':
			return i + 1
		case '"':
			n := stringEnd(b[i:])
			key := b[i+1 : max(i+1, i+n-1)]
			i += n
			for i < len(b) && (b[i] == ':' || kinds[b[i]] == isSpace) {
				i++
			}
			if i == len(b) {
				return i
			}
			n = valueEnd(b[i:])
			if !f(key, b[i:i+n]) {
				return len(b)
			}
			i += n
		default:
			i++
		}
	}
	return len(b)
}

// valueEnd returns the length of the value that b starts with, at least 1.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:]) - 1
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return max(1, i+1+min(depth, 0))
			}
		case ',':
			if depth == 0 {
				return max(1, i)
			}
		}
	}
	return len(b)
}

// stringEnd returns the length of the string literal that b starts with.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return len(b)
		}
		i += q
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if i++; slashes%2 == 0 {
			return i
		}
	}
	return len(b)
}

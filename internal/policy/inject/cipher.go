package inject

import "strings"

// deciphered returns s as what it may be meant to be read as, if words of attacks in
// ROT13 or backwards are in it.
func deciphered(s string, hits []hit) []string {
	const fewest = 2
	n := 0
	for _, h := range hits {
		if h.means&cipher != 0 {
			n++
		}
	}
	if n < fewest {
		return nil
	}
	return []string{rot13(s), backwards(s)}
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return 'a' + (r-'a'+13)%26
		}
		return r
	}, s)
}

func backwards(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return strings.ToValidUTF8(string(b), " ")
}

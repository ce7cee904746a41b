package search

import "strings"

// stem cuts the endings off English words by which a question differs from a
// description: plurals, -ing, -ed, -ion. It need not leave words, only the same
// for all forms.
//
// Snowball's stemmer does no better on the names and descriptions of tools, and
// takes most of the time of a search.
func stem(w string) string {
	if len(w) < 3 {
		return w
	}
	if strings.HasSuffix(w, "s") && !hasSuffix(w, "ss", "us", "is") {
		w = w[:len(w)-1]
	}
	for _, ending := range []string{"ing", "ed"} {
		if root := strings.TrimSuffix(w, ending); root != w && len(root) >= 3 && strings.ContainsAny(root, "aeiouy") && !hasSuffix(w, "eed") {
			w = undouble(root)
			break
		}
	}
	if root := strings.TrimSuffix(w, "ion"); root != w && len(root) >= 4 && hasSuffix(root, "t", "s") {
		w = root
	}
	switch {
	case len(w) > 3 && hasSuffix(w, "ie"):
		w = w[:len(w)-1] // movie, and query from queries
	case len(w) > 3 && hasSuffix(w, "e"):
		w = w[:len(w)-1]
	case len(w) > 3 && hasSuffix(w, "y"):
		w = w[:len(w)-1] + "i"
	}
	return w
}

// undouble turns runn(ing) into run, but leaves fill, pass and buzz.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeioulsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

func hasSuffix(w string, endings ...string) bool {
	for _, e := range endings {
		if strings.HasSuffix(w, e) {
			return true
		}
	}
	return false
}

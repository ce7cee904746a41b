package gate

import "strings"

// PIVOT without IN is two statements to the engine, of which it makes no tree. So a
// copy is parsed that has IN with a value that is nowhere else after each header
// without one, and the walk then has to find exactly these values as the only
// entries of as many pivots. The grammar has a pivot's header with and without IN
// side by side: with the additions taken out of the copy's tree, it is the tree of
// the text itself, so what holds for the one holds for the other.

// filled returns body with IN (value) after each pivot header that has no IN, and
// how many it added.
func (s Statement) filled(value string) (string, int) {
	var out strings.Builder
	done, added := 0, 0
	for i, t := range s.tokens {
		if t.kind != word || !t.is("pivot") && !t.is("pivot_wider") {
			continue
		}
		for _, at := range headers(s.tokens[i+1:]) {
			if at < done {
				continue // within a header that was filled: parsing will fail
			}
			out.WriteString(s.Body[done:at])
			out.WriteString(" IN ('" + value + "') ")
			done = at
			added++
		}
	}
	out.WriteString(s.Body[done:])
	return out.String(), added
}

// headers returns the ends of the pivot headers without IN, from the tokens after
// PIVOT: source ON header, header … up to USING, GROUP or the end.
func headers(tokens []token) []int {
	level := outer(tokens)
	on := -1
	for i, t := range level {
		// The last ON is the pivot's: others join tables of its source.
		if t.is("on") {
			on = i
		}
	}
	if on < 0 {
		return nil
	}
	var ends []int
	has, last := false, level[on]
	for _, t := range append(level[on+1:], token{text: ","}) {
		switch {
		case !t.is(","):
			has = has || t.is("in")
			last = t
			continue
		case !has && !last.is("on"):
			ends = append(ends, last.end)
		}
		has = false
	}
	return ends
}

// outer returns the tokens of a pivot's source and headers, without what is within
// brackets.
func outer(tokens []token) []token {
	var level []token
	depth := 0
	for i, t := range tokens {
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		switch {
		case depth < 0, depth == 0 && ends(t):
			return level
		case depth == 0 && t.is("using") && !joins(tokens[i+1:]):
			return level
		case depth == 0:
			level = append(level, t)
		}
	}
	return level
}

// joins reports whether the USING before tokens is of a join in a pivot's source, so
// that the pivot's ON is still to come.
func joins(tokens []token) bool {
	depth := 0
	for _, t := range tokens {
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth < 0 || depth == 0 && ends(t) {
			return false
		}
		if depth == 0 && t.is("on") {
			return true
		}
	}
	return false
}

// ends reports whether t, outside of brackets, comes after a pivot's headers.
func ends(t token) bool {
	switch t.text {
	case "group", "order", "limit", "offset", "union", "intersect", "except":
		return t.kind == word
	}
	return false
}

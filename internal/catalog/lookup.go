package catalog

import (
	"cmp"
	"slices"
	"strings"

	"heddle"
	"heddle/internal/catalog/search"
)

// Lookup returns the tool that a host means by name. In native mode that is its
// native or its exposed name. In the others it is the exposed name,
// "server::tool" or "server/tool" of the original pair, or the tool's own name
// if no other tool has it and it means nothing else. A name that could mean two
// tools means none.
func (s *Snapshot) Lookup(name string, native bool) (*heddle.Tool, bool) {
	names := s.names
	if native {
		names = s.native
	}
	t := names[name]
	return t, t != nil
}

// nameMaps builds the maps that Lookup routes by.
func nameMaps(tools []*heddle.Tool, own []string) (names, native map[string]*heddle.Tool) {
	names = make(map[string]*heddle.Tool, 4*len(tools))
	native = make(map[string]*heddle.Tool, 2*len(tools))
	for _, name := range own {
		names[name], native[name] = nil, nil
	}
	for _, t := range tools {
		names[t.Exposed] = t
		native[t.Native] = t
	}
	alias(native, tools, func(t *heddle.Tool) string { return t.Exposed })
	alias(names, tools, func(t *heddle.Tool) string { return t.Ref.String() })
	alias(names, tools, func(t *heddle.Tool) string { return t.Ref.Server + "/" + t.Ref.Name })
	alias(names, tools, func(t *heddle.Tool) string { return t.Ref.Name })
	return names, native
}

// alias adds one more name for every tool, but for names that are taken already
// and names that two tools would share.
func alias(names map[string]*heddle.Tool, tools []*heddle.Tool, name func(*heddle.Tool) string) {
	added := make(map[string]struct{}, len(tools))
	for _, t := range tools {
		n := name(t)
		_, taken := names[n]
		_, shared := added[n]
		switch {
		case shared:
			names[n] = nil
		case !taken:
			names[n] = t
			added[n] = struct{}{}
		}
	}
}

// nearBound is how much of a name Near looks at, in bytes.
const nearBound = 128

// Near returns at most n names like one that is unknown, best first: native ones
// in native mode, else exposed ones.
func (s *Snapshot) Near(name string, n int, native bool) []string {
	type candidate struct {
		name  string
		score float64
	}
	query := bounded(name)
	words := search.Terms(query)
	query = strings.ToLower(query)
	var found []candidate
	for _, t := range s.tools {
		listed := t.Exposed
		if native {
			listed = t.Native
		}
		score := max(likeness(query, listed), likeness(query, t.Ref.Name), shared(words, search.Terms(bounded(listed))))
		if score >= 0.5 {
			found = append(found, candidate{listed, score})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	var names []string
	for _, c := range found[:min(max(n, 0), len(found))] {
		names = append(names, c.name)
	}
	return names
}

func bounded(name string) string { return name[:min(len(name), nearBound)] }

// shared returns how much of the words of two names they have in common, from 0
// to 1.
func shared(a, b []string) float64 {
	both := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// likeness returns how few edits lead from query, in lower case, to name: 1 for
// none, 0 for all.
func likeness(query, name string) float64 {
	name = strings.ToLower(bounded(name))
	longest := max(len(query), len(name))
	if longest == 0 || 2*min(len(query), len(name)) < longest {
		return 0 // the lengths alone make it less than half
	}
	return 1 - float64(editDistance(query, name))/float64(longest)
}

// editDistance counts the bytes to insert, delete or replace. Neither text may
// be much longer than nearBound.
func editDistance(a, b string) int {
	var room [2 * nearBound]int
	row := room[:0]
	for j := range len(b) + 1 {
		row = append(row, j)
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

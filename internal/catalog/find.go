package catalog

import (
	"slices"
	"strings"
	"unicode/utf8"

	"heddle"
)

// Match is a tool that has something of a query.
type Match struct {
	Tool *heddle.Tool
	// Score orders the matches of one query; it means nothing across queries. A
	// tool whose exact name was asked for scores at least 1000.
	Score float64
}

const (
	// exactScore lifts a tool that is named exactly over all that merely fit.
	exactScore = 1000
	// fillerShare is how far behind the best a match may be. What comes after that
	// only fills the answer.
	fillerShare = 0.25
)

// Find returns at most n tools that fit the query, ordered as by [Snapshot.Rank].
// If nothing fits, there are no matches: what merely shares words with the query
// is not one.
func (s *Snapshot) Find(query, server string, n int) []Match {
	exact, ranked, fits := s.search(query, server, n)
	if !fits {
		ranked = nil
	}
	for i, m := range ranked {
		if m.Score < fillerShare*ranked[0].Score {
			ranked = ranked[:i]
			break
		}
	}
	return first(n, exact, ranked)
}

// Rank returns at most n tools that have something of the query, whether they
// fit it or not, best first; equally good ones in catalog order. Tools that the
// query names exactly (exposed name, server::tool, server/tool, bare name; case
// does not count) come first. If server is not empty, only that server's tools
// count.
func (s *Snapshot) Rank(query, server string, n int) []Match {
	exact, ranked, _ := s.search(query, server, n)
	return first(n, exact, ranked)
}

func first(n int, exact, ranked []Match) []Match {
	all := slices.Concat(exact, ranked)
	return all[:min(n, len(all))]
}

// search returns the tools that the query names exactly, at most n others that
// have something of it, and whether any of these fits it.
func (s *Snapshot) search(query, server string, n int) (exact, ranked []Match, fits bool) {
	if n <= 0 || len(s.tools) == 0 {
		return nil, nil, false
	}
	name := strings.TrimSpace(query)
	named := map[int]bool{}
	for i, t := range s.tools {
		if rank := exactness(t, name); rank > 0 && (server == "" || t.Ref.Server == server) {
			exact = append(exact, Match{t, float64(rank * exactScore)})
			named[i] = true
		}
	}
	slices.SortStableFunc(exact, func(a, b Match) int { return int(b.Score - a.Score) })
	ranking := s.index.of(s).Rank(query, n, func(i int) bool {
		return !named[i] && (server == "" || s.tools[i].Ref.Server == server)
	})
	for _, hit := range ranking.Hits {
		ranked = append(ranked, Match{s.tools[hit.Doc], hit.Score})
	}
	return exact, ranked, ranking.Fits
}

// exactness says how exactly name is the tool's: 2 for a name that is only its
// own, 1 for a name that other servers' tools may have as well, 0 for neither.
func exactness(t *heddle.Tool, name string) int {
	if !endAlike(name, t.Exposed) && !endAlike(name, t.Ref.Name) {
		return 0 // as nearly always; to compare all is half of what a search takes
	}
	if strings.EqualFold(name, t.Exposed) || isPair(t.Ref, name, "::") || isPair(t.Ref, name, "/") {
		return 2
	}
	if strings.EqualFold(name, t.Ref.Name) {
		return 1
	}
	return 0
}

// isPair reports whether name is the pair ref joined by separator.
func isPair(ref heddle.ToolRef, name, separator string) bool {
	n := len(ref.Server) + len(separator)
	return len(name) > n &&
		name[len(ref.Server):n] == separator &&
		strings.EqualFold(name[:len(ref.Server)], ref.Server) &&
		strings.EqualFold(name[n:], ref.Name)
}

// endAlike reports whether two texts may be equal but for case, as far as their
// last bytes tell.
func endAlike(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	x, y := a[len(a)-1], b[len(b)-1]
	return x|0x20 == y|0x20 || x >= utf8.RuneSelf || y >= utf8.RuneSelf
}

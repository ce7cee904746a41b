package catalog

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"heddle"
	"heddle/internal/catalog/search"
)

// Match is a tool that fits a query.
type Match struct {
	Tool *heddle.Tool
	// Score orders the matches of one query; it means nothing across queries. A
	// tool whose exact name was asked for scores at least 1000.
	Score float64
}

// exactScore lifts a tool that is named exactly over all that merely fit.
const exactScore = 1000

// lazyIndex is built when it is first needed: a heddle that nobody asks to
// search keeps none.
type lazyIndex struct {
	once  sync.Once
	index *search.Index
}

// Find returns at most n tools that fit the query, best first; equally good ones
// in catalog order. Tools that the query names exactly (exposed name,
// server::tool, server/tool, bare name; case does not count) come first. If
// server is not empty, only that server's tools are found. If nothing fits,
// there are no matches: what merely shares a common word is not one.
func (s *Snapshot) Find(query, server string, n int) []Match {
	if n <= 0 || len(s.tools) == 0 {
		return nil
	}
	keep := func(i int) bool { return server == "" || s.tools[i].Ref.Server == server }
	scores := map[int]float64{}
	for _, hit := range s.searchIndex().Search(query, keep) {
		scores[hit.Doc] = hit.Score
	}
	name := strings.TrimSpace(query)
	for i, t := range s.tools {
		if rank := exactness(t, name); rank > 0 && keep(i) {
			scores[i] += float64(rank) * exactScore
		}
	}
	order := make([]int, 0, len(scores))
	for i := range scores {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	matches := make([]Match, 0, min(n, len(order)))
	for _, i := range order[:min(n, len(order))] {
		matches = append(matches, Match{s.tools[i], scores[i]})
	}
	return matches
}

// exactness says how exactly name is the tool's: 2 for a name that is only its
// own, 1 for a name that other servers' tools may have as well, 0 for neither.
func exactness(t *heddle.Tool, name string) int {
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

func (s *Snapshot) searchIndex() *search.Index {
	s.index.once.Do(func() {
		s.index.index = search.New(len(s.tools), func(i int) search.Document { return document(s.tools[i]) })
	})
	return s.index.index
}

// document is what search knows of a tool.
func document(t *heddle.Tool) search.Document {
	var p params
	p.walk(t.Listed, 0)
	return search.Document{
		Server:      t.Ref.Server,
		Name:        t.Ref.Name,
		Title:       t.Title,
		Description: t.Description,
		Params:      p.names,
		ParamTexts:  p.texts,
	}
}

// Bounds on what search reads of one schema.
const (
	paramDepth = 8
	paramBytes = 16 << 10
)

// params gathers the names and descriptions of a schema's properties.
type params struct {
	names, texts []string
	bytes        int
}

func (p *params) walk(schema []byte, depth int) {
	if depth > paramDepth || len(schema) == 0 || schema[0] != '{' {
		return
	}
	for m := range members(schema, 0) {
		if p.bytes > paramBytes {
			return
		}
		value := schema[m.start:m.end]
		switch string(m.key) {
		case "properties":
			p.properties(value, depth)
		case "description":
			p.texts = append(p.texts, p.take(unquote(value)))
		case "items", "additionalProperties":
			p.walk(value, depth+1)
		case "anyOf", "oneOf", "allOf":
			p.each(value, depth)
		}
	}
}

func (p *params) properties(value []byte, depth int) {
	if len(value) == 0 || value[0] != '{' {
		return
	}
	for m := range members(value, 0) {
		p.names = append(p.names, p.take(m.key))
		p.walk(value[m.start:m.end], depth+1)
	}
}

// each walks the schemas of an array.
func (p *params) each(value []byte, depth int) {
	if len(value) == 0 || value[0] != '[' {
		return
	}
	for i := skipSpace(value, 1); i < len(value) && value[i] != ']'; {
		end, _ := skipValue(value, i)
		p.walk(value[i:end], depth+1)
		i = max(skipComma(value, end), i+1)
	}
}

func (p *params) take(text []byte) string {
	p.bytes += len(text)
	return string(text[:min(len(text), paramBytes)])
}

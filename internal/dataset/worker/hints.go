//go:build cgo

package worker

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"heddle/internal/dataset/protocol"
)

const (
	maxPairs = 20 // of columns that are compared for a table
	maxHints = 5
	// maxJoinable is how many columns of a table are remembered: the first.
	maxJoinable = 32
	// minOverlap is the share of values in common from which a hint is worth a line.
	minOverlap = 0.05
)

// keyName are names of columns that others refer to, or that refer.
var keyName = regexp.MustCompile(`(?i)(^|[_.\- ])(id|ids|uid|uuid|guid|key|code|email|mail|login|user|username|handle|sku|ean|isbn|iban|number|no|nr|num|name|slug|symbol|sym|ticker|hash|sha|url|ref|path|host|domain|issue|account|customer|order)$|[a-z0-9](Id|ID|Key|Code|Uuid|UUID|Number|Name)$`)

// joinable reports whether a column may be joined on: by its name, or because its
// values are nearly all different.
func joinable(c *column, distinct, values int64) bool {
	switch c.typ {
	case "VARCHAR", "BIGINT", "HUGEINT", "INTEGER", "UUID":
	default:
		return false
	}
	return !c.apart && distinct >= 2 && (keyName.MatchString(c.name) || distinct*10 >= values*9)
}

// pair is a column of a table and one of another.
type pair struct {
	column, other int
	table         *table
	rank          int // how well the names fit
}

// hints returns where other tables have t's values, by overlap.
func (e *engine) hints(t *table) []protocol.Hint {
	var pairs []pair
	for _, o := range e.others(t) {
		for i, k := range t.keys {
			for j, l := range o.keys {
				if k != nil && l != nil && k.text == l.text {
					pairs = append(pairs, pair{i, j, o, rank(t.columns[i].name, o.columns[j].name)})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(b.rank-a.rank, strings.Compare(a.table.name, b.table.name), a.column-b.column, a.other-b.other)
	})
	var hints []protocol.Hint
	for _, p := range pairs[:min(len(pairs), maxPairs)] {
		overlap, shared := t.keys[p.column].overlap(p.table.keys[p.other])
		if overlap >= minOverlap {
			hints = append(hints, protocol.Hint{
				Column: t.columns[p.column].name, Table: p.table.name, Other: p.table.columns[p.other].name,
				Overlap: overlap, Shared: shared,
			})
		}
	}
	slices.SortStableFunc(hints, func(a, b protocol.Hint) int { return cmp.Compare(b.Overlap, a.Overlap) })
	return hints[:min(len(hints), maxHints)]
}

// rank says how well two names of columns fit together.
func rank(a, b string) int {
	x, y := plain(a), plain(b)
	switch {
	case x == y:
		return 3
	case strings.HasSuffix(x, y) || strings.HasSuffix(y, x): // user_id and id
		return 2
	case keyName.MatchString(a) && keyName.MatchString(b):
		return 1
	}
	return 0
}

func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(name))
}

package config

import (
	"errors"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var (
	errDuration = errors.New("not a duration")
	errSize     = errors.New("not a size")
)

var durationDays = regexp.MustCompile(`^(-?[0-9]+)d(.*)$`)

// parseDuration is time.ParseDuration with whole days in front: 90d, 1d12h.
func parseDuration(s string) (time.Duration, error) {
	m := durationDays.FindStringSubmatch(s)
	if m == nil {
		return time.ParseDuration(s)
	}
	days, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || max(days, -days) > int64(math.MaxInt64/day)-1 || days < 0 && m[2] != "" {
		return 0, errDuration
	}
	rest := time.Duration(0)
	if m[2] != "" {
		rest, err = time.ParseDuration(m[2])
	}
	if err != nil || rest < 0 || rest > day {
		return 0, errDuration
	}
	return time.Duration(days)*day + rest, nil
}

var sizeForm = regexp.MustCompile(`^(-?[0-9]+) ?([A-Za-z]*)$`)

// sizeUnits are powers of ten and, with an i, of two.
var sizeUnits = map[string]int64{
	"": 1, "b": 1,
	"kb": 1e3, "mb": 1e6, "gb": 1e9,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
}

// parseSize reads a number of bytes: 1000, 64MB, 64MiB.
func parseSize(s string) (int64, error) {
	m := sizeForm.FindStringSubmatch(s)
	if m == nil {
		return 0, errSize
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit, ok := sizeUnits[strings.ToLower(m[2])]
	if err != nil || !ok || n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return 0, errSize
	}
	return n * unit, nil
}

// quote puts s in quotes for a field path.
func quote(s string) string { return strconv.Quote(s) }

// nearest returns the name that word was probably meant to be, or "". Spelling
// with other capitals and separators (envPassthrough) counts as the same.
func nearest(word string, names []string) string {
	sort.Strings(names)
	best, bestAt := "", 1+len(word)/4
	if bestAt > 3 {
		bestAt = 3
	}
	for _, name := range names {
		if at := distance(plain(word), plain(name)); at < bestAt || at == bestAt && best == "" && at < len(name)/2 {
			best, bestAt = name, at
		}
	}
	return best
}

// plain drops capitals and separators.
func plain(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

// distance is how many letters to add, drop, change or swap with the next.
func distance(a, b string) int {
	const long = 40
	if len(a) > long || len(b) > long {
		return long
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

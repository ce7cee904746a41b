package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Filter narrows a report. The zero value is all calls.
type Filter struct {
	// Since is when the first call may have begun; zero is ever.
	Since time.Time
	// Session and Server keep the calls of one of them.
	Session, Server string
	// Errors keeps calls that were refused or failed, and those whose tool says
	// itself that it failed.
	Errors bool
}

// where is the filter as a condition on calls, with its arguments.
func (f Filter) where() (string, []any) {
	conditions, args := []string{"1"}, []any{}
	add := func(condition string, arg ...any) {
		conditions = append(conditions, condition)
		args = append(args, arg...)
	}
	if !f.Since.IsZero() {
		add("time >= ?", f.Since.UnixMicro())
	}
	if f.Session != "" {
		add("session = ?", f.Session)
	}
	if f.Server != "" {
		add("server = ?", clean(f.Server))
	}
	if f.Errors {
		add("(kind <> '' OR is_error)")
	}
	return strings.Join(conditions, " AND "), args
}

// bytesPerToken is what definitions and results have on average. It stands in
// where nobody counted: what is clearly small is not counted on its way.
const bytesPerToken = 4.3

// Estimate returns the tokens of so many bytes, where they were not counted.
func Estimate(bytes int64) int64 { return int64(float64(bytes)/bytesPerToken + 0.5) }

// reading are the tools of heddle's own with which a host reads on in what it has
// got in short; the others show definitions.
const reading = `(tool = 'read_result' OR tool LIKE 'loom\_%' ESCAPE '\')`

// searches is the condition that a call showed definitions.
const searches = `(kind = '' AND server = '' AND NOT ` + reading + `)`

// calls is a table of the calls that a filter keeps, with tokens counted or
// estimated: upstream and delivered of servers' results, shown of definitions,
// read of what was read on. A call that was refused or failed has none, because
// what it cost the host is not in the ledger: the words for it are made later.
func (f Filter) calls() (string, []any) {
	where, args := f.where()
	per := fmt.Sprint(bytesPerToken)
	delivered := "COALESCE(delivered_tokens, delivered_bytes / " + per + ")"
	return `(SELECT *,
		CASE WHEN kind = '' AND server <> '' THEN COALESCE(upstream_tokens, upstream_bytes / ` + per + `) ELSE 0 END AS upstream,
		CASE WHEN kind = '' AND server <> '' THEN ` + delivered + ` ELSE 0 END AS delivered,
		CASE WHEN ` + searches + ` THEN COALESCE(definition_tokens, ` + delivered + `) ELSE 0 END AS shown,
		CASE WHEN kind = '' AND server = '' AND ` + reading + ` THEN ` + delivered + ` ELSE 0 END AS read
		FROM calls WHERE ` + where + `)`, args
}

// Definitions returns the tokens of the definitions that the session's host would
// have listed without heddle, and of those that it was listed.
func (s *SessionRow) Definitions() (native, surface int64) {
	native, surface = Estimate(s.NativeBytes), Estimate(s.SurfaceBytes)
	if s.NativeTokens.Known {
		native = s.NativeTokens.N
	}
	if s.SurfaceTokens.Known {
		surface = s.SurfaceTokens.N
	}
	return native, surface
}

// Sums are what calls and sessions come to. Tokens are counted where they were
// counted on their way, and estimated from bytes where they were not.
type Sums struct {
	// Sessions is the number of sessions that began; Native and Surface are the
	// tokens of the definitions that their hosts would have listed, and listed.
	Sessions, Native, Surface int64
	// Calls is the number of calls, Failed those of them that heddle refused or
	// that failed, ToolErrors those whose tool says that it failed.
	Calls, Failed, ToolErrors int64
	// Searches is the number of calls that showed definitions, Shown their tokens,
	// CacheHits those that took them from the cache.
	Searches, Shown, CacheHits int64
	// Upstream is what servers answered, Delivered what hosts got for it at once,
	// Read what they read on later.
	Upstream, Delivered, Read int64
}

// Saved is what hosts did not have to take, in tokens: the catalogs of their
// sessions less what they listed and were shown, and what servers wrote less what
// hosts got of it. It is negative where heddle cost more than it saved.
func (s Sums) Saved() int64 {
	return s.Native - (s.Surface + s.Shown) + s.Upstream - (s.Delivered + s.Read)
}

// Without is what hosts would have taken without heddle, in tokens.
func (s Sums) Without() int64 { return s.Native + s.Upstream }

// Add adds o to s.
func (s *Sums) Add(o Sums) {
	s.Sessions, s.Native, s.Surface = s.Sessions+o.Sessions, s.Native+o.Native, s.Surface+o.Surface
	s.Calls, s.Failed, s.ToolErrors = s.Calls+o.Calls, s.Failed+o.Failed, s.ToolErrors+o.ToolErrors
	s.Searches, s.Shown, s.CacheHits = s.Searches+o.Searches, s.Shown+o.Shown, s.CacheHits+o.CacheHits
	s.Upstream, s.Delivered, s.Read = s.Upstream+o.Upstream, s.Delivered+o.Delivered, s.Read+o.Read
}

// Period is what happened in one mode in a quarter of an hour: the longest time
// that no zone's midnight divides.
type Period struct {
	Start time.Time
	Mode  string
	Sums
}

const quarter = int64(15 * time.Minute / time.Microsecond)

// Periods sums up sessions and calls, oldest first. Of the filter it takes Since
// alone.
func (r *Reader) Periods(ctx context.Context, f Filter) ([]Period, error) {
	f = Filter{Since: f.Since}
	from, args := f.calls()
	since := int64(0)
	if !f.Since.IsZero() {
		since = f.Since.UnixMicro()
	}
	per := fmt.Sprint(bytesPerToken)
	query := fmt.Sprintf(`SELECT slot, mode, sum(sessions), sum(native), sum(surface), %[5]s FROM (
		SELECT time / %[1]d AS slot, mode, 0 AS sessions, 0 AS native, 0 AS surface, 1 AS calls, kind <> '' AS failed, is_error,
			%[2]s AS searches, shown, cache_hit, upstream, delivered, read FROM %[3]s
		UNION ALL SELECT started / %[1]d, mode, 1, COALESCE(native_tokens, native_bytes / %[4]s), COALESCE(surface_tokens, surface_bytes / %[4]s),
			0, 0, 0, 0, 0, 0, 0, 0, 0 FROM sessions WHERE started >= ?)
		GROUP BY slot, mode ORDER BY slot, mode`, quarter, searches, from, per, callSums)
	return collect(ctx, r.conn, query, append(args, since), func(rows *sql.Rows) (p Period, err error) {
		var slot int64
		p.Sums, err = scanSums(rows, &slot, &p.Mode)
		p.Start = time.UnixMicro(slot * quarter)
		return p, err
	})
}

// Sums sums up calls; what belongs to sessions is zero.
func (r *Reader) Sums(ctx context.Context, f Filter) (Sums, error) {
	from, args := f.calls()
	query := "SELECT 0, 0, 0, " + callSums + " FROM (SELECT 1 AS calls, kind <> '' AS failed, " + searches + " AS searches, * FROM " + from + ")"
	found, err := collect(ctx, r.conn, query, args, func(rows *sql.Rows) (Sums, error) { return scanSums(rows) })
	if err != nil {
		return Sums{}, err
	}
	return found[0], nil
}

// callSums are the columns of [Sums] that calls have, in the order of [scanSums].
const callSums = `COALESCE(sum(calls), 0), COALESCE(sum(failed), 0), COALESCE(sum(is_error), 0), COALESCE(sum(searches), 0),
	COALESCE(sum(shown), 0), COALESCE(sum(cache_hit), 0), COALESCE(sum(upstream), 0), COALESCE(sum(delivered), 0), COALESCE(sum(read), 0)`

// scanSums reads a row of sums, and into before what is selected before them.
func scanSums(rows *sql.Rows, before ...any) (s Sums, err error) {
	var tokens [6]float64
	err = rows.Scan(append(before, &s.Sessions, &tokens[0], &tokens[1], &s.Calls, &s.Failed, &s.ToolErrors,
		&s.Searches, &tokens[2], &s.CacheHits, &tokens[3], &tokens[4], &tokens[5])...)
	for i, n := range []*int64{&s.Native, &s.Surface, &s.Shown, &s.Upstream, &s.Delivered, &s.Read} {
		*n = int64(tokens[i] + 0.5)
	}
	return s, err
}

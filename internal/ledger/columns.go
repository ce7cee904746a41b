package ledger

import (
	"database/sql"
	"time"

	"heddle"
)

// callColumns are the columns of calls in the order of [Row.appendArgs] and
// [scanCall].
var callColumns = []string{
	"time", "principal", "session", "mode", "tool", "server", "name",
	"kind", "is_error", "decisions", "form",
	"queue_us", "policy_us", "upstream_us", "deliver_us", "total_us",
	"upstream_bytes", "delivered_bytes", "upstream_tokens", "delivered_tokens", "definition_tokens", "cache_hit",
}

// sessionColumns are the columns of sessions in the order of
// [SessionRow.appendArgs] and [scanSession].
var sessionColumns = []string{
	"id", "started", "principal", "mode", "client", "client_version", "protocol",
	"native_bytes", "surface_bytes", "native_tokens", "surface_tokens",
}

func (r *Row) appendArgs(args []any, mask masking) []any {
	clean := mask.clean
	return append(args,
		r.Time.UnixMicro(), clean(string(r.Principal)), clean(r.Session), clean(r.Mode), clean(r.Tool), clean(r.Server), clean(r.Name),
		clean(string(r.Kind)), flag(r.IsError), encodeDecisions(r.Decisions, clean), clean(string(r.Form)),
		r.Queue.Microseconds(), r.Policy.Microseconds(), r.Upstream.Microseconds(), r.Deliver.Microseconds(), r.Total.Microseconds(),
		r.UpstreamBytes, r.DeliveredBytes, r.UpstreamTokens.arg(), r.DeliveredTokens.arg(), r.DefinitionTokens.arg(), flag(r.CacheHit))
}

func (s *SessionRow) appendArgs(args []any, mask masking) []any {
	clean := mask.clean
	return append(args,
		clean(s.ID), s.Started.UnixMicro(), clean(string(s.Principal)), clean(s.Mode), clean(s.Client), clean(s.ClientVersion), clean(s.Protocol),
		s.NativeBytes, s.SurfaceBytes, s.NativeTokens.arg(), s.SurfaceTokens.arg())
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (t Tokens) arg() any {
	if !t.Known {
		return nil
	}
	return t.N
}

// Scan implements [sql.Scanner].
func (t *Tokens) Scan(v any) error {
	var n sql.NullInt64
	err := n.Scan(v)
	*t = Tokens{N: n.Int64, Known: n.Valid}
	return err
}

// scanCall reads a row, and into more what is selected behind [callColumns].
func scanCall(rows *sql.Rows, more ...any) (Row, error) {
	var r Row
	var at int64
	var us [5]int64
	var decisions sql.NullString
	err := rows.Scan(append([]any{
		&at, &r.Principal, &r.Session, &r.Mode, &r.Tool, &r.Server, &r.Name,
		&r.Kind, &r.IsError, &decisions, &r.Form,
		&us[0], &us[1], &us[2], &us[3], &us[4],
		&r.UpstreamBytes, &r.DeliveredBytes, &r.UpstreamTokens, &r.DeliveredTokens, &r.DefinitionTokens, &r.CacheHit,
	}, more...)...)
	if err != nil {
		return Row{}, err
	}
	r.Time = time.UnixMicro(at).UTC()
	for i, d := range []*time.Duration{&r.Queue, &r.Policy, &r.Upstream, &r.Deliver, &r.Total} {
		*d = time.Duration(us[i]) * time.Microsecond
	}
	r.Decisions, err = decodeDecisions(decisions.String)
	return r, err
}

func scanSession(rows *sql.Rows) (SessionRow, error) {
	var s SessionRow
	var at int64
	var principal string
	err := rows.Scan(&s.ID, &at, &principal, &s.Mode, &s.Client, &s.ClientVersion, &s.Protocol,
		&s.NativeBytes, &s.SurfaceBytes, &s.NativeTokens, &s.SurfaceTokens)
	s.Started = time.UnixMicro(at).UTC()
	s.Principal = heddle.Principal(principal)
	return s, err
}

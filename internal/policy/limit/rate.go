package limit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rate is how often something may happen. Its zero value is no limit.
type Rate struct {
	// N is how many times within Per; 0 is no limit.
	N   int
	Per time.Duration
	// Burst is how many times at once after a time of rest; 0 is N.
	Burst int
}

const (
	maxN   = 1_000_000
	minPer = time.Millisecond
	maxPer = 366 * day
	day    = 24 * time.Hour
)

// accepted ends the errors of [Parse].
const accepted = `write a number and a time, like 60/min, 10/s, 5/hour or 100/day, or none`

// Limited reports whether there is a limit at all.
func (r Rate) Limited() bool { return r.N > 0 }

// String returns the rate as [Parse] reads it: "60/min", "none"; a burst is added
// in words.
func (r Rate) String() string {
	if !r.Limited() {
		return "none"
	}
	s := strconv.Itoa(r.N) + "/" + perText(r.Per)
	if r.Burst > 0 && r.Burst != r.N {
		s += ", burst " + strconv.Itoa(r.Burst)
	}
	return s
}

func perText(d time.Duration) string {
	switch d {
	case time.Second:
		return "s"
	case time.Minute:
		return "min"
	case time.Hour:
		return "hour"
	case day:
		return "day"
	}
	s := d.String()
	for _, nothing := range []string{"m0s", "h0m"} { // 1m0s, 1h0m
		if strings.HasSuffix(s, nothing) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// burst is the size of the bucket.
func (r Rate) burst() int {
	if r.Burst > 0 {
		return r.Burst
	}
	return r.N
}

// Parse reads a rate as configurations have it, decoded from YAML, JSON or TOML:
//
//   - a text: "60/min", "10/s", "5/hour", "100/day", "20 per 5m"; "none" and "off";
//   - a number, which is per minute;
//   - an object: {requests: 60, per: "1m", burst: 10}. The number may be called limit,
//     the time window; without it, it is a minute. {rate: "60/min", burst: 10} is the
//     same.
//
// The second result is false if there is to be no limit. Errors say what is accepted.
func Parse(v any) (Rate, bool, error) {
	r, err := parse(v)
	if err != nil {
		return Rate{}, false, err
	}
	return r, r.Limited(), nil
}

func parse(v any) (Rate, error) {
	switch v := v.(type) {
	case string:
		return parseText(v)
	case bool:
		if !v { // off, as some write it
			return Rate{}, nil
		}
		return Rate{}, errors.New("true is not a rate: " + accepted)
	case map[string]any:
		return parseObject(v)
	case nil:
		return Rate{}, errors.New("the rate is empty: " + accepted)
	}
	n, err := count(v)
	if err != nil {
		return Rate{}, err
	}
	return Rate{N: n, Per: time.Minute}, nil
}

// parseText reads "60/min", "60 per minute", "60" and the words for no limit.
func parseText(s string) (Rate, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	switch word {
	case "none", "off", "unlimited":
		return Rate{}, nil
	case "":
		return Rate{}, errors.New("the rate is empty: " + accepted)
	}
	number, unit, ok := strings.Cut(word, "/")
	if !ok {
		number, unit, ok = strings.Cut(word, " per ")
	}
	if !ok {
		unit = "min"
	}
	n, err := count(strings.TrimSpace(number))
	if err != nil {
		return Rate{}, fmt.Errorf("%q: %w", s, err)
	}
	per, err := window(strings.TrimSpace(unit))
	if err != nil {
		return Rate{}, fmt.Errorf("%q: %w", s, err)
	}
	return Rate{N: n, Per: per}, nil
}

// synonyms are the keys of the object form by the names that people give them.
var synonyms = map[string]string{
	"requests": "requests", "limit": "requests",
	"per": "per", "window": "per",
	"rate": "rate", "burst": "burst",
}

func parseObject(o map[string]any) (Rate, error) {
	has := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		name, ok := synonyms[key]
		if !ok {
			return Rate{}, fmt.Errorf("%q is not a part of a rate: they are requests (or limit), per (or window), and burst", key)
		}
		if _, twice := has[name]; twice {
			return Rate{}, fmt.Errorf("%q is given twice, under two names", name)
		}
		has[name] = o[key]
	}
	r, err := objectRate(has)
	if err != nil {
		return Rate{}, err
	}
	if b, ok := has["burst"]; ok && r.Limited() {
		if r.Burst, err = count(b); err != nil {
			return Rate{}, fmt.Errorf("burst: %w", err)
		}
	}
	return r, nil
}

// objectRate reads an object but for its burst.
func objectRate(has map[string]any) (Rate, error) {
	n, counted := has["requests"]
	per, timed := has["per"]
	if rate, ok := has["rate"]; ok {
		if counted || timed {
			return Rate{}, errors.New("rate says it all: leave requests and per out")
		}
		if _, nested := rate.(map[string]any); nested {
			return Rate{}, errors.New("rate: " + accepted)
		}
		return parse(rate)
	}
	if !counted {
		return Rate{}, errors.New("requests is missing: say how many calls, like {requests: 60, per: 1m}")
	}
	r := Rate{Per: time.Minute}
	var err error
	if r.N, err = count(n); err != nil {
		return Rate{}, fmt.Errorf("requests: %w", err)
	}
	if timed {
		text, ok := per.(string)
		if !ok {
			return Rate{}, errors.New("per: write a time with its unit, like 1m, 30s or hour")
		}
		if r.Per, err = window(strings.ToLower(strings.TrimSpace(text))); err != nil {
			return Rate{}, fmt.Errorf("per: %w", err)
		}
	}
	return r, nil
}

// count reads a whole number of calls, at least one.
func count(v any) (int, error) {
	var f float64
	switch v := v.(type) {
	case int:
		f = float64(v)
	case int64:
		f = float64(v)
	case uint64:
		f = float64(v)
	case float64:
		f = v
	case json.Number:
		return count(v.String())
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return 0, errors.New("not a whole number of calls: " + accepted)
		}
		f = float64(n)
	default:
		return 0, fmt.Errorf("a %T is not a rate: %s", v, accepted)
	}
	switch {
	case f == 0:
		return 0, errors.New("0 could mean two things: write none for no limit, or list the tool under tools.deny")
	case f != math.Trunc(f) || math.IsInf(f, 0):
		return 0, errors.New("not a whole number of calls: write 30/hour for half a call a minute")
	case f < 0:
		return 0, errors.New("less than no calls: " + accepted)
	case f > maxN:
		return 0, fmt.Errorf("more than %d calls: write none for no limit", maxN)
	}
	return int(f), nil
}

// window reads the time of a rate, in small letters: a unit, or a duration.
func window(s string) (time.Duration, error) {
	switch s {
	case "s", "sec", "second", "seconds":
		return time.Second, nil
	case "m", "min", "minute", "minutes":
		return time.Minute, nil
	case "h", "hr", "hour", "hours":
		return time.Hour, nil
	case "d", "day", "days":
		return day, nil
	}
	d, err := duration(s)
	if err != nil {
		return 0, errors.New("the time must be s, min, hour or day, or a duration like 30s or 5m")
	}
	if d < minPer || d > maxPer {
		return 0, errors.New("the time must be between 1ms and 366d")
	}
	return d, nil
}

// duration is [time.ParseDuration] with days and with min for minutes.
func duration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * day, err
	}
	if minutes, ok := strings.CutSuffix(s, "min"); ok {
		s = minutes + "m"
	}
	return time.ParseDuration(s)
}

package project

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"heddle/internal/wire"
)

// jsonEvent reads a line that is a JSON object with a level or a message.
func jsonEvent(line []byte) event {
	e := event{line: line}
	e.known = logOnly(line)
	var codes, failure []byte
	said := 0 // how surely the message is one
	var read func(key string, v json.RawMessage) bool
	read = func(key string, v json.RawMessage) bool {
		part := eventPart(key)
		if v[0] == '{' && (key == "log" || key == "jsonPayload" || part == partMessage && !e.known) {
			_ = wire.Members(v, read)
			return true
		}
		switch part {
		case partLevel:
			if e.level == levelNone {
				e.level = jsonLevel(key, v)
			}
		case partMessage, partError:
			s, ok := wire.Unquote(v)
			if part == partError {
				s, ok = reason(v)
				failure = append(append(append(append(failure, ' '), key...), '='), s...)
			}
			if p := preference(key); ok && s != "" && p > said {
				e.message, said = []byte(s), p
				if part == partError {
					said = 1
				}
			}
		case partTime:
			if v[0] != '{' && v[0] != '[' {
				e.at = bytes.Trim(v, `"`)
			}
		case partCode:
			codes = append(append(append(append(codes, ' '), key...), '='), cell(v, 24)...)
		}
		return true
	}
	err := wire.Members(line, read)
	if e.known && e.message != nil { // what a container wrote is a line of its own log
		e.unwrap()
	}
	if said > 1 && len(failure) > 0 { // a message alone may be the same for all failures
		e.message = append(slices.Clip(e.message), failure...)
	}
	if len(codes) > 0 && e.message != nil { // what went wrong is said by both
		e.message = append(slices.Clip(e.message), codes...)
	}
	e.structured = err == nil && e.message != nil && (e.level != levelNone || e.at != nil || e.known)
	return e
}

// unwrap reads the level and the message in what another log's line holds.
func (e *event) unwrap() {
	e.message = bytes.TrimRight(e.message, "\r\n")
	inner := plainEvent(e.message)
	if len(e.message) > 1 && e.message[0] == '{' {
		inner = readEvent(e.message)
	}
	if e.level == levelNone {
		e.level = inner.level
	}
	if inner.level != levelNone || inner.at != nil {
		e.message = inner.message
	}
}

// logOnly reports whether a line has the members of what only logs are written
// by: journald, Docker, Google Cloud, Serilog, CloudWatch.
func logOnly(line []byte) bool {
	has := func(s string) bool { return bytes.Contains(line, []byte(s)) }
	return has(`"__REALTIME_TIMESTAMP"`) && has(`"MESSAGE"`) ||
		has(`"log":"`) && has(`"stream":"`) ||
		has(`"textPayload"`) || has(`"jsonPayload"`) ||
		has(`"ingestionTime"`) && has(`"message"`) ||
		has(`"@t"`) && (has(`"@m"`) || has(`"@mt"`))
}

// What a member of a structured line is.
const (
	partOther = iota
	partLevel
	partMessage
	partError // what went wrong, where the message does not say it
	partTime
	partCode
)

func eventPart(key string) int {
	switch key {
	case "level", "lvl", "severity", "levelname", "log.level", "loglevel", "@l", "PRIORITY":
		return partLevel
	case "msg", "message", "event", "@m", "@mt", "MESSAGE", "textPayload", "log":
		return partMessage
	case "error", "err", "exception", "exc_info", "@x":
		return partError
	case "time", "ts", "timestamp", "@timestamp", "date", "t", "@t", "__REALTIME_TIMESTAMP":
		return partTime
	case "status", "code", "statusCode", "status_code", "errorCode", "error_code", "errno":
		return partCode
	}
	return partOther
}

// preference is how surely a member with that key is what a line says.
func preference(key string) int {
	switch key {
	case "msg", "message", "MESSAGE", "@m", "textPayload":
		return 4
	case "event", "@mt":
		return 3
	case "log":
		return 2
	}
	return 1
}

// reason is what a member says of a failure, which may be an object with a
// message, or a stack: the line of it that names the exception.
func reason(v json.RawMessage) (string, bool) {
	const longest = 300
	if v[0] == '{' {
		var out []byte
		_ = wire.Members(v, func(key string, v json.RawMessage) bool {
			switch key {
			case "message", "msg", "type", "name", "code", "kind":
				if len(out) > 0 {
					out = append(out, ": "...)
				}
				out = append(out, cell(v, longest)...)
			}
			return true
		})
		return string(out), len(out) > 0
	}
	s, ok := wire.Unquote(v)
	if !ok {
		return cell(v, longest), false
	}
	lines := split([]byte(s))
	line := lines[0]
	if hasPrefix(line, "Traceback") {
		line = lines[len(lines)-1]
	}
	return tidy(string(line), longest), true
}

// details shows what else a structured line has, briefly.
func details(line []byte) []byte {
	var out []byte
	_ = wire.Members(line, func(key string, v json.RawMessage) bool {
		part := eventPart(key)
		if part == partOther || part == partMessage && preference(key) < 4 {
			out = append(out, ' ')
			out = append(append(out, tidy(key, 40)...), '=')
			out = append(out, cell(v, 80)...)
		}
		return len(out) < 400
	})
	return out
}

// jsonLevel reads a level's name, or its number as pino and bunyan write it, or
// syslog for journald.
func jsonLevel(key string, v []byte) int {
	word := bytes.Trim(v, `"`)
	n, err := strconv.Atoi(string(word))
	switch {
	case err == nil && key == "PRIORITY" && n >= 0 && n < 8:
		return [...]int{levelFatal, levelFatal, levelFatal, levelError, levelWarn, levelInfo, levelInfo, levelDebug}[n]
	case err == nil && n >= 10 && n <= 60:
		return [...]int{levelTrace, levelDebug, levelInfo, levelWarn, levelError, levelFatal}[n/10-1]
	case err == nil:
		return levelNone
	}
	return levelWord(word)
}

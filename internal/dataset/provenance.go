package dataset

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"heddle"
	"heddle/internal/secret"
	"heddle/internal/wire"
)

// Provenance says where a dataset comes from.
type Provenance struct {
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Args are the arguments of the call, redacted.
	Args json.RawMessage `json:"args,omitempty"`
	// SQL made it, if a query did.
	SQL     string    `json:"sql,omitempty"`
	Created time.Time `json:"createdAt"`
	// Source is the channel of the result that it was found in, "query" of a query's.
	Source string `json:"source"`
}

const (
	redacted = `"[redacted]"`
	omitted  = `"[omitted]"`
	// maxValue is how many characters of a string are kept.
	maxValue = 200
	// maxArgs is how long the arguments may be in all, maxNesting how deep.
	maxArgs    = 4 << 10
	maxNesting = 20
)

// secretKeys are parts of the names of arguments whose values nobody may see
// again, in lower case without separators.
var secretKeys = []string{"token", "secret", "password", "passwd", "passphrase", "apikey", "authorization", "bearer", "credential", "privatekey", "cookie"}

// Of returns the provenance of a result. Arguments whose keys are in denied are
// left out; keys that sound like secrets are redacted at every depth.
func Of(t heddle.ToolRef, args json.RawMessage, denied []string, now time.Time) Provenance {
	p := Provenance{Server: t.Server, Tool: t.Name, Created: now}
	if len(args) == 0 {
		return p
	}
	masked, _ := secret.MaskJSON(args) // what looks like a secret, under whatever key
	p.Args = redact(masked, denied, 0)
	if len(p.Args) > maxArgs {
		p.Args = json.RawMessage(omitted)
	}
	return p
}

// redact returns a JSON value as provenance may show it.
func redact(raw json.RawMessage, denied []string, depth int) json.RawMessage {
	if depth > maxNesting {
		return json.RawMessage(omitted)
	}
	switch raw[0] {
	case '{':
		out := []byte{'{'}
		_ = wire.Members(raw, func(key string, v json.RawMessage) bool { // it was checked before
			if len(out) > 1 {
				out = append(out, ',')
			}
			switch {
			case secretKey(key):
				v = json.RawMessage(redacted)
			case isDenied(key, denied):
				v = json.RawMessage(omitted)
			default:
				v = redact(v, denied, depth+1)
			}
			out = append(append(append(out, wire.Quote(key)...), ':'), v...)
			return true
		})
		return append(out, '}')
	case '[':
		elements, _ := wire.Elements(raw) // as above
		out := []byte{'['}
		for i, e := range elements {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, redact(e, denied, depth+1)...)
		}
		return append(out, ']')
	case '"':
		if s, ok := wire.Unquote(raw); ok && utf8.RuneCountInString(s) > maxValue {
			return wire.Quote(string([]rune(s)[:maxValue]) + "…")
		}
	}
	return raw
}

func secretKey(key string) bool {
	key = strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(key))
	for _, s := range secretKeys {
		if strings.Contains(key, s) {
			return true
		}
	}
	return false
}

func isDenied(key string, denied []string) bool {
	for _, d := range denied {
		if strings.EqualFold(key, d) {
			return true
		}
	}
	return false
}

package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/wire"
)

const (
	// maxMatches is how many tools a search shows, maxQuery how long a query may
	// be in code points, and maxAnswer how long the answer may get in bytes.
	maxMatches = 3
	maxQuery   = 256
	maxAnswer  = 10 << 10
)

// Find answers find_tool: at most three matches from the authorized catalog, as
// text.
func (g *Gateway) Find(p heddle.Principal, query, server string) (string, error) {
	switch n := utf8.RuneCountInString(query); {
	case strings.TrimSpace(query) == "":
		return "", invalidQuery("query is empty. Describe one capability: action, object and product, for example \"create issue github\".")
	case n > maxQuery:
		return "", invalidQuery(fmt.Sprintf("query has %d characters, the limit is %d. Describe one capability, not the whole task.", n, maxQuery))
	}
	snapshot := g.Snapshot(p)
	if server != "" && g.pool.Server(server) == nil {
		return "", invalidQuery("there is no such server. " + g.serverList(snapshot))
	}
	matches := snapshot.Find(query, server, maxMatches)
	if len(matches) == 0 {
		return "No tool fits this query. " + g.serverList(snapshot), nil
	}
	return matchText(matches), nil
}

func invalidQuery(public string) error {
	return &heddle.Error{Kind: heddle.KindInvalidQuery, Op: "gateway.find", Public: strings.ToUpper(public[:1]) + public[1:]}
}

// serverList names all servers with their tool counts, and why some have none.
func (g *Gateway) serverList(s *catalog.Snapshot) string {
	var parts []string
	for _, info := range s.Servers() {
		part := fmt.Sprintf("%s (%d tools)", info.Name, info.Tools)
		if !info.Known {
			part = info.Name + " (" + g.why(info) + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "No servers are configured."
	}
	return "Servers: " + strings.Join(parts, ", ") + "."
}

func (g *Gateway) why(info catalog.ServerInfo) string {
	u := g.pool.Server(info.Name)
	if u == nil {
		return "not configured any more"
	}
	st := u.Status()
	if st.Reason == "" {
		return string(st.State)
	}
	return string(st.State) + ": " + st.Reason
}

// shown is a match as the model reads it.
type shown struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
}

// matchText lists the matches, one JSON object a line. What does not fit into
// the answer is shortened from the last match on.
func matchText(matches []catalog.Match) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Call one of these with call_tool, its name as `tool`.\n")
	room := maxAnswer - b.Len()
	for i, m := range matches {
		left := len(matches) - i - 1
		line := fit(m.Tool, room-left*256)
		room -= len(line) + 1
		b.WriteByte('\n')
		b.WriteString(line)
	}
	return b.String()
}

// fit returns the tool as one line of at most room bytes, giving up first on
// long enums, then on the schema, then on the end of the description.
func fit(t *heddle.Tool, room int) string {
	out := shown{Name: t.Exposed, Description: t.Description, InputSchema: t.Listed}
	if line := encode(out); len(line) <= room {
		return line
	}
	out.InputSchema = shortEnums(t.Listed)
	if line := encode(out); len(line) <= room {
		return line
	}
	if len(out.Description) > 1000 {
		out.Description = cut(out.Description, 1000)
		if line := encode(out); len(line) <= room {
			return line
		}
	}
	out.InputSchema = nil
	for n := 600; ; n /= 2 { // what is escaped takes more room than its length
		out.Description = cut(t.Description, n) + " (Its schema is left out here: search for the exact name to see it.)"
		if line := encode(out); len(line) <= room || n == 0 {
			return line
		}
	}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings and valid JSON always encode
	return strings.TrimSuffix(b.String(), "\n")
}

// shortEnum is how many values of a long enum are shown.
const shortEnum = 10

// shortEnums returns the schema with long enums cut to their first values and a
// note that counts all of them. Validation always uses the whole.
func shortEnums(schema json.RawMessage) json.RawMessage {
	return shorten(schema, 0)
}

func shorten(v json.RawMessage, depth int) json.RawMessage {
	if depth > 64 || len(v) == 0 || v[0] != '{' {
		return v
	}
	var out bytes.Buffer
	out.WriteByte('{')
	note := ""
	_ = wire.Members(v, func(key string, value json.RawMessage) bool {
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		if key == "enum" {
			if all, err := wire.Elements(value); err == nil && len(all) > 2*shortEnum {
				note = fmt.Sprintf("%d values in all, the first %d are shown", len(all), shortEnum)
				value = append(append([]byte{'['}, bytes.Join(raws(all[:shortEnum]), []byte{','})...), ']')
			}
		}
		out.Write(wire.Quote(key))
		out.WriteByte(':')
		out.Write(shorten(value, depth+1))
		return true
	})
	if note != "" {
		fmt.Fprintf(&out, `,"$comment":%s`, wire.Quote(note))
	}
	out.WriteByte('}')
	return out.Bytes()
}

func raws(in []json.RawMessage) [][]byte {
	out := make([][]byte, len(in))
	for i, r := range in {
		out[i] = r
	}
	return out
}

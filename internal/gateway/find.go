package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/policy/schema"
	"heddle/internal/wire"
)

const (
	// maxMatches is how many tools a search shows, maxQuery how long a query may
	// be in code points, and maxAnswer how long the answer may get in bytes.
	maxMatches = 3
	maxQuery   = 256
	maxAnswer  = 10 << 10
)

// Once reports whether a server's own instructions are still to be told in a
// session, and counts them as told.
type Once func(server string) bool

// Find answers find_tool: at most three matches from the authorized catalog, as
// text.
func (g *Gateway) Find(p heddle.Principal, query, server string, once Once) (string, error) {
	matches, nothing, err := g.Search(p, query, server, maxMatches)
	if err != nil || len(matches) == 0 {
		return nothing, err
	}
	whole := func(t *heddle.Tool) string { return g.Whole(p, t, "find_tool") }
	return matchText(matches, g.Introduce(p, matches, once), whole), nil
}

// Whole returns the name under which read_result has a tool's whole definition, for
// a host that is shown less. again is the tool of heddle that shows it. "" means
// that there is none.
func (g *Gateway) Whole(p heddle.Principal, t *heddle.Tool, again string) string {
	return g.deliver.Whole(p, t, again)
}

// Search returns at most n tools of the authorized catalog that fit the query. If
// there are none, nothing says so, with what is near and where to look.
func (g *Gateway) Search(p heddle.Principal, query, server string, n int) (matches []catalog.Match, nothing string, err error) {
	switch n := utf8.RuneCountInString(query); {
	case strings.TrimSpace(query) == "":
		return nil, "", invalidQuery("query is empty. Describe one capability: action, object and product, for example \"create issue github\".")
	case n > maxQuery:
		return nil, "", invalidQuery(fmt.Sprintf("query has %d characters, the limit is %d. Describe one capability, not the whole task.", n, maxQuery))
	}
	snapshot := g.Snapshot(p)
	if server != "" && !g.knows(snapshot, server) {
		return nil, "", invalidQuery("there is no such server. " + g.serverList(snapshot))
	}
	matches = snapshot.Find(query, server, n)
	if len(matches) == 0 {
		nothing = g.noMatch(snapshot, query, server)
	}
	for _, m := range matches[:min(len(matches), maxMatches)] {
		g.pool.Wake(m.Tool.Ref.Server) // it is likely to be called next
	}
	return matches, nothing, nil
}

// knows reports whether there is a server of that name.
func (g *Gateway) knows(s *catalog.Snapshot, server string) bool {
	return g.pool.Server(server) != nil || slices.ContainsFunc(s.Servers(), func(i catalog.ServerInfo) bool { return i.Name == server })
}

// maxNear is how many near names are told where nothing fits.
const maxNear = 5

// noMatch says that nothing fits. What comes closest is named, and no more than
// named: a model takes what is shown as a match for one.
func (g *Gateway) noMatch(s *catalog.Snapshot, query, server string) string {
	text := "No tool fits this query."
	near := s.Near(query, 3, false)
	for _, m := range s.Rank(query, server, 3) {
		near = append(near, m.Tool.Exposed)
	}
	seen := map[string]bool{}
	near = slices.DeleteFunc(near, func(name string) bool {
		t, ok := s.Lookup(name, false)
		again := seen[name]
		seen[name] = true
		return again || !ok || server != "" && t.Ref.Server != server
	})
	if len(near) > 0 {
		text += " Near names: " + strings.Join(near[:min(len(near), maxNear)], ", ") + "."
	}
	return text + " Ask for one capability in English, as action, object and product (\"create issue github\"), or for an exact name.\n" + g.serverList(s)
}

// maxInstructions is how much of a server's own instructions is told, in
// characters.
const maxInstructions = 1000

// Introduce returns what the servers of the matches say of themselves and was not
// told in this session, a line a server.
func (g *Gateway) Introduce(p heddle.Principal, matches []catalog.Match, once Once) string {
	about := map[string]string{}
	for _, s := range g.Snapshot(p).Servers() {
		about[s.Name] = s.Instructions
	}
	var b strings.Builder
	for _, m := range matches {
		server := m.Tool.Ref.Server
		text := clean(about[server], maxInstructions)
		about[server] = ""
		if text != "" && once(server) {
			fmt.Fprintf(&b, "Server %s says: %s\n", server, text)
		}
	}
	return b.String()
}

// clean makes a server's text one line of at most n characters without what
// controls a terminal or how text is shown.
func clean(text string, n int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 8*n)], "")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r): // bidirectional overrides, zero width and tags
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}

func invalidQuery(public string) error {
	return &heddle.Error{Kind: heddle.KindInvalidQuery, Op: "gateway.find", Public: strings.ToUpper(public[:1]) + public[1:]}
}

const (
	maxServers    = 50      // of a list of them
	maxServerList = 4 << 10 // bytes of it
	serversALine  = 8
)

// serverList names the servers with their tool counts, and why some have none.
func (g *Gateway) serverList(s *catalog.Snapshot) string {
	var b strings.Builder
	all := s.Servers()
	for i, info := range all {
		part := fmt.Sprintf("%s (%d tools)", info.Name, info.Tools)
		if !info.Known {
			part = info.Name + " (" + cut(g.why(info), 200) + ")"
		}
		if i == maxServers || b.Len()+len(part) > maxServerList {
			fmt.Fprintf(&b, ", and %d more", len(all)-i)
			break
		}
		switch {
		case i == 0:
			b.WriteString("Servers: ")
		case i%serversALine == 0:
			b.WriteString(",\n")
		default:
			b.WriteString(", ")
		}
		b.WriteString(part)
	}
	if len(all) == 0 {
		return "No servers are configured."
	}
	return b.String() + "."
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
	// Signature stands for the schema where that is left out.
	Signature string `json:"signature,omitempty"`
	// ResultRef is what read_result has the whole definition by, where this is less.
	ResultRef string `json:"result_ref,omitempty"`
}

// lean is how long the answer may get before matches after the first are shown
// with their signature alone, in bytes: most answers then cost a model less than
// 600 tokens.
const lean = 3000

// matchText lists the matches, one JSON object a line, after what their servers
// say. The best match is shown whole if there is room at all, else as much of it,
// with what whole captures it by; the others are shown in the room that it leaves.
func matchText(matches []catalog.Match, about string, whole func(*heddle.Tool) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sCall one of these with call_tool, its name as `tool`.\n", about)
	room := maxAnswer - b.Len()
	spent := 0
	for i, m := range matches {
		left := len(matches) - i - 1
		line := fit(m.Tool, room-left*brief, whole)
		if i > 0 && spent+len(line) > lean {
			line = fitSignature(m.Tool, min(len(line), brief), "")
		}
		spent += len(line)
		room -= len(line) + 1
		b.WriteByte('\n')
		b.WriteString(line)
		whole = nil // who wants more of the others asks for them
	}
	return b.String()
}

// fit returns the tool as one line of at most room bytes, giving up first on
// long enums, then on the schema, then on the end of the description. whole names
// what has all of it then; nil is nothing.
func fit(t *heddle.Tool, room int, whole func(*heddle.Tool) string) string {
	out := shown{Name: t.Exposed, Description: t.Description, InputSchema: bare(t.Listed)}
	if line := encode(out); len(line) <= room {
		return line
	}
	if whole != nil {
		out.ResultRef = whole(t)
	}
	out.InputSchema = shortEnums(out.InputSchema)
	if line := encode(out); len(line) <= room {
		return line
	}
	if len(out.Description) > 1000 {
		out.Description = cut(out.Description, 1000)
		if line := encode(out); len(line) <= room {
			return line
		}
	}
	return fitSignature(t, room, out.ResultRef)
}

// brief is how long a match is that is shown without its schema, in bytes.
const brief = 640

// fitSignature returns the tool without its schema as one line of at most room
// bytes, or as short as it gets. ref is what has the schema, "" if nothing has.
func fitSignature(t *heddle.Tool, room int, ref string) string {
	out := shown{Name: t.Exposed, Signature: schema.Signature("", t), ResultRef: ref}
	ask := " (Ask for the exact name to see its schema.)"
	if ref != "" {
		ask = " (read_result with this result_ref shows its schema.)"
	}
	for n := 240; ; n /= 2 { // what is escaped takes more room than its length
		out.Description = strings.TrimSpace(cut(t.Description, n) + ask)
		line := encode(out)
		if len(line) <= room || n == 0 && out.Signature == "" {
			return line
		}
		if n == 0 {
			out.Signature, n = "", 240
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

// bare returns the schema without what says nothing to a caller: its titles, its
// comments and the name of its dialect. Validation always uses the whole.
func bare(v json.RawMessage) json.RawMessage { return strip(v, false, 0) }

// strip copies v, a schema or, as a bag, an object of schemas by name.
func strip(v json.RawMessage, bag bool, depth int) json.RawMessage {
	if depth > 64 || len(v) == 0 {
		return v
	}
	if v[0] == '[' {
		return stripAll(v, depth)
	}
	if v[0] != '{' {
		return v
	}
	out := []byte{'{'}
	_ = wire.Members(v, func(key string, value json.RawMessage) bool {
		if !bag {
			switch key {
			case "title", "$comment", "$schema":
				if len(value) > 0 && value[0] == '"' {
					return true
				}
			case "const", "enum", "default", "examples", "required":
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
				value = strip(value, true, depth+1)
			default:
				value = strip(value, false, depth+1)
			}
		} else {
			value = strip(value, false, depth+1)
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, wire.Quote(key)...), ':'), value...)
		return true
	})
	return append(out, '}')
}

// stripAll strips the schemas in an array.
func stripAll(v json.RawMessage, depth int) json.RawMessage {
	items, err := wire.Elements(v)
	if err != nil {
		return v
	}
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, strip(item, false, depth+1)...)
	}
	return append(out, ']')
}

// shortEnum is how many values of a long enum are shown.
const shortEnum = 10

// shortEnums returns the schema with long enums cut to their first values and a
// note that counts all of them. Validation always uses the whole.
func shortEnums(whole json.RawMessage) json.RawMessage {
	return shorten(whole, 0)
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

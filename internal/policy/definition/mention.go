package definition

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"heddle/internal/walk"
)

// steering finds texts that speak about another server's tool, and tell the model what
// to do with it.
//
// Most definitions mention no tool but their own server's. So the raw bytes are looked
// through first, and only where a name stands is the definition taken apart.
func (s *shadows) steering() {
	known := make(map[string][]int, len(s.names))
	for name, tools := range s.names {
		if len(name) >= minMention {
			known[name] = tools
		}
	}
	filter := &filter{}
	for name := range known {
		filter.add(name)
	}
	byServer := map[string]int{} // the first tool of each
	for i := range s.tools {
		name := strings.ToLower(s.tools[i].Server)
		if _, ok := byServer[name]; !ok && len(name) >= minServer {
			byServer[name] = i
		}
	}
	for i := range s.tools {
		m := mentions{shadows: s, tool: i, known: known, byServer: byServer, filter: filter}
		switch t := &s.tools[i]; {
		case t.Definition == nil:
			m.text(t.Description, func() string { return "/description" })
		case m.any(t.Definition):
			m.inspect()
		}
	}
}

// Names that are shorter are found in too many words.
const (
	minMention = 4
	minServer  = 3
)

// mentions looks for tools of other servers in one definition.
type mentions struct {
	*shadows
	tool     int
	known    map[string][]int
	byServer map[string]int
	filter   *filter      // of known
	found    map[int]bool // peers
	judged   int          // how many mentions
}

// any says that the raw bytes of a definition mention a tool of another server, or may.
func (m *mentions) any(raw []byte) bool {
	for i := 0; i < len(raw); {
		if class[raw[i]] == 0 {
			if raw[i] != '\\' {
				i++
				continue
			}
			if i+1 < len(raw) && raw[i+1] == 'u' {
				return true // any letter may be written so
			}
			i += 2
			continue
		}
		end, joint := word(raw, i)
		if joint || marked(raw, i, end) {
			if _, ok := m.peer(raw, i, end, joint); ok {
				return true
			}
		}
		i = end
	}
	return false
}

// class says of each byte whether words consist of it, and whether it shows, behind the
// first, that a word is a name: two words joined.
var class = func() (out [256]uint8) {
	for c := range out {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			out[c] = inWord
		case c == '_' || c == '-' || c == '.' || c == '/' || c >= 'A' && c <= 'Z':
			out[c] = inWord | joins
		}
	}
	return out
}()

const (
	inWord uint8 = 1 << iota
	joins
)

// word returns where the word ends that begins at b[start], and whether it is joined
// of two.
func word(b []byte, start int) (end int, joint bool) {
	var seen uint8
	for end = start + 1; end < len(b); end++ {
		c := class[b[end]]
		if c == 0 {
			break
		}
		seen |= c
	}
	return end, seen&joins != 0
}

// peer returns the tool of another server that the word b[start:end] means. A word that
// is not joint has to be marked as a name.
func (m *mentions) peer(b []byte, start, end int, joint bool) (tool int, ok bool) {
	for end > start && (b[end-1] == '.' || b[end-1] == '-' || b[end-1] == '/') {
		end--
	}
	word := b[start:end]
	if len(word) < minServer {
		return 0, false
	}
	if !joint {
		if i, ok := m.byServer[string(bytes.ToLower(word))]; ok && m.foreign(i) {
			return i, true
		}
	}
	if i := m.lookup(word); i >= 0 {
		return i, true
	}
	// A name may stand behind its server's: fs/read_file, mcp__fs__read_file.
	for k := len(word) - 2; joint && k > 0; k-- {
		if word[k] == '/' || word[k] == '.' || word[k] == '_' && word[k-1] == '_' {
			if i := m.lookup(word[k+1:]); i >= 0 {
				return i, true
			}
		}
	}
	return 0, false
}

// lookup returns the other server's tool of a name that none of this server's has.
func (m *mentions) lookup(word []byte) int {
	if !m.filter.may(word) {
		return -1
	}
	tools := m.known[string(word)]
	if len(tools) == 0 {
		return -1
	}
	server := m.tools[m.tool].Server
	for _, i := range tools {
		if m.tools[i].Server == server {
			return -1
		}
	}
	return tools[0]
}

// foreign says that a tool is another server's.
func (m *mentions) foreign(i int) bool {
	return !strings.EqualFold(m.tools[i].Server, m.tools[m.tool].Server)
}

// marked says that a word is shown to be a name: by a backtick, or by what follows.
func marked(b []byte, start, end int) bool {
	if start > 0 && b[start-1] == '`' {
		return true
	}
	rest := b[end:]
	if len(rest) < len(" mcp") || rest[0] != ' ' && rest[0] < utf8.RuneSelf {
		return false
	}
	follows := ""
	switch rest[1] {
	case 't':
		follows = " tool"
	case 's':
		follows = " server"
	case 'm':
		follows = " mcp"
	case 'M':
		follows = " MCP"
	case 'f':
		follows = " function"
	case "工具"[1]:
		follows = "工具"
	case "服务"[1]:
		follows = "服务"
	default:
		return false
	}
	return len(rest) >= len(follows) && string(rest[:len(follows)]) == follows
}

// filter says of most words that no tool is called so, without a look into the map.
type filter [1 << 10]uint64

func (f *filter) place(first, middle, last byte, size int) (word int, bit uint64) {
	h := uint32(size)
	for _, c := range [...]byte{first, middle, last} {
		h = (h ^ uint32(c)) * 0x01000193
	}
	h ^= h >> 15
	return int(h>>6) % len(f), 1 << (h & 63)
}

func (f *filter) add(name string) {
	word, bit := f.place(name[0], name[len(name)/2], name[len(name)-1], len(name))
	f[word] |= bit
}

func (f *filter) may(name []byte) bool {
	if len(name) < minMention {
		return false
	}
	word, bit := f.place(name[0], name[len(name)/2], name[len(name)-1], len(name))
	return f[word]&bit != 0
}

// inspect takes the definition apart and judges what is said around each mention.
func (m *mentions) inspect() {
	// A definition that is no JSON is judged as far as it can be read.
	_ = walk.Texts(m.tools[m.tool].Definition, func(t *walk.Text) bool {
		if t.Kind == walk.Number || t.Depth() == 1 && t.Name == "name" || strings.IndexByte(t.Value, ' ') < 0 && len(t.Value) < 2*maxSentence && isASCII(t.Value) {
			return true
		}
		m.text(t.Value, t.Pointer)
		return m.judged < maxMentions
	})
}

// maxMentions bounds how many mentions of a definition are judged.
const maxMentions = 200

// text judges the mentions in one text. at is its place, asked for if one steers.
func (m *mentions) text(s string, at func() string) {
	b := []byte(s)
	for i := 0; i < len(b) && m.judged < maxMentions; {
		if class[b[i]] == 0 {
			i++
			continue
		}
		start := i
		end, joint := word(b, start)
		i = end
		if !joint && !marked(b, start, end) {
			continue
		}
		peer, ok := m.peer(b, start, i, joint)
		if !ok || m.found[peer] {
			continue
		}
		m.judged++
		end = start + len(bytes.TrimRight(b[start:end], ".-/"))
		if steers(s, start, end) {
			if m.found == nil {
				m.found = map[int]bool{}
			}
			m.found[peer] = true
			m.find(m.tool, "shadow_steer", at(), peer)
		}
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

package definition

import (
	"encoding/json"
	"strings"

	"heddle"
	"heddle/internal/policy/inject/normal"
)

// Named is a tool beside others.
type Named struct {
	Server, Name string
	// Description is the tool's own, unescaped.
	Description string
	// Definition is all of it, in which every text is looked at; with nil Description is
	// the only one.
	Definition json.RawMessage
}

// ref is "server::tool", the name in findings.
func (n *Named) ref() string { return heddle.ToolRef{Server: n.Server, Name: n.Name}.String() }

// Shadows compares each tool with those of all other servers, in the order in which
// the configuration has them. It returns the findings of each tool, in order; nil for
// one without. A plain equal name is none: two honest servers may both have "search".
//
//   - shadow_name: the name looks like another's and is not it.
//   - shadow_copy: name and description imitate another's.
//   - shadow_steer: a text tells the model how to use another server's tool, or not to.
//
// Its cost is linear in the size of the definitions.
func Shadows(tools []Named) [][]Finding {
	s := shadows{tools: tools, out: make([][]Finding, len(tools)), names: make(map[string][]int, len(tools)), servers: map[string]int{}}
	for i := range tools {
		s.names[tools[i].Name] = append(s.names[tools[i].Name], i)
		s.servers[tools[i].Server]++
	}
	if len(s.servers) < 2 {
		return s.out
	}
	s.lookalikes()
	s.copies()
	s.steering()
	return s.out
}

type shadows struct {
	tools   []Named
	out     [][]Finding
	names   map[string][]int // tools by name, in order
	servers map[string]int   // how many tools each has
}

func (s *shadows) find(i int, rule, pointer string, peer int) {
	s.out[i] = append(s.out[i], Finding{Rule: rule, Pointer: pointer, Peer: s.tools[peer].ref()})
}

// other returns a tool of another server among those given, -1 if there is none.
func (s *shadows) other(server string, among []int) int {
	for _, i := range among {
		if s.tools[i].Server != server {
			return i
		}
	}
	return -1
}

// lookalikes finds names that one cannot tell apart by looking.
func (s *shadows) lookalikes() {
	like := make(map[string][]int, len(s.names))
	for i := range s.tools {
		if name := s.tools[i].Name; s.names[name][0] == i { // each name once
			k := normal.Skeleton(name)
			like[k] = append(like[k], i)
		}
	}
	var habits map[habit]int
	for _, group := range like {
		if len(group) < 2 {
			continue
		}
		if habits == nil {
			habits = s.habits()
		}
		for _, a := range group {
			for _, i := range s.names[s.tools[a].Name] {
				if b := s.victim(i, group, habits); b >= 0 {
					s.find(i, "shadow_name", "/name", b)
				}
			}
		}
	}
}

// victim returns the tool whose name that of tool i imitates, -1 if it imitates none.
func (s *shadows) victim(i int, group []int, habits map[habit]int) int {
	t := &s.tools[i]
	for _, k := range group {
		name := s.tools[k].Name
		b := s.other(t.Server, s.names[name])
		if name == t.Name || b < 0 {
			continue
		}
		mine, its := disguise(t.Name), disguise(name)
		if joined(strings.ToLower(name)) == joined(strings.ToLower(t.Name)) {
			// Only case and joints differ. Who always writes names so means nothing by it.
			if style(name)&joints == 0 && style(t.Name)&joints == 0 {
				continue // a single word, as in Search and search
			}
			mine, its = -habits[habit{t.Server, style(t.Name)}], -habits[habit{s.tools[b].Server, style(name)}]
			if mine <= -minHabit {
				continue
			}
		}
		if mine > its || mine == its && i > b {
			return b
		}
	}
	return -1
}

// habit is how a server joins the words of names.
type habit struct {
	server string
	style  uint8
}

// minHabit is how many names make a habit.
const minHabit = 3

// habits counts the tools of each server by the style of their names.
func (s *shadows) habits() map[habit]int {
	out := map[habit]int{}
	for i := range s.tools {
		out[habit{s.tools[i].Server, style(s.tools[i].Name)}]++
	}
	return out
}

// The parts of a name's style.
const (
	snake  uint8 = 1 << iota // read_file
	kebab                    // read-file
	dotted                   // read.file
	camel                    // readFile
	title                    // ReadFile, Read_file
	joints = snake | kebab | dotted | camel
)

func style(name string) (out uint8) {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_':
			out |= snake
		case c == '-':
			out |= kebab
		case c == '.':
			out |= dotted
		case c >= 'A' && c <= 'Z' && i == 0:
			out |= title
		case c >= 'A' && c <= 'Z':
			out |= camel
		}
	}
	return out
}

// joined drops what joins the words of a name.
func joined(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, name)
}

// disguise says how much of a name is not what names are made of: of two that look
// alike, the plainer one is the real one.
func disguise(name string) int {
	n := 0
	for _, r := range name {
		switch {
		case r >= 0x80 || r <= ' ':
			n += 100
		case r >= '0' && r <= '9':
			n++
		}
	}
	return n
}

// minCopied is how many words a description needs for being the same to mean
// something: "Lists files." is what anybody writes.
const minCopied = 5

// copies finds tools that have another's name and almost its words. Two installations
// of the same software have them too, and share most of their tools.
func (s *shadows) copies() {
	shared := map[[2]string]int{} // names that two servers share
	for _, same := range s.names {
		for k := 1; k < len(same) && k < maxSame; k++ {
			a, b := s.tools[same[0]].Server, s.tools[same[k]].Server
			shared[[2]string{a, b}]++
		}
	}
	for _, same := range s.names {
		for k := 1; k < len(same) && k < maxSame; k++ {
			first, later := same[0], same[k]
			a, b := s.tools[first].Server, s.tools[later].Server
			if a == b {
				continue
			}
			n, fewer := shared[[2]string{a, b}], min(s.servers[a], s.servers[b])
			if n > 1 && n*2 >= fewer {
				continue
			}
			one, two := s.tools[first].Description, s.tools[later].Description
			if imitates(one, two) && (one != two || n < fewer) {
				s.find(later, "shadow_copy", "/description", first)
			}
		}
	}
}

// maxSame bounds how many tools of the same name are compared.
const maxSame = 100

// imitates says that two descriptions have almost the same words, in whatever case.
func imitates(a, b string) bool {
	one, two := words(a), words(b)
	if len(one) < minCopied || len(two) < minCopied {
		return false
	}
	has := make(map[string]bool, len(one))
	for _, w := range one {
		has[w] = true
	}
	total, common := len(has), 0
	seen := map[string]bool{}
	for _, w := range two {
		if seen[w] {
			continue
		}
		seen[w] = true
		if has[w] {
			common++
		} else {
			total++
		}
	}
	return common*10 >= total*9
}

// words returns the first words of a text, in lower case.
func words(s string) []string {
	const enough = 4000 // bytes
	if len(s) > enough {
		s = s[:enough]
	}
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x80
	})
}

package policy

import (
	"maps"
	"slices"

	"heddle"
)

// Idle is a pattern that matches no tool, which its author hardly meant: an allow
// that lets nothing pass, a deny that holds nothing back.
type Idle struct {
	// List is where the pattern stands, Pattern is as written.
	List, Pattern string
}

// Idle returns the patterns that match none of tools, which must be all that there
// are: a server that did not start has tools that nobody knows.
func (p *Policy) Idle(tools []heddle.ToolRef) []Idle {
	of := map[string][]heddle.ToolRef{}
	for _, t := range tools {
		of[t.Server] = append(of[t.Server], t)
	}
	var out []Idle
	both := func(l serverLists, tools []heddle.ToolRef) {
		if l.allow != nil {
			out = append(out, l.allow.idle(tools)...)
		}
		out = append(out, l.deny.idle(tools)...)
	}
	both(serverLists{p.allow, p.deny}, tools)
	for _, name := range slices.Sorted(maps.Keys(p.servers)) {
		if len(of[name]) > 0 { // without tools it is disabled
			both(p.servers[name], of[name])
		}
	}
	both(p.profile, tools)
	for i := range p.params {
		out = append(out, p.params[i].list.idle(tools)...)
	}
	return out
}

func (l *list) idle(tools []heddle.ToolRef) (out []Idle) {
	for _, p := range l.patterns {
		hit := slices.ContainsFunc(tools, func(t heddle.ToolRef) bool {
			n := namesOf(t)
			return l.matches(p, &n)
		})
		if !hit {
			out = append(out, Idle{List: l.name, Pattern: p.text})
		}
	}
	return out
}

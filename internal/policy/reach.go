package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Warning is a pattern that reaches tools of several servers, which its author may
// not have meant.
type Warning struct {
	// List is where the pattern stands: "tools.allow", "tools.deny" or
	// "tools.params".
	List string
	// Pattern is the pattern as written.
	Pattern string
	// Servers are the servers that it reaches, sorted.
	Servers []string
}

// String says it in one line: "tools.allow: upstream_* reaches 2 servers: a, a_b".
func (w Warning) String() string {
	return fmt.Sprintf("%s: %s reaches %d servers: %s", w.List, w.Pattern, len(w.Servers), strings.Join(w.Servers, ", "))
}

// Reach returns the patterns of the global lists that could reach tools of several
// of these servers without saying so: a pattern without "/" is matched against
// "<server>_<tool>", so that "git_*" also reaches a server "git_lab". Patterns that
// begin with a star mean every server, and those with "/" name theirs. Only the
// names of the servers count: their tools may not be known yet.
func (p *Policy) Reach(servers []string) []Warning {
	var out []Warning
	lists := []*list{&p.deny}
	if p.allow != nil {
		lists = []*list{p.allow, &p.deny}
	}
	for _, l := range lists {
		for _, pat := range l.patterns {
			out = appendReach(out, l, pat, servers)
		}
	}
	for i := range p.params {
		l := &p.params[i].list
		out = appendReach(out, l, l.patterns[0], servers)
	}
	return out
}

func appendReach(out []Warning, l *list, p *pattern, servers []string) []Warning {
	if p.slashed() || strings.HasPrefix(p.text, "*") {
		return out
	}
	m := l.matching()
	m.slash = true
	var hit []string
	for _, server := range servers {
		if p.whole.reaches(server+"_", m) && !slices.Contains(hit, server) {
			hit = append(hit, server)
		}
	}
	if len(hit) < 2 {
		return out
	}
	slices.Sort(hit)
	return append(out, Warning{List: l.name, Pattern: p.text, Servers: hit})
}

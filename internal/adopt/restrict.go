package adopt

import (
	"fmt"
	"slices"

	"heddle/internal/hostfile"
)

// restrict takes over what the settings of a server's host say against its tools: what
// it refuses is denied, and what it asks for is asked for. What heddle does with its own
// tools is none of the host's business any more, which sees only those.
func (m *maker) restrict(s *server, d *hostfile.Decision) (notes []string) {
	all, err := d.Server.Restrictions()
	if err != nil {
		return []string{"what its host's settings say against its tools is not known: " + err.Error()}
	}
	for _, r := range all {
		what := "tool " + r.Tool + " is"
		if r.Tool == "*" {
			what = "all its tools are"
		}
		if r.Ask {
			m.confirm = append(m.confirm, s.name+"/"+r.Tool)
			notes = append(notes, fmt.Sprintf("%s in tools.confirm, as %s asks for it", what, r.Path))
			continue
		}
		if !slices.Contains(s.Deny, r.Tool) {
			s.Deny = append(slices.Clone(s.Deny), r.Tool)
		}
		notes = append(notes, fmt.Sprintf("%s denied, as in %s", what, r.Path))
	}
	return notes
}

// ask adds patterns of tools that the user is asked for.
func (s *settings) ask(patterns []string) {
	if len(patterns) == 0 {
		return
	}
	if s.base == nil {
		s.base = defaults()
	}
	base := *s.base // the source's own stays as it was read
	for _, p := range patterns {
		base.Tools.Confirm = appendOnce(slices.Clip(base.Tools.Confirm), p)
	}
	s.base = &base
}

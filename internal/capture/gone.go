package capture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle"
)

const (
	pastMost   = 1024 // evicted captures that are remembered
	newestMost = 5    // names that an error lists
)

// Gone is the cause of an error about a capture that is held no more and whose
// tool is known.
type Gone struct {
	Ref string
	// Tool is what to call again.
	Tool heddle.ToolRef
	// Evicted is when it was given up; zero if that is not known.
	Evicted time.Time
}

// Error implements error.
func (g *Gone) Error() string { return "capture " + g.Ref + " of " + g.Tool.String() + " is gone" }

// past remembers the captures that were evicted last. The store's mu guards it.
type past struct {
	captures map[key]pastCapture
	order    []key // a ring once it is full
	next     int
}

type pastCapture struct {
	tool    heddle.ToolRef
	evicted time.Time
}

func (p *past) add(k key, c pastCapture) {
	if p.captures == nil {
		p.captures = map[key]pastCapture{}
	}
	p.captures[k] = c
	if len(p.order) < pastMost {
		p.order = append(p.order, k)
		return
	}
	delete(p.captures, p.order[p.next])
	p.order[p.next] = k
	p.next = (p.next + 1) % pastMost
}

// gone says what is known of a ref that a principal does not have. A ref that was
// never the principal's is not repeated: only names of our own making are.
func (s *Store) gone(op string, p heddle.Principal, ref string) error {
	s.mu.Lock()
	was, evicted := s.past.captures[key{p, ref}]
	held := s.newest(p)
	s.mu.Unlock()

	e := &heddle.Error{Kind: heddle.KindResultExpired, Op: op}
	name, number, shaped := splitRef(ref)
	switch tool, given := s.seq.elsewhere(name, number, p); {
	case evicted:
		e.Public = fmt.Sprintf("%s expired at %s, to make room: call %s again.", ref, was.evicted.UTC().Format(time.RFC3339), toolText(was.tool))
		e.Err = &Gone{Ref: ref, Tool: was.tool, Evicted: was.evicted}
	case shaped && given && tool != heddle.ToolRef{}:
		e.Public = fmt.Sprintf(elsewhere+"call %s again.", ref, toolText(tool))
		e.Err = &Gone{Ref: ref, Tool: tool}
	case shaped && given:
		e.Public = fmt.Sprintf(elsewhere+"call its tool again.", ref)
	default:
		e.Public = "No result has this name, or it expired long ago."
	}
	e.Public += heldText(held)
	return e
}

// elsewhere is said of a name that another process gave, or this one long ago.
const elsewhere = "%s is not held by this heddle: it expired, or belongs to an earlier heddle or to one that serves another host. To have it here, "

// toolText names the tool to call again: one of heddle's own has no server.
func toolText(tool heddle.ToolRef) string {
	if tool.Server == "" {
		return tool.Name
	}
	return tool.String()
}

// newest returns the refs that a principal had last, newest first. The caller
// holds mu.
func (s *Store) newest(p heddle.Principal) []string {
	var all []*Capture
	for k, c := range s.captures {
		if k.principal == p {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *Capture) int {
		if n := b.Created.Compare(a.Created); n != 0 {
			return n
		}
		return strings.Compare(b.Ref, a.Ref)
	})
	var refs []string
	for _, c := range all[:min(newestMost, len(all))] {
		refs = append(refs, c.Ref)
	}
	return refs
}

func heldText(refs []string) string {
	if len(refs) == 0 {
		return " No results are held."
	}
	return " Results held, newest first: " + strings.Join(refs, ", ") + "."
}

// unreadable is the error for a capture whose stored form is missing or damaged.
func (c *Capture) unreadable(err error) error {
	return &heddle.Error{
		Kind: heddle.KindResultExpired, Op: "capture.read",
		Public: fmt.Sprintf("%s can no longer be read from disk: call %s again.", c.Ref, toolText(c.Tool)),
		Err:    fmt.Errorf("%w: %w", &Gone{Ref: c.Ref, Tool: c.Tool}, err),
	}
}

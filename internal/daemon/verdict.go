package daemon

import (
	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/policy"
	"heddle/internal/wire"
)

// Verdict is what all guards make of one tool that a server lists.
type Verdict struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	policy.Guards
	// Held says why the tool waits for a person's approval; "" if it does not.
	Held string `json:"held,omitempty"`
	// Flags are what guards found in its definition: rules and places.
	Flags []string `json:"flags,omitempty"`
}

// Verdicts returns what the guards make of every tool that is listed, denied ones
// included.
func (d *Daemon) Verdicts() []Verdict {
	g := d.current.Load()
	snapshot := g.catalog.Snapshot()
	held, destructive := map[heddle.ToolRef]string{}, map[heddle.ToolRef]bool{}
	for _, t := range snapshot.Tools() {
		destructive[t.Ref] = t.Destructive
	}
	for _, h := range snapshot.Held() {
		held[h.Tool.Ref], destructive[h.Tool.Ref] = h.Why, h.Tool.Destructive
	}
	flags := map[[2]string][]string{}
	for _, w := range snapshot.Warnings() {
		if w.Kind == catalog.WarnFlagged {
			key := [2]string{w.Server, w.Tool}
			flags[key] = append(flags[key], w.Message)
		}
	}
	out := []Verdict{}
	for _, s := range g.pool.Servers() {
		seen := map[string]bool{}
		for _, definition := range s.Tools() {
			name, ok := wire.Unquote(wire.Member(definition, "name"))
			if !ok || seen[name] {
				continue // the catalog warns of it
			}
			seen[name] = true
			ref := heddle.ToolRef{Server: s.Name(), Name: name}
			out = append(out, Verdict{
				Server: ref.Server, Tool: ref.Name, Guards: g.policy.Guards(ref, destructive[ref]),
				Held: held[ref], Flags: flags[[2]string{ref.Server, ref.Name}],
			})
		}
	}
	return out
}

package hostfile

import (
	"fmt"
)

// Verdict is what a merge does with a server.
type Verdict string

// The verdicts.
const (
	// Kept is a server under its own name.
	Kept Verdict = "kept"
	// Renamed is a server under another name.
	Renamed Verdict = "renamed"
	// Dropped is one that another file has just so.
	Dropped Verdict = "dropped"
	// Skipped is one that stays with its host.
	Skipped Verdict = "skipped"
)

// Decision is what was done with one server, and why.
type Decision struct {
	Server  Server
	Verdict Verdict
	// Name is what heddle calls it; "" if it is left out.
	Name string
	// Reason is for people; "" for a server that is just kept.
	Reason string
}

// String returns a line that says it all, without any value of the entry.
func (d Decision) String() string {
	s := fmt.Sprintf("%s: %s", d.Server, d.Verdict)
	if d.Verdict == Renamed {
		s += " to " + d.Name
	}
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

// Merge makes one list of the servers of several files. The decisions are in the
// order of servers, one for each. What two files have under one name in just the
// same way is one server; what differs gets the host's name behind its own. A
// server that is disabled gives way to one that is not. Heddle itself, servers
// of other directories than env.Cwd and what heddle cannot run are left out.
func Merge(env Env, servers []Server) []Decision {
	m := merger{env: env, at: map[string][]int{}, owners: map[string]int{}}
	m.out = make([]Decision, len(servers))
	for _, disabled := range []bool{false, true} {
		for i, s := range servers {
			if s.Disabled == disabled {
				m.out[i] = m.decide(i, s)
			}
		}
	}
	return m.out
}

type merger struct {
	env Env
	out []Decision
	// at are the decisions that kept a server of a host's name; owners those that
	// gave a name of heddle's.
	at     map[string][]int
	owners map[string]int
}

func (m *merger) decide(i int, s Server) Decision {
	d := Decision{Server: s, Verdict: Skipped}
	switch {
	case s.Heddle:
		d.Reason = "it is heddle itself"
	case s.Project != "" && !m.env.within(m.env.Cwd, s.Project):
		d.Reason = "it is for another directory"
	case s.Unusable != "":
		d.Reason = s.Unusable
	default:
		return m.place(i, d)
	}
	return d
}

// place gives a server a name, unless it has one already.
func (m *merger) place(i int, d Decision) Decision {
	s := d.Server
	want := plainName(s.Name)
	for _, j := range m.at[want] {
		if first := m.out[j].Server; s.Same(first) {
			d.Verdict, d.Reason = Dropped, "it is the same in "+first.File.Path
			return d
		}
	}
	d.Verdict = Kept
	_, taken := m.owners[want]
	d.Name = freeName(want, s.File.Host.Name, func(name string) bool { _, ok := m.owners[name]; return ok })
	switch {
	case taken && d.Name != want:
		d.Verdict = Renamed
		d.Reason = fmt.Sprintf("%s has another server of that name", m.out[m.owners[want]].Server.File.Path)
	case d.Name != want:
		d.Verdict, d.Reason = Renamed, "heddle keeps that name for itself"
	case d.Name != s.Name:
		d.Verdict, d.Reason = Renamed, "names in heddle are lower case, without spaces"
	}
	m.owners[d.Name] = i
	m.at[want] = append(m.at[want], i)
	return d
}

// Config returns the servers that decisions keep as a configuration of heddle,
// in JSON, which config.Decode reads as it reads heddle.yml.
func Config(decisions []Decision) []byte {
	servers := &node{kind: object}
	for _, d := range decisions {
		if d.Name == "" {
			continue
		}
		n := d.Server.definition()
		if d.Server.Disabled {
			n.with("disabled", &node{kind: scalar, text: "true"})
		}
		servers.with(d.Name, n)
	}
	root := (&node{kind: object}).with("version", &node{kind: scalar, text: "2"}).with("servers", servers)
	out := jsonText(root, "", style{newline: "\n", unit: "  ", space: " "}) + "\n"
	return []byte(out)
}

// Package adopt owns what `heddle init` does: it takes servers over from the files
// of other programs into a new heddle.yml.
//
// It starts nothing, prints nothing, and changes no file of another program but
// .env and .gitignore, to which it adds lines. What it writes is read back as
// heddle reads it before a byte is on the disk, and is written whole or not at all.
// No secret is in the new file, in an error or in a Plan's exported fields.
//
// Start reading at [New]: source.go finds and reads, foreign.go knows the formats
// of other gateways, secret.go moves secrets, render.go writes the text, and
// write.go puts it on the disk.
package adopt

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/internal/config"
	"heddle/internal/hostfile"
)

// Request says what to make.
type Request struct {
	// Env is the machine, its Cwd where files are looked for; Config is where
	// variables are looked up.
	Env    hostfile.Env
	Config config.Env
	// Path is the absolute path of the new file.
	Path string
	// From is a file or a host; "" for what is in Env.Cwd.
	From string
	// Force overwrites a file that is there.
	Force bool
}

// Plan is a new heddle.yml that is not written yet.
type Plan struct {
	// Path is that of the new file.
	Path string
	// Sources are the files that were read.
	Sources []string
	// Hosts are the names of the hosts that they belong to.
	Hosts []string
	// Decisions say what became of each server.
	Decisions []hostfile.Decision
	// Moved are the secrets that go to DotEnv.
	Moved []Moved
	// DotEnv is the .env beside Path; Gitignore the file that gets a line for it, ""
	// if none does.
	DotEnv, Gitignore string
	// Unset are the servers that need a variable which has no value, each with why.
	Unset []string
	// Notes are what else is worth knowing.
	Notes []string

	text   []byte
	added  string // to .env
	ignore string // to .gitignore
	force  bool
}

// Moved is a secret that was in plain text.
type Moved struct {
	Server string `json:"server"`
	// Field is where it stood: env.TOKEN, args[2], url.
	Field string `json:"field"`
	// Variable is what stands for it now.
	Variable string `json:"variable"`
}

// Error is what keeps a file from being made.
type Error struct {
	Message, Hint string
	// Err is the cause; may be nil.
	Err error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New reads what there is to take over and plans the file. Nothing is written.
func New(r Request) (*Plan, error) {
	if err := readable(r.Path); err != nil {
		return nil, err
	}
	p := &Plan{Path: r.Path, DotEnv: filepath.Join(filepath.Dir(r.Path), ".env"), force: r.Force}
	if err := p.free(); err != nil {
		return nil, err
	}
	found, err := sources(r)
	if err != nil {
		return nil, err
	}
	m := &maker{plan: p, request: r, settings: settingsOf(found)}
	if m.vault, err = openVault(p.DotEnv, r.Config); err != nil {
		return nil, err
	}
	if err := m.take(found); err != nil {
		return nil, err
	}
	return p, m.finish()
}

// maker makes one plan.
type maker struct {
	plan     *Plan
	request  Request
	settings settings
	vault    *vault
	servers  []server
	// confirm are patterns of tools that hosts ask for.
	confirm []string
}

// take decides on all servers.
func (m *maker) take(found []source) error {
	var all []hostfile.Server
	for _, s := range found {
		m.plan.Sources = append(m.plan.Sources, s.path)
		m.plan.Notes = append(m.plan.Notes, s.notes...)
		if s.host != "" {
			m.plan.Hosts = appendOnce(m.plan.Hosts, s.host)
		}
		all = append(all, s.servers...)
	}
	m.plan.Decisions = hostfile.Merge(m.request.Env, all)
	taken := 0
	for i := range m.plan.Decisions {
		d := &m.plan.Decisions[i]
		if d.Name == "" {
			continue
		}
		if s, why := m.adopt(d); why != "" {
			d.Verdict, d.Name, d.Reason = hostfile.Skipped, "", why
		} else {
			taken++
			m.servers = append(m.servers, s)
		}
	}
	if taken == 0 && (m.request.From != "" || len(all) > 0) {
		return m.nothing()
	}
	return nil
}

// nothing says why there is nothing to take over.
func (m *maker) nothing() error {
	e := &Error{Message: "there is nothing to take over in " + strings.Join(m.plan.Sources, ", "), Hint: "name another file or host with --from"}
	for _, d := range m.plan.Decisions {
		e.Message += "\n  " + d.String()
	}
	return e
}

// adopt makes a server of heddle's. Why says what keeps heddle from running it.
func (m *maker) adopt(d *hostfile.Decision) (s server, why string) {
	s = newServer(d, m.settings.denylists[d.Server.Name])
	s.anchor(m.request.Env, filepath.Dir(m.request.Path))
	notes := d.Server.Notes
	if len(d.Server.Extra) > 0 {
		notes = append(notes, "not taken over: "+strings.Join(d.Server.Extra, ", "))
	}
	for {
		problem := m.refused(s)
		if problem == nil {
			break
		}
		header, ok := headerOf(problem.Field, s.name)
		if _, has := s.Headers[header]; !ok || !has {
			return s, strings.TrimPrefix(problem.Field+" ", "servers."+s.name+".") + problem.Message
		}
		delete(s.Headers, header) // heddle sets it, or it could not be sent
		notes = append(notes, "header "+header+" is left out: it "+strings.TrimSuffix(problem.Message, "; remove it"))
	}
	notes = append(notes, m.restrict(&s, d)...)
	for _, n := range notes {
		m.plan.Notes = append(m.plan.Notes, s.name+": "+n)
	}
	m.plan.Moved = append(m.plan.Moved, s.hide(m.vault)...)
	return s, ""
}

// headerOf returns the header of a server that a problem is about.
func headerOf(field, server string) (string, bool) {
	name, ok := strings.CutPrefix(field, "servers."+server+".headers.")
	if plain, err := strconv.Unquote(name); err == nil {
		name = plain
	}
	return name, ok
}

// refused returns what heddle says against a server, nil if it takes it.
func (m *maker) refused(s server) *config.Problem {
	_, err := config.Decode(render([]server{s}, settings{}, ""), m.request.Path, config.Env{Home: m.request.Config.Home})
	var problems *config.ProblemsError
	if !errors.As(err, &problems) {
		return nil
	}
	return &problems.Problems[0]
}

// finish writes the text and reads it as heddle will.
func (m *maker) finish() error {
	p := m.plan
	m.settings.ask(m.confirm)
	p.text = render(m.servers, m.settings, m.origin())
	p.added = m.vault.text()
	cfg, err := config.Part(p.text, p.Path, m.vault.env)
	if err != nil {
		return &Error{Message: fmt.Sprintf("heddle would not read what it is about to write: %v", err), Hint: "nothing was written", Err: err}
	}
	for _, s := range cfg.Servers {
		if s.Unusable != "" && !s.Disabled {
			p.Unset = append(p.Unset, s.Name+": "+s.Unusable)
		}
	}
	if p.added != "" {
		return p.gitignore()
	}
	return nil
}

// origin says in the file where its servers are from.
func (m *maker) origin() string {
	var names []string
	for _, path := range m.plan.Sources {
		if rel, err := filepath.Rel(filepath.Dir(m.plan.Path), path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
		names = append(names, path)
	}
	return strings.Join(names, ", ")
}

func appendOnce(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

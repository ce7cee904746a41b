package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/config"
	"heddle/internal/hostfile"
)

// listing is what the files of one host list.
type listing struct {
	host *hostfile.Host
	// heddle are the entries that start heddle, others the rest that the host starts,
	// and twice those of them that heddle has too.
	heddle, others, twice []hostfile.Server
}

// hosts reads the files of all hosts: a model pays twice for a server that its
// host starts and heddle too, and an entry may start a heddle that is gone.
func hosts(_ context.Context, m *Machine) (out []Finding) {
	var all []*listing
	for _, f := range hostfile.Find(m.Env) {
		servers, err := hostfile.Read(f)
		if err != nil {
			out = append(out, unreadable(f, err))
			continue
		}
		i := slices.IndexFunc(all, func(l *listing) bool { return l.host.Name == f.Host.Name })
		if i < 0 {
			i, all = len(all), append(all, &listing{host: f.Host})
		}
		m.sort(all[i], servers)
	}
	for _, l := range all {
		out = append(out, m.listed(l)...)
	}
	if len(out) == 0 {
		out = append(out, Finding{Level: OK, What: "no host lists a server here"})
	}
	return out
}

func unreadable(f hostfile.File, err error) Finding {
	out := Finding{Level: Warning, Subject: f.Path, What: fmt.Sprintf("a file of %s cannot be read: %v", f.Host.Title, err)}
	var bad *hostfile.Error
	if errors.As(err, &bad) {
		out.Remedy = bad.Hint
		if bad.Excerpt != "" {
			out.Details = strings.Split(bad.Excerpt, "\n")
		}
	}
	return out
}

// sort puts the servers that a host starts here into its listing.
func (m *Machine) sort(l *listing, servers []hostfile.Server) {
	for _, s := range servers {
		elsewhere := s.Project != "" && s.Project != m.Env.Cwd && !strings.HasPrefix(m.Env.Cwd, strings.TrimRight(s.Project, "/")+"/")
		switch {
		case s.Disabled, elsewhere:
		case s.Heddle:
			l.heddle = append(l.heddle, s)
		default:
			l.others = append(l.others, s)
			if m.has(&s) {
				l.twice = append(l.twice, s)
			}
		}
	}
}

// has reports whether heddle runs a host's server.
func (m *Machine) has(s *hostfile.Server) bool { return m.Stands != nil && m.Stands(*s).Same }

// listed says how a host stands to heddle.
func (m *Machine) listed(l *listing) (out []Finding) {
	title := l.host.Title
	for _, s := range l.heddle {
		if f, bad := m.entry(&s); bad {
			out = append(out, f)
		}
	}
	switch {
	case len(l.heddle) == 0 && len(l.others) == 0:
	case len(l.heddle) == 0:
		out = append(out, Finding{Level: OK, Subject: l.host.Name, What: fmt.Sprintf("%s lists %s, and not heddle: %s", title, count(len(l.others), "server"), m.install(l.others[0].File))})
	case len(l.twice) > 0:
		f := Finding{Level: Warning, Subject: l.host.Name, Remedy: m.takeOut(l.twice)}
		f.What = fmt.Sprintf("%s lists %s that heddle has too: its model pays twice", title, count(len(l.twice), "server"))
		for _, s := range l.twice {
			f.Details = append(f.Details, fmt.Sprintf("%s, %s:%d", s.Name, s.File.Path, s.Line))
		}
		out = append(out, f)
	case len(out) == 0:
		what := title + " starts heddle"
		if n := len(l.others); n > 0 {
			what += " and " + count(n, "other server")
		}
		out = append(out, Finding{Level: OK, Subject: l.host.Name, What: what})
	}
	return out
}

// takeOut says how each of a host's servers gets out of its file: an install takes those
// of the file that it writes to, and none that the file has for one directory.
func (m *Machine) takeOut(servers []hostfile.Server) string {
	var order []string
	by := map[string][]string{}
	for _, s := range servers {
		how := m.install(s.File) + " takes out %s, and keeps the way back"
		switch {
		case s.Project != "":
			how = fmt.Sprintf("take out %%s by hand, in %s under projects, %s", s.File.Path, s.Project)
		case !s.File.Written():
			how = fmt.Sprintf("take out %%s by hand, in %s", s.File.Path)
		}
		if by[how] == nil {
			order = append(order, how)
		}
		by[how] = append(by[how], s.Name)
	}
	var out []string
	for _, how := range order {
		out = append(out, fmt.Sprintf(how, strings.Join(by[how], ", ")))
	}
	return strings.Join(out, "; ")
}

// install is the command that writes to a host's file, after the one that makes a
// configuration if there is none.
func (m *Machine) install(f hostfile.File) string {
	command := "`heddle install --host " + f.Host.Name
	if f.Scope != f.Host.Scopes()[0] {
		command += " --scope " + string(f.Scope)
	}
	command += "`"
	if m.Fileless {
		command = "`heddle init --from " + f.Host.Name + "`, then " + command
	}
	return command
}

// entry finds what is wrong with an entry that starts heddle.
func (m *Machine) entry(s *hostfile.Server) (Finding, bool) {
	f := Finding{Level: Problem, Subject: s.File.Host.Name, Remedy: m.install(s.File) + " writes it anew"}
	where := fmt.Sprintf("%s:%d", s.File.Path, s.Line)
	switch {
	case s.Command == "":
		return f, false
	case filepath.IsAbs(s.Command) && look(s.Command, "") == "":
		f.What = fmt.Sprintf("%s starts %s, which is not there (%s)", s.File.Host.Title, s.Command, where)
		return f, true
	case s.Command == base(s.Command) && m.WindowPath != "" && look(s.Command, m.WindowPath) == "":
		f.Level = Warning
		f.What = fmt.Sprintf("%s starts %s, which it finds only if it was started from a shell (%s)", s.File.Host.Title, s.Command, where)
		return f, true
	}
	path := flagOf(s.Args, "--config", "-c")
	if !filepath.IsAbs(path) {
		return f, false
	}
	if _, err := os.Stat(path); err != nil {
		f.What = fmt.Sprintf("%s starts heddle with %s, which is not there (%s)", s.File.Host.Title, path, where)
		return f, true
	}
	if why := m.unfit(path, flagOf(s.Args, "--profile")); why != "" {
		f.What = fmt.Sprintf("%s starts heddle with %s, which does not start: %s (%s)", s.File.Host.Title, path, why, where)
		f.Remedy = "correct it, or " + f.Remedy
		return f, true
	}
	return f, false
}

// unfit says why heddle does not start with a configuration and a profile, "" for none;
// "" if it does. Values are of no interest, so that no variable and no keyring is asked.
func (m *Machine) unfit(path, profile string) string {
	cfg, err := config.Load(path, config.Env{Home: m.Env.Home})
	var bad *config.ProblemsError
	switch {
	case errors.As(err, &bad):
		return bad.Problems[0].String()
	case err != nil:
		return err.Error()
	case profile == "":
		return ""
	}
	if _, err := cfg.WithProfile(profile); err != nil {
		return err.Error()
	}
	return ""
}

// flagOf returns the value of a flag, by any of its names.
func flagOf(args []string, names ...string) string {
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case !slices.Contains(names, name):
		case joined:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}

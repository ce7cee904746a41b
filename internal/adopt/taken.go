package adopt

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/config"
	"heddle/internal/hostfile"
)

// Taken returns how a configuration stands to servers of hosts: which of them it runs
// just so, so that their hosts need not. A server of the same name that starts something
// else is another one; so is what heddle cannot run or has turned off.
func Taken(cfg *config.Config, env config.Env, machine hostfile.Env) func(hostfile.Server) hostfile.Standing {
	t := &taken{cfg: cfg, env: env, machine: machine}
	return t.stand
}

type taken struct {
	cfg     *config.Config
	env     config.Env
	machine hostfile.Env
}

// stand compares a server with those of the configuration, first with those of its name.
func (t *taken) stand(s hostfile.Server) hostfile.Standing {
	forms, unclear := t.forms(s)
	var out hostfile.Standing
	named := false
	for _, byName := range []bool{true, false} {
		for i := range t.cfg.Servers {
			y := &t.cfg.Servers[i]
			if s.Called(y.Name, y.Original) != byName {
				continue
			}
			named = named || byName
			x := same(forms, y, byName)
			switch {
			case x == nil:
			case y.Disabled:
				out.Why = "it is disabled in " + t.cfg.Path
			case y.Unusable != "":
				out.Why = "heddle cannot run it: " + y.Unusable
			default:
				return hostfile.Standing{Same: true, Differs: slices.Concat(differs(s, x, y), t.looser(s, y))}
			}
		}
	}
	switch {
	case out.Why != "" || !named:
	case unclear != "":
		out.Why = "heddle has one of that name, and cannot tell whether it is the same: " + unclear
	default:
		out.Why = t.cfg.Path + " has another server of that name"
	}
	return out
}

// forms returns a server as heddle would run it: as it is written, and with the values of
// its references if they have any. Unclear says why they have none.
func (t *taken) forms(s hostfile.Server) (forms []config.Server, unclear string) {
	forms = []config.Server{{Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers, Cwd: s.Cwd}}
	if s.Unusable != "" {
		return forms, s.Unusable
	}
	dir := t.cfg.Dir
	switch {
	case s.Project != "":
		dir = s.Project
	case s.File.Scope == hostfile.Project:
		dir = t.machine.Cwd
	}
	part, err := config.Part(hostfile.Config([]hostfile.Decision{{Server: s, Name: "other"}}), filepath.Join(dir, "heddle.json"), t.env)
	switch {
	case err != nil:
		return forms, err.Error()
	case part.Servers[0].Unusable != "":
		return forms, part.Servers[0].Unusable
	}
	return append(forms, part.Servers[0]), ""
}

// same returns the form of a server that y starts too, nil if none is. Under one name
// what is started decides; under another all has to be the same, with which account too.
func same(forms []config.Server, y *config.Server, byName bool) *config.Server {
	for i := range forms {
		x := &forms[i]
		started := x.URL == y.URL && x.Command == y.Command && slices.Equal(x.Args, y.Args)
		if started && (byName || maps.Equal(x.Env, y.Env) && maps.Equal(x.Headers, y.Headers) && x.Cwd == y.Cwd) {
			return x
		}
	}
	return nil
}

// differs says what heddle gives a server in another way than its host does.
func differs(s hostfile.Server, x, y *config.Server) []string {
	var what []string
	for _, m := range []struct {
		noun string
		x, y map[string]string
	}{{"variables", x.Env, y.Env}, {"headers", x.Headers, y.Headers}} {
		var names []string
		for _, key := range sortedKeys(m.x) {
			if v, ok := m.y[key]; !ok || v != m.x[key] {
				names = append(names, key)
			}
		}
		if len(names) > 0 {
			what = append(what, m.noun+" "+strings.Join(names, ", "))
		}
	}
	if missing := slices.DeleteFunc(slices.Clone(s.Passthrough), func(v string) bool { return slices.Contains(y.EnvPassthrough, v) }); len(missing) > 0 {
		what = append(what, "env_passthrough "+strings.Join(missing, ", "))
	}
	if s.Cwd != "" && x.Cwd != y.Cwd {
		what = append(what, "the directory")
	}
	if what == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s is not quite as the host had it; heddle has other values for, or not: %s", s.Name, strings.Join(what, "; "))}
}

// looser says which tools the host kept from its model and heddle would not, and what
// makes heddle do the same.
func (t *taken) looser(s hostfile.Server, y *config.Server) []string {
	restrictions, err := s.Restrictions()
	if err != nil {
		return []string{fmt.Sprintf("%s: what its host's settings say against its tools is not known: %v", s.Name, err)}
	}
	deny, ask := slices.Clone(s.Deny), []string{}
	for _, r := range restrictions {
		if r.Ask {
			ask = append(ask, y.Name+"/"+r.Tool)
		} else {
			deny = append(deny, r.Tool)
		}
	}
	deny = slices.DeleteFunc(deny, func(tool string) bool { return t.denied(y, tool) })
	ask = slices.DeleteFunc(ask, func(p string) bool { return matches(t.cfg.Tools.Confirm, p) })
	var out []string
	say := func(where, key string, list []string, what string) {
		if len(list) > 0 {
			slices.Sort(list)
			out = append(out, fmt.Sprintf("%s: the host %s. For heddle to do the same, write in %s%s: tools: {%s: %s}", s.Name, what, t.cfg.Path, where, key, flow(slices.Compact(list))))
		}
	}
	under := " under servers, " + y.Name
	say(under, "deny", deny, "lets nobody call "+strings.Join(deny, ", "))
	if s.Allow != nil && (y.Tools.Allow == nil || slices.ContainsFunc(y.Tools.Allow, func(p string) bool { return !matches(s.Allow, p) })) {
		say(under, "allow", slices.Clone(s.Allow), "has only "+strings.Join(s.Allow, ", "))
	}
	say("", "confirm", ask, "asks before it calls "+strings.Join(ask, ", "))
	return out
}

// denied reports whether the configuration denies a tool of y, by a pattern that is
// easily seen to match.
func (t *taken) denied(y *config.Server, tool string) bool {
	lists := []config.Tools{t.cfg.Tools}
	if t.cfg.Profile != nil {
		lists = append(lists, t.cfg.Profile.Tools)
	}
	names := []string{y.Name + "/" + tool, y.Name + "_" + tool}
	for _, l := range lists {
		if slices.ContainsFunc(names, func(n string) bool { return matches(l.Deny, n) }) {
			return true
		}
	}
	return matches(y.Tools.Deny, tool) || y.Tools.Allow != nil && tool != "*" && !matches(y.Tools.Allow, tool)
}

// matches reports whether one of patterns is name, or means it.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return p == name || err == nil && ok
	})
}

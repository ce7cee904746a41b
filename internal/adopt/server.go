package adopt

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/config"
	"heddle/internal/hostfile"
)

// server is a server of the new file. Its texts are as heddle.yml has them.
type server struct {
	name string
	hostfile.Server
	denylist []string
}

// newServer copies what is changed later.
func newServer(d *hostfile.Decision, denylist []string) server {
	s := server{name: d.Name, Server: d.Server, denylist: denylist}
	s.Args, s.Env, s.Headers = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers)
	return s
}

// anchor writes in full what is relative to a project's directory, if the new file
// is not in there: heddle takes it as relative to the file.
func (s *server) anchor(env hostfile.Env, dir string) {
	from := ""
	switch {
	case s.Project != "":
		from = s.Project
	case s.File.Host.Name == "file":
		from = filepath.Dir(s.File.Path)
	case s.File.Scope == hostfile.Project:
		from = env.Cwd
	}
	if from == "" || from == dir || s.URL != "" {
		return
	}
	s.Cwd = under(from, s.Cwd)
	if strings.ContainsAny(s.Command, "/") {
		s.Command = under(from, s.Command)
	}
}

// under returns a path relative to dir in full. One that begins with a reference
// may be absolute.
func under(dir, path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "~") || strings.HasPrefix(path, "$") {
		return path
	}
	return filepath.Join(escape(dir), path)
}

// escape writes text so that heddle reads it as it is.
func escape(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// hide moves the server's secrets to the vault.
func (s *server) hide(v *vault) []Moved {
	var out []Moved
	move := func(field, name, written string, pieces []config.Piece) string {
		if pieces == nil {
			return written
		}
		var b strings.Builder
		for _, p := range pieces {
			if !p.Secret {
				b.WriteString(escape(p.Text))
				continue
			}
			variable := v.keep(s.name, name, p.Text)
			out = append(out, Moved{s.name, field, variable})
			b.WriteString("${" + variable + "}")
		}
		return b.String()
	}
	for _, key := range sortedKeys(s.Env) {
		s.Env[key] = move("env."+key, key, s.Env[key], config.SecretsUnder(key, s.Env[key]))
	}
	for _, key := range sortedKeys(s.Headers) {
		s.Headers[key] = move("headers."+key, s.name+"_"+key, s.Headers[key], config.SecretsUnder(key, s.Headers[key]))
	}
	s.URL = move("url", s.name+"_url_token", s.URL, config.SecretsOfURL(s.URL))
	for i, pieces := range config.SecretsOfArgs(s.Args) {
		s.Args[i] = move(argField(i), argName(s.name, s.Args, i, pieces), s.Args[i], pieces)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

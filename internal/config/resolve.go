package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxSecretFile bounds what a ${file:…} reference may name.
const maxSecretFile = 1 << 20

// resolver replaces references by their values, each looked up once a load.
type resolver struct {
	cfg     *Config
	env     Env
	dotenv  *dotenv
	files   files
	keyring map[string]answer
	masked  *masks
}

// answer is what the keyring said.
type answer struct {
	value string
	err   error
}

// resolve fills in the servers of cfg from their raw forms, and what follows
// from them: warnings, secrets and hashes.
func resolve(cfg *Config, servers []*rawServer, rep *report, env Env, files files) {
	r := &resolver{
		cfg: cfg, env: env, files: files, masked: &masks{}, keyring: map[string]answer{},
		dotenv: &dotenv{path: filepath.Join(cfg.Dir, ".env"), files: files},
	}
	review := reviewer{rep, env}
	for _, raw := range servers {
		s := r.server(raw)
		review.server(&s, raw)
		s.Hash = r.hash(&s)
		cfg.Servers = append(cfg.Servers, s)
	}
	cfg.Results.ExportDir = absolute(cfg.Results.ExportDir, cfg.Dir, env)
	cfg.Audit.Path = absolute(cfg.Audit.Path, cfg.Dir, env)
	if r.dotenv.state == dotenvRead {
		cfg.DotEnv = r.dotenv.path
	}
	rep.warnings = append(rep.warnings, r.dotenv.warnings...)
	cfg.secrets = r.masked.list()
}

// server returns raw resolved. A disabled server asks nobody for a secret; one
// that cannot be resolved keeps its texts as written.
func (r *resolver) server(raw *rawServer) Server {
	written := r.asWritten(raw)
	r.maskLiterals(raw)
	if written.Disabled || written.Unusable != "" {
		return written
	}
	var gaps gaps
	s := raw.Server
	if raw.url.at != nil {
		s.Cwd, s.Env = r.cfg.Dir, map[string]string{}
		r.remote(raw, &s, &gaps)
	} else {
		r.process(raw, &s, &gaps)
	}
	if gaps.none() {
		r.mask(&s)
		return s
	}
	written.Unusable = gaps.reason(r.dotenv)
	return written
}

// process resolves what a server with a command has.
func (r *resolver) process(raw *rawServer, s *Server, gaps *gaps) {
	s.Command = r.command(raw.command, gaps)
	for _, a := range raw.args {
		s.Args = append(s.Args, r.text(a, gaps))
	}
	s.Env = map[string]string{}
	for _, e := range raw.env {
		s.Env[e.key] = r.text(e.value, gaps)
	}
	s.Cwd = r.cwd(raw.cwd, gaps)
	if s.Command == "" && gaps.none() {
		gaps.add("its command is empty")
	}
}

// asWritten returns the server with its texts as the file has them.
func (r *resolver) asWritten(raw *rawServer) Server {
	s := raw.Server
	written := func(t text) string {
		if t.at == nil {
			return ""
		}
		return t.at.text
	}
	s.Command, s.Cwd = written(raw.command), r.cfg.Dir
	for _, a := range raw.args {
		s.Args = append(s.Args, written(a))
	}
	s.Env = map[string]string{}
	for _, e := range raw.env {
		s.Env[e.key] = written(e.value)
	}
	s.URL, s.CAFile = written(raw.url), written(raw.caFile)
	for _, h := range raw.headers {
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers[h.key] = written(h.value)
	}
	return s
}

// mask notes the values of s that must not be shown.
func (r *resolver) mask(s *Server) {
	for key, value := range s.Env {
		if NamesSecret(key) {
			r.masked.add(value)
		}
	}
	for key, value := range s.Headers {
		if NamesSecret(key) {
			r.masked.add(value)
			if _, token, ok := strings.Cut(value, " "); ok { // Bearer …
				r.masked.add(token)
			}
		}
	}
	for _, key := range s.EnvPassthrough {
		if value, ok := r.env.lookup(key); ok && NamesSecret(key) {
			r.masked.add(value)
		}
	}
}

// maskLiterals notes the secrets that stand in the file itself, whether or not
// the server can be used.
func (r *resolver) maskLiterals(raw *rawServer) {
	for _, t := range literalSecrets(raw) {
		for _, p := range t.pieces {
			if p.Secret {
				r.masked.add(p.Text)
			}
		}
	}
}

// command resolves the command. With a slash in it, it is a path relative to the
// file; without, it is looked up in PATH when the server starts.
func (r *resolver) command(t text, gaps *gaps) string {
	s := r.text(t, gaps)
	home := strings.HasPrefix(s, "~/")
	if s == "" || !home && !strings.ContainsAny(s, separators()) {
		return s
	}
	return absolute(s, r.cfg.Dir, r.env)
}

// separators are the characters that make a command a path.
func separators() string {
	if runtime.GOOS == "windows" {
		return `/\`
	}
	return "/"
}

func (r *resolver) cwd(t text, gaps *gaps) string {
	return absolute(r.text(t, gaps), r.cfg.Dir, r.env)
}

func (r *resolver) text(t text, gaps *gaps) string { return r.expand(t.parts, gaps) }

// expand returns t with its references replaced. Values are not expanded again.
func (r *resolver) expand(t template, gaps *gaps) string {
	var b strings.Builder
	for _, p := range t {
		if p.ref == nil {
			b.WriteString(p.literal)
			continue
		}
		v := r.value(p.ref, gaps)
		if strings.ContainsRune(v, 0) {
			gaps.add("a reference to " + p.ref.label() + " gives a NUL character")
		}
		b.WriteString(v)
	}
	return b.String()
}

// label names a reference without its value.
func (ref *reference) label() string {
	if ref.from == fromFile {
		return "a file"
	}
	return ref.name
}

func (r *resolver) value(ref *reference, gaps *gaps) string {
	switch ref.from {
	case fromFile:
		return r.file(ref, gaps)
	case fromKeyring:
		return r.secret(ref.name, gaps)
	case fromHost:
		return r.hostValue(ref.name, gaps)
	}
	value, set := r.variable(ref.name)
	switch {
	case value != "":
		if !harmless(ref.name) {
			r.masked.add(value)
		}
		return value
	case ref.fallback != nil:
		return r.expand(*ref.fallback, gaps)
	}
	gaps.variable(ref.name, set)
	return ""
}

// variable looks a name up in the environment, then in .env. A variable that is
// set but empty counts as missing: hosts with a settings window pass on every
// field that the user left blank.
func (r *resolver) variable(name string) (value string, set bool) {
	value, set = r.env.lookup(name)
	if value != "" {
		return value, true
	}
	fromFile, ok := r.dotenv.lookup(name)
	return fromFile, set || ok
}

// file returns the contents of the file that ref names.
func (r *resolver) file(ref *reference, gaps *gaps) string {
	before := gaps.count()
	name := r.expand(ref.path, gaps)
	if gaps.count() > before {
		return "" // The missing part is the reason, not the path without it.
	}
	if name == "" {
		gaps.add("a ${file:} names no file")
		return ""
	}
	path := absolute(name, r.cfg.Dir, r.env)
	data, err := r.files.read(path, maxSecretFile)
	if err != nil {
		gaps.add(fmt.Sprintf("the file %s cannot be read: %v", r.shown(ref, path), cause(err)))
		return ""
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if value == "" {
		gaps.add(fmt.Sprintf("the file %s is empty", r.shown(ref, path)))
	}
	r.masked.add(value)
	return value
}

// shown returns a path for messages: not where it was made from references,
// whose values are nobody's business.
func (r *resolver) shown(ref *reference, path string) string {
	if ref.path.hasRefs() {
		return "of a ${file:…} reference"
	}
	return path
}

// cause returns the reason of a file error without the path.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func (r *resolver) secret(name string, gaps *gaps) string {
	a, ok := r.keyring[name]
	if !ok {
		a.err = errNoKeyring
		if r.env.Keyring != nil {
			a.value, a.err = r.env.Keyring(name)
		}
		r.keyring[name] = a
	}
	switch {
	case a.err != nil:
		gaps.add(fmt.Sprintf("the keyring gives no %s (service %s): %v", name, keyringService, a.err))
	case a.value == "":
		gaps.add(fmt.Sprintf("the keyring's %s (service %s) is empty", name, keyringService))
	}
	r.masked.add(a.value)
	return a.value
}

// hostValue returns what only a host would know, where heddle knows it too.
func (r *resolver) hostValue(name string, gaps *gaps) string {
	switch {
	case name == "userHome" && r.env.Home != "":
		return r.env.Home
	case name == "pathSeparator" || name == "/":
		return string(filepath.Separator)
	}
	kind, _, _ := strings.Cut(name, ":")
	if kind == "input" {
		gaps.add("${" + name + "} is asked for by its host; put the value into a variable and write ${VAR}")
	} else {
		gaps.add("${" + name + "} is known to its host alone; write the value, or a variable as ${VAR}")
	}
	return ""
}

// hash digests everything that makes the session with s. A server that cannot be
// used has one too, so that it changes when it can.
func (r *resolver) hash(s *Server) string {
	passed := map[string]string{}
	for _, name := range s.EnvPassthrough {
		if v, ok := r.env.lookup(name); ok {
			passed[name] = v
		}
	}
	// Marshalling strings, numbers and maps of strings cannot fail.
	data, _ := json.Marshal(struct {
		Command            string
		Args               []string
		Env, Passed        map[string]string
		Cwd, Unusable      string
		Start, Call, Limit int64
		Concurrency        int
		Disabled           bool
		URL, Type, CAFile  string
		Headers            map[string]string
		Begin              string
		Idle               int64
	}{
		s.Command, s.Args, s.Env, passed, s.Cwd, s.Unusable,
		int64(s.StartTimeout), int64(s.Timeout), int64(s.MaxTimeout), s.MaxConcurrency, s.Disabled,
		s.URL, s.Type, s.CAFile, s.Headers, s.Start, int64(s.IdleStop),
	})
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// gaps collects why a server cannot be resolved.
type gaps struct{ unset, empty, others []string }

func (g *gaps) count() int { return len(g.unset) + len(g.empty) + len(g.others) }

func (g *gaps) none() bool { return g.count() == 0 }

func (g *gaps) add(reason string) { g.others = appendOnce(g.others, reason) }

func (g *gaps) variable(name string, set bool) {
	if set {
		g.empty = appendOnce(g.empty, name)
	} else {
		g.unset = appendOnce(g.unset, name)
	}
}

// reason says what is missing and what to do about it; "" if nothing is.
func (g *gaps) reason(dot *dotenv) string {
	var parts []string
	for _, name := range g.unset {
		parts = append(parts, name+" is not set")
	}
	for _, name := range g.empty {
		parts = append(parts, name+" is empty")
	}
	switch {
	case len(parts) == 0:
	case dot.state == dotenvOpen:
		parts = append(parts, dot.refusal)
	default:
		parts = append(parts, "set it in the environment or in "+dot.path)
	}
	return strings.Join(append(parts, g.others...), "; ")
}

func appendOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

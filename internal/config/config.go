// Package config owns the configuration: it finds heddle.yml, reads it and any
// host's own file strictly, resolves the references to secrets in it, and
// reports every violation at once with file, line and column.
//
// It never starts anything, never writes a file, and never puts the value of a
// reference, an argument or an environment entry into a problem, a warning or a
// printed form. It is the only package that reads the environment besides cli.
//
// Start at [Load]; heddle.go says what heddle.yml may hold, host.go what is
// taken from a host's file, refs.go what a reference looks like.
package config

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// Config is one configuration file, checked and resolved. It is immutable once
// loaded and may be shared.
type Config struct {
	// Path is the absolute path of the file and Dir its directory, to which
	// relative paths in it refer.
	Path, Dir string
	// Form is "heddle" for heddle.yml and "host" for a host's own file.
	Form    string
	Tools   Tools
	Guards  Guards
	Audit   Audit
	Results Results
	Catalog Catalog
	// Servers are in declaration order, disabled and unusable ones included.
	Servers []Server
	Restart Restart
	Breaker Breaker
	Ledger  Ledger
	// Profiles are the subsets that the file names, in its order. Profile is the one
	// that was chosen by [Config.WithProfile]; nil if none was.
	Profiles []Profile
	Profile  *Profile
	// Warnings are what a person should look at, but nothing that stops heddle.
	Warnings []Problem
	// DotEnv is the absolute path of the .env that was read; "" if none was.
	DotEnv string

	secrets []string
}

// Tools says which tools exist at all, and what their arguments may be.
type Tools struct {
	// Allow holds patterns. Nil means that all tools are allowed, a non-nil empty
	// list that none is.
	Allow []string
	// Deny holds patterns that win over Allow.
	Deny []string
	// Confirm holds patterns of tools that ask the user before each call, or
	// "destructive" for all that say so of themselves. It is nil for a single server.
	Confirm []string
	// Params holds rules by tool pattern, then by parameter name. It is nil for the
	// tools of a single server.
	Params map[string]map[string]ParamRule
}

// ParamRule is what the value of one parameter must satisfy.
type ParamRule struct {
	// MaxLength counts characters; nil is no limit.
	MaxLength *int
	// Pattern is an ECMAScript regular expression; "" matches everything.
	Pattern string
	// Required refuses a call without the parameter.
	Required bool
}

// Results says how results travel.
type Results struct {
	// ThresholdTokens is how many tokens a result may have to pass as it is.
	ThresholdTokens int
	// Memory is how many bytes captured results may take in memory, and TTL how long
	// one is safe after its last use.
	Memory int64
	TTL    time.Duration
	// SQLMemory is what the engine of a principal's datasets may use, in bytes, and
	// QueryTimeout how long one of its queries may take.
	SQLMemory    int64
	QueryTimeout time.Duration
	// ExportDir is the absolute path of the directory that exports are written to.
	ExportDir string
	// Mesh captures results in mesh mode too.
	Mesh bool
	// OutputSchema is "drop" or "keep".
	OutputSchema string
	// MaxFrame is the largest message, in bytes, that an upstream or a host may send.
	MaxFrame int64
}

// Catalog says how tools are named and what is remembered of them.
type Catalog struct {
	// Cache keeps the tools of servers between runs, so that a host sees them before
	// their servers have started.
	Cache bool
	// NameBudget is the longest exposed tool name, in bytes.
	NameBudget int
	// Lock is "off", "warn" or "enforce": what becomes of a tool whose definition is
	// not the one in heddle.lock.
	Lock string
}

// Restart says how often a server that ended is started again.
type Restart struct {
	// MaxAttempts is 0 for never.
	MaxAttempts int
	// BaseDelay is the wait before the first restart; later ones double it.
	BaseDelay time.Duration
}

// Breaker says when a failing server is left alone, and how long.
type Breaker struct {
	// Failures is how many in a row open the circuit.
	Failures int
	Cooldown time.Duration
}

// Ledger says how long rows are kept.
type Ledger struct{ Keep time.Duration }

// Server is one upstream server: a command or a URL. Command, Args, Env, Cwd, URL,
// Headers and CAFile have their references resolved, unless the server is Disabled
// or Unusable.
type Server struct {
	// Name is normalised to ^[a-z][a-z0-9_-]{0,31}$ and unique; Original is the name
	// as the file has it.
	Name, Original string
	Command        string
	Args           []string
	// Env is the server's own environment. EnvPassthrough names the variables that
	// it gets from heddle's.
	Env            map[string]string
	EnvPassthrough []string
	// Cwd is absolute; the directory of the file if none is given.
	Cwd string
	// URL is the server's, absolute and without a login; "" if a command starts it.
	URL string
	// Type is how the server at URL speaks: "http" for streamable HTTP, "sse" for the
	// older HTTP+SSE, "" to find out.
	Type string
	// Headers are sent with each request to URL, by canonical name.
	Headers map[string]string
	// CAFile is the absolute path of a file with certificates to trust besides the
	// system's; "" for none.
	CAFile string
	// Start is "lazy", "eager" or "" for what suits.
	Start string
	// IdleStop is how long a server may be without calls before it is stopped; 0 is
	// for ever.
	IdleStop time.Duration
	// StartTimeout bounds the start, Timeout a call, and MaxTimeout a call that
	// reports progress or waits for the user.
	StartTimeout, Timeout, MaxTimeout time.Duration
	// MaxConcurrency is how many calls may be under way at once.
	MaxConcurrency int
	Disabled       bool
	// Unusable says why the server cannot be used now and what to do; "" if it can.
	Unusable string
	// Tools holds the server's own allow and deny lists.
	Tools Tools
	// AllowPrivateHosts are hosts, addresses and ranges that arguments of this server's
	// tools may name although they are private.
	AllowPrivateHosts []string
	// ProvenanceDenylist names arguments whose values no dataset keeps.
	ProvenanceDenylist []string
	// Hash is a digest of everything that makes the server's session. A server whose
	// hash is unchanged keeps its session on a reload.
	Hash string
}

// String returns the configuration's path: its contents may hold secrets.
func (c Config) String() string { return "config " + c.Path }

// String returns the server's name: its environment, arguments and headers may
// hold secrets.
func (s Server) String() string { return "server " + s.Name }

// LogValue implements [slog.LogValuer] for the same reason.
func (s Server) LogValue() slog.Value { return slog.StringValue(s.Name) }

// Secrets returns every resolved reference value and every value of an
// environment entry whose key looks secret, longest first, for masking. Values
// under six bytes are left out: they would mask ordinary text. The result must
// never be printed.
func (c *Config) Secrets() []string { return append([]string(nil), c.secrets...) }

// maxFile bounds what is read; hosts keep their whole state in such files.
const maxFile = 32 << 20

// Load reads, checks and resolves the file at path. A file that breaks the rules
// gives a [*ProblemsError] that lists all violations; one that cannot be read
// gives the error of the file system.
func Load(path string, env Env) (*Config, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err)
	}
	data, err := osFiles{}.read(abs, maxFile)
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err)
	}
	return load(data, abs, env, osFiles{})
}

// Decode is [Load] without the file system: data is what the file at path holds.
// No .env is read, and a ${file:…} reference makes its server unusable.
func Decode(data []byte, path string, env Env) (*Config, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("decode configuration: %w", err)
	}
	return load(data, abs, env, noFiles{})
}

// load parses data by its form, decodes it, and resolves what it refers to. The
// references are resolved only once everything else is right, so that a broken
// file never opens the keyring.
func load(data []byte, path string, env Env, files files) (*Config, error) {
	rep := &report{file: path}
	cfg := defaults(path)
	var servers []*rawServer
	root, form := syntax{rep}.parse(data)
	if root != nil {
		if cfg.Form = form; form == formHost {
			servers = hostDecoder{serverDecoder{values{rep}, true}, cfg}.hostFile(root)
		} else {
			d := heddleDecoder{serverDecoder: serverDecoder{values: values{rep}}, cfg: cfg}
			d.heddleFile(root)
			servers = d.raw
		}
	}
	if len(rep.problems) > 0 {
		sortProblems(rep.problems)
		return nil, &ProblemsError{File: path, Problems: rep.problems}
	}
	resolve(cfg, servers, rep, env, files)
	cfg.Warnings = rep.warnings
	sortProblems(cfg.Warnings)
	return cfg, nil
}

// The values of Config.Form.
const (
	formHeddle = "heddle"
	formHost   = "host"
)

// defaults returns a configuration without servers.
func defaults(path string) *Config {
	return &Config{
		Path: path, Dir: filepath.Dir(path), Form: formHeddle,
		Results: Results{ThresholdTokens: 2000, Memory: 256 << 20, TTL: time.Hour, SQLMemory: 512 << 20, QueryTimeout: 30 * time.Second, ExportDir: "exports", OutputSchema: "drop", MaxFrame: 64 << 20},
		Catalog: Catalog{NameBudget: 51, Cache: true, Lock: "off"},
		Guards:  Guards{Secrets: "off"},
		Audit:   Audit{Output: "none", Path: "heddle-audit.log", MaxSize: 10_000_000, MaxFiles: 5},
		Restart: Restart{MaxAttempts: 5, BaseDelay: time.Second},
		Breaker: Breaker{Failures: 3, Cooldown: 30 * time.Second},
		Ledger:  Ledger{Keep: 90 * day},
	}
}

// files is what loading needs of the file system.
type files interface {
	// read returns the contents of a regular file of at most limit bytes.
	read(path string, limit int64) ([]byte, error)
	// stat follows links.
	stat(path string) (fs.FileInfo, error)
}

// osFiles is the real file system.
type osFiles struct{}

func (osFiles) stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

func (osFiles) read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errDirectory}
	case info.Size() > limit:
		return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	case info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeSocket) != 0:
		// Opening a pipe that nobody writes to would hang the start.
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	return os.ReadFile(path)
}

// noFiles is a file system that refuses everything.
type noFiles struct{}

func (noFiles) stat(path string) (fs.FileInfo, error) {
	return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
}

func (noFiles) read(path string, _ int64) ([]byte, error) {
	return nil, &fs.PathError{Op: "read", Path: path, Err: errNoFiles}
}

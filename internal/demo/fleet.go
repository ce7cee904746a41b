package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"heddle/internal/config"
	"heddle/internal/upstream"
	"heddle/internal/wire"
)

//go:embed servers/*.json demo.yml
var embedded embed.FS

// patience is how long a call may take at any of the servers but cloud, which
// the demo sees fail and should not be waited for. A minute is far more than
// the slow tool needs.
const (
	patience      = time.Minute
	cloudPatience = 500 * time.Millisecond
)

// fleet is a set of the six servers with a state of its own.
type fleet struct {
	servers  []*server
	cloud    *server
	database *database
	results  results
}

// newFleet returns servers that do nothing until they are connected to.
func newFleet() (*fleet, error) {
	f := &fleet{database: newDatabase()}
	for _, each := range []struct {
		name  string
		tools map[string]tool
	}{
		{"source", newSource().tools()},
		{"database", f.database.tools()},
		{"chat", newChat().tools()},
		{"payments", newPayments().tools()},
		{"cloud", newCloud().tools()},
		{"files", newFiles().tools()},
	} {
		s := &server{tools: each.tools, results: &f.results}
		s.Name, s.Run = each.name, s.run
		if err := s.load(); err != nil {
			return nil, err
		}
		if s.Name == "cloud" {
			f.cloud, s.timeout = s, cloudPatience
		}
		f.servers = append(f.servers, s)
	}
	return f, nil
}

// load reads the server's definitions. A tool without a handler, or the other
// way round, is a mistake of this package.
func (s *server) load() error {
	raw, err := embedded.ReadFile("servers/" + s.Name + ".json")
	if err != nil {
		return err
	}
	var line bytes.Buffer // servers send their definitions without white space
	if err := json.Compact(&line, raw); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	s.Instructions, _ = wire.Unquote(wire.Member(line.Bytes(), "instructions"))
	s.Definitions = wire.Member(line.Bytes(), "tools")
	list, err := wire.Elements(s.Definitions)
	if err != nil {
		return fmt.Errorf("%s: tools: %w", s.Name, err)
	}
	for _, d := range list {
		if name, _ := wire.Unquote(wire.Member(d, "name")); s.tools[name] == nil {
			return fmt.Errorf("%s: tool %q does nothing", s.Name, name)
		}
	}
	if len(list) != len(s.tools) {
		return fmt.Errorf("%s: %d definitions, %d tools", s.Name, len(list), len(s.tools))
	}
	return nil
}

// upstreams are the configurations under which a daemon runs the servers.
func (f *fleet) upstreams() []upstream.Config {
	var out []upstream.Config
	for _, s := range f.servers {
		timeout := patience
		if s.timeout > 0 {
			timeout = s.timeout
		}
		out = append(out, upstream.Config{
			Name: s.Name, Connect: s.Connect, Hash: "demo/" + s.Name,
			StartTimeout: 10 * time.Second, Timeout: timeout, MaxTimeout: patience, MaxConcurrency: 16,
		})
	}
	return out
}

// configuration is demo.yml. No variable, keyring or file is looked at.
func configuration() (*config.Config, error) {
	raw, err := embedded.ReadFile("demo.yml")
	if err != nil {
		return nil, err
	}
	return config.Decode(raw, "demo.yml", config.Env{})
}

// results keeps the result of every call as its server wrote it.
type results struct {
	mu   sync.Mutex
	keep bool
	list []ServerResult
}

// ServerResult is one result object as a server wrote it.
type ServerResult struct {
	Server string
	Raw    json.RawMessage
}

func (r *results) add(server string, raw json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keep {
		r.list = append(r.list, ServerResult{server, raw})
	}
}

// since returns what came after the first n.
func (r *results) since(n int) []ServerResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]ServerResult(nil), r.list[n:]...)
}

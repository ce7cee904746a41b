package cli

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/hostfile"

	"github.com/spf13/cobra"
)

// federated stands in for the path of a configuration that is none, and in the
// chain of heddles for one that federates: another below it would find the same
// files and start the same servers.
const federated = "--federate"

// federateFlag adds the flag to a command that uses [app.load].
func (a *app) federateFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.federate, "federate", false, "add the servers of every host's file on this machine")
}

// federation is what the files of hosts have. They are read once: a host may be
// writing its file whenever the configuration is read again.
type federation struct {
	decisions []hostfile.Decision
	parts     []*config.Config // of each decision; nil if its server is left out
}

// loadFederated reads the configuration, if there is one, and adds what hosts'
// files have. It tells what it did with each of their servers.
func (a *app) loadFederated() (*config.Config, error) {
	base, err := a.federatedBase()
	if err != nil {
		return nil, err
	}
	if a.federation == nil {
		if a.federation, err = a.readHosts(); err != nil {
			return nil, err
		}
	}
	cfg, decisions := a.federation.join(base)
	for _, d := range decisions {
		fmt.Fprintf(a.err, "heddle: federate: %s\n", plain(d.String()))
	}
	return cfg, nil
}

// federatedBase is the configuration that servers are added to: an empty one, if
// there is none and none was asked for.
func (a *app) federatedBase() (*config.Config, error) {
	cfg, err := a.loadFile()
	var missing *config.NotFoundError
	if errors.As(err, &missing) && missing.Asked == "" {
		return config.Part([]byte("version: 2\n"), federated, a.env)
	}
	return cfg, err
}

// fileless reports whether a configuration is no file's, but what hosts' files have.
func (a *app) fileless(cfg *config.Config) bool {
	return a.federate && filepath.Base(cfg.Path) == federated
}

// readHosts reads and merges the files of all hosts. One that cannot be read is
// said: it is not empty.
func (a *app) readHosts() (*federation, error) {
	env, err := a.hostEnv()
	if err != nil {
		return nil, &usageError{err, ""}
	}
	files := hostfile.Find(env)
	if len(files) == 0 {
		fmt.Fprintln(a.err, "heddle: federate: no host has a file here")
	}
	own := a.ownAddresses()
	var servers []hostfile.Server
	for _, f := range files {
		found, err := hostfile.Read(f)
		if err != nil {
			fmt.Fprintf(a.err, "heddle: warning: %v: the servers of %s are left out\n", err, f.Host.Title)
			continue
		}
		for _, s := range found {
			s.Heddle = s.Heddle || own[address(s.URL)]
			servers = append(servers, s)
		}
	}
	out := &federation{decisions: hostfile.Merge(env, servers)}
	for i := range out.decisions {
		out.parts = append(out.parts, a.part(&out.decisions[i]))
	}
	return out, nil
}

func (a *app) hostEnv() (hostfile.Env, error) {
	return hostfile.SystemEnv(func(name string) string { v, _ := a.env.Lookup(name); return v })
}

// part returns a decision's server as a configuration of its own, so that what is
// wrong with one is no harm to the others. A server that it refuses is skipped.
func (a *app) part(d *hostfile.Decision) *config.Config {
	if d.Name == "" {
		return nil
	}
	cfg, err := config.Part(hostfile.Config([]hostfile.Decision{*d}), federated, a.env)
	if err != nil {
		d.Verdict, d.Name, d.Reason = hostfile.Skipped, "", err.Error()
		var bad *config.ProblemsError
		if errors.As(err, &bad) { // its places are in a text that nobody has seen
			d.Reason = strings.TrimPrefix(bad.Problems[0].Field+" ", " ") + bad.Problems[0].Message
		}
		return nil
	}
	for i, w := range cfg.Warnings {
		if w.Path == cfg.Path {
			cfg.Warnings[i].Path, cfg.Warnings[i].Line, cfg.Warnings[i].Column = d.Server.File.Path, d.Server.Line, d.Server.Column
		}
	}
	return cfg
}

// join adds the servers to a configuration, whose own win.
func (f *federation) join(base *config.Config) (*config.Config, []hostfile.Decision) {
	decisions := slices.Clone(f.decisions)
	var parts []*config.Config
	for i, p := range f.parts {
		if p == nil {
			continue
		}
		d := &decisions[i]
		if why := rival(base, d, &p.Servers[0]); why != "" {
			d.Verdict, d.Name, d.Reason = hostfile.Dropped, "", why
			continue
		}
		parts = append(parts, p)
	}
	return base.With(parts...), decisions
}

// rival says which server of base stands in for s; "" if none does.
func rival(base *config.Config, d *hostfile.Decision, s *config.Server) string {
	for i := range base.Servers {
		b := &base.Servers[i]
		switch {
		case b.Name == d.Name, b.Name == d.Server.Name, b.Original == d.Server.Name:
			return base.Path + " has a server of that name"
		case s.URL == b.URL && s.Command == b.Command && slices.Equal(s.Args, b.Args) && maps.Equal(s.Env, b.Env) && maps.Equal(s.Headers, b.Headers):
			return fmt.Sprintf("%s has the same as %s", base.Path, b.Name)
		}
	}
	return ""
}

// ownAddresses are where this heddle will listen and others do. A server of a host
// at one of them is heddle itself, whatever it is called.
func (a *app) ownAddresses() map[string]bool {
	out := map[string]bool{}
	if a.listen != "" {
		out[address("http://"+a.listen)] = true
	}
	states, _ := daemon.ReadStates(a.stateDir()) // without any, nobody is known to listen
	for _, s := range states {
		if s.Listen != "" {
			out[address(s.Listen)] = true
		}
	}
	delete(out, "") // which is the address of every server without a URL
	return out
}

// address returns host and port of a URL in one spelling for this machine; "" if it
// has no port.
func address(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Port() == "" {
		return ""
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified()) || strings.EqualFold(host, "localhost") {
		host = "localhost"
	}
	return net.JoinHostPort(host, u.Port())
}

// refuseLoop fails if this heddle was started, at whatever distance, by one that
// serves the same.
func (a *app) refuseLoop(cfg *config.Config) error {
	chain, _ := a.env.Lookup(daemon.ChainVar)
	switch {
	case a.federate && (daemon.InChain(chain, federated) || slices.ContainsFunc(heddlesAbove(), federates)):
		return &usageError{errors.New("--federate would start itself without end: this heddle was started by one that has --federate too"),
			"remove heddle, or the script that starts it, from the files of your hosts"}
	case daemon.InChain(chain, cfg.Path):
		return &usageError{fmt.Errorf("%s would start itself without end: this heddle was started by a heddle with the same configuration", cfg.Path),
			"remove heddle from the servers of that file"}
	}
	return nil
}

// federates reports whether a heddle was started with --federate. A script may have
// cleared the environment, which says so else.
func federates(line []string) bool { return slices.Contains(line, federated) }

// environ are the variables that servers are given of: ours, and with --federate
// one that tells so to any heddle among them.
func (a *app) environ() []string {
	out := os.Environ()
	if !a.federate {
		return out
	}
	link := daemon.ChainVar + "=" + federated
	for i, kv := range out {
		if strings.HasPrefix(kv, daemon.ChainVar+"=") {
			out[i] = kv + "\n" + federated
			return out
		}
	}
	return append(out, link)
}

// loadFile finds and reads the configuration.
func (a *app) loadFile() (*config.Config, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	path, err := config.Find(a.config, dir, a.env)
	if err != nil {
		return nil, err
	}
	return config.Load(path, a.env)
}

// again reads the file of a configuration anew.
func (a *app) again(path string) (*config.Config, error) {
	if a.federation == nil {
		return config.Load(path, a.env)
	}
	base, err := a.federatedBase()
	if err != nil {
		return nil, err
	}
	cfg, _ := a.federation.join(base)
	return cfg, nil
}

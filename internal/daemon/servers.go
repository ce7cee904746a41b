package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"heddle"
	"heddle/internal/config"
	"heddle/internal/dial"
	"heddle/internal/policy"
	"heddle/internal/policy/ssrf"
	"heddle/internal/upstream"
	"heddle/internal/upstream/streamable"
)

// policyConfig is the part of a configuration that the policy needs.
func policyConfig(c *config.Config, r ssrf.Resolver) policy.Config {
	out := policy.Config{
		Allow: c.Tools.Allow, Deny: c.Tools.Deny, Confirm: c.Tools.Confirm, Secrets: c.Guards.Secrets,
		Servers: map[string]policy.ServerRules{}, Params: map[string]map[string]policy.ParamRule{},
		RateLimit: policy.RateLimit{Default: c.Guards.RateLimit.Default},
	}
	for _, s := range c.Servers {
		out.Servers[s.Name] = policy.ServerRules{Allow: s.Tools.Allow, Deny: s.Tools.Deny, AllowPrivateHosts: s.AllowPrivateHosts}
	}
	for _, t := range c.Guards.RateLimit.PerTool {
		out.RateLimit.PerTool = append(out.RateLimit.PerTool, policy.ToolRate(t))
	}
	if s := c.Guards.SSRF; s != nil {
		out.SSRF = policy.SSRF{
			Mode: s.Mode, BlockPrivateIPs: s.BlockPrivateIPs, AllowDomains: s.AllowDomains, BlockDomains: s.BlockDomains,
			AllowPrivateHosts: s.AllowPrivateHosts, Resolver: r,
		}
	}
	if i := c.Guards.Injection; i != nil {
		out.Injection = (*policy.Injection)(i)
	}
	if c.Profile != nil {
		out.Profile = policy.ServerRules{Allow: c.Profile.Tools.Allow, Deny: c.Profile.Tools.Deny}
	}
	for tool, params := range c.Tools.Params {
		rules := map[string]policy.ParamRule{}
		for name, r := range params {
			rules[name] = policy.ParamRule{MaxLength: r.MaxLength, Pattern: r.Pattern, Required: r.Required}
		}
		out.Params[tool] = rules
	}
	return out
}

// upstreams is the part of a configuration that the servers need.
func (d *Daemon) upstreams(c *config.Config) []upstream.Config {
	var out []upstream.Config
	for _, s := range c.Servers {
		u := upstream.Config{
			Name: s.Name, Command: s.Command, Args: s.Args, Env: childEnv(d.o.Environ(), &s, c.Path), Dir: s.Cwd,
			StartTimeout: s.StartTimeout, Timeout: s.Timeout, MaxTimeout: s.MaxTimeout, MaxConcurrency: s.MaxConcurrency,
			IdleStop: s.IdleStop, Lazy: s.Start != "eager" && !d.o.Eager, Unusable: s.Unusable,
		}
		if u.Off = s.Disabled; u.Off && u.Unusable == "" {
			u.Unusable = "disabled in the configuration"
		}
		if s.URL != "" && u.Unusable == "" {
			u.Open, u.Unusable = d.overHTTP(&s, int(c.Results.MaxFrame))
		}
		if c.Catalog.Cache {
			u.Cache = identity(d.o.Environ(), &s)
			if u.Lazy {
				u.Known = d.cache().load(u.Cache)
			}
		}
		out = append(out, common(u, c, s.Hash))
	}
	for _, u := range d.o.InProcess {
		out = append(out, common(u, c, u.Hash))
	}
	return out
}

// overHTTP returns what connects to a server with a URL, or says why nothing
// can.
func (d *Daemon) overHTTP(s *config.Server, maxFrame int) (open opener, unusable string) {
	header := http.Header{}
	for k, v := range s.Headers {
		header.Set(k, v)
	}
	client, err := dial.Client(dial.Options{
		CAFile: s.CAFile, CASource: "servers." + s.Name + ".ca_file", Environ: lookup(d.o.Environ()),
		Credentials: slices.Collect(maps.Keys(header)),
	})
	if err != nil {
		return nil, err.Error()
	}
	url, kind := s.URL, s.Type
	return func(ctx context.Context, failed func(json.RawMessage, error)) (upstream.Link, error) {
		link, err := streamable.Open(ctx, streamable.Config{
			URL: url, Kind: kind, Header: header, Client: client, MaxFrame: maxFrame, Version: heddle.Version, Failed: failed,
		})
		if err != nil {
			return nil, err
		}
		return hangUp{link, client}, nil
	}, ""
}

type opener = func(context.Context, func(json.RawMessage, error)) (upstream.Link, error)

// hangUp also closes the connections that a link leaves behind.
type hangUp struct {
	*streamable.Link
	client *http.Client
}

// Close implements [io.Closer].
func (h hangUp) Close() error {
	defer h.client.CloseIdleConnections()
	return h.Link.Close()
}

// lookup returns what finds a variable in an environment.
func lookup(environ []string) func(string) string {
	return func(name string) string {
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
}

// common adds what all servers of a configuration share.
func common(u upstream.Config, c *config.Config, hash string) upstream.Config {
	u.MaxFrame = int(c.Results.MaxFrame)
	u.MaxAttempts, u.BaseDelay = c.Restart.MaxAttempts, c.Restart.BaseDelay
	u.Failures, u.Cooldown = c.Breaker.Failures, c.Breaker.Cooldown
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%v|%v|%v|%d|%v|%v|%d|%v|%v|%v|%s", hash, u.StartTimeout, u.Timeout, u.MaxTimeout, u.MaxConcurrency, u.MaxFrame, u.MaxAttempts, u.Failures, u.Cooldown, u.Lazy, u.IdleStop, u.Unusable))
	u.Hash = hex.EncodeToString(sum[:])
	return u
}

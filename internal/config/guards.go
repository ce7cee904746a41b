package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"heddle/internal/policy/limit"
	"heddle/internal/policy/ssrf"
)

// Guards are the checks of what calls carry up and down. One that the file does
// not have is off.
type Guards struct {
	SSRF      *SSRF
	RateLimit RateLimit
	Injection *Injection
	// Secrets is "off", "warn" or "mask": what becomes of secrets in results.
	Secrets string
}

// SSRF says which addresses arguments may name. Where it is nil, only metadata
// services of clouds are refused.
type SSRF struct {
	// Mode is "block", "log" or "off".
	Mode            string
	BlockPrivateIPs bool
	// AllowDomains, if there are any, are the only ones. BlockDomains are never
	// reached, and AllowPrivateHosts may be although they are private.
	AllowDomains, BlockDomains, AllowPrivateHosts []string
}

// RateLimit says how often tools may be called.
type RateLimit struct {
	// Default is for each tool that no pattern is about; its zero value is no limit.
	Default limit.Rate
	// PerTool are in the order of the file.
	PerTool []ToolRate
}

// ToolRate is how often each tool of a pattern may be called; a zero Rate is no
// limit.
type ToolRate struct {
	Pattern string
	Rate    limit.Rate
}

// Injection says what becomes of texts that look like instructions to the model, or
// to a shell, a database or a file system.
type Injection struct {
	// Sensitivity is "low", "medium" or "high".
	Sensitivity string
	// Mode is "block" or "log": what becomes of a call with such arguments.
	Mode string
	// Results is "warn", "block" or "off": what becomes of such a result.
	Results string
}

// Audit says where a line a call goes.
type Audit struct {
	// Output is "none", "file" or "stderr".
	Output string
	// Path is the absolute path of the file.
	Path string
	// MaxSize is how many bytes a file may have, MaxFiles how many older ones are kept.
	MaxSize  int64
	MaxFiles int
}

func (d *heddleDecoder) ssrf(n *node, path string) {
	s := &SSRF{Mode: "block", BlockPrivateIPs: true}
	d.section(n, path, keys{
		"mode":                func(n *node, path string) { d.oneOf(n, path, &s.Mode, "block", "log", "off") },
		"block_private_ips":   func(n *node, path string) { d.boolean(n, path, &s.BlockPrivateIPs) },
		"allow_domains":       d.hosts(&s.AllowDomains, domain),
		"block_domains":       d.hosts(&s.BlockDomains, domain),
		"allow_private_hosts": d.hosts(&s.AllowPrivateHosts, privateHost),
	})
	d.cfg.Guards.SSRF = s
}

// privateHost and domain check an entry of a list of hosts.
func privateHost(text string) error {
	_, err := ssrf.Hosts([]string{text})
	return err
}

func domain(text string) error {
	_, err := ssrf.New(ssrf.Config{BlockDomains: []string{text}, Resolver: &net.Resolver{}}) // which it does not ask
	return errors.Unwrap(err)
}

// hosts reads a list of hosts, addresses and ranges.
func (d values) hosts(into *[]string, check func(string) error) func(*node, string) {
	return func(n *node, path string) {
		if n.kind == kindNull {
			d.problem(n, path, "has no value; write [] for none, or remove the key")
			return
		}
		joined := *n
		joined.items = slices.Clone(n.items)
		for i, item := range n.items {
			joined.items[i] = hostAndPort(item)
		}
		for i, item := range d.strings(&joined, path) {
			if err := check(item.text); err != nil {
				d.problem(item, indexed(path, i), "%v", err)
				continue
			}
			*into = append(*into, item.text)
		}
	}
}

// hostAndPort undoes what YAML's parser makes of nas.lan:5000 in brackets: a mapping.
func hostAndPort(n *node) *node {
	if n.kind != kindMap || len(n.fields) != 1 || n.fields[0].value.kind != kindNumber {
		return n
	}
	text := *n
	text.kind, text.text, text.fields = kindString, n.fields[0].key+":"+n.fields[0].value.text, nil
	return &text
}

func (d *heddleDecoder) rateLimit(n *node, path string) {
	r := &d.cfg.Guards.RateLimit
	d.section(n, path, keys{
		"default": func(n *node, path string) { r.Default = d.rate(n, path) },
		"per_tool": func(n *node, path string) {
			for _, f := range d.fields(n, path) {
				at := join(path, f.key)
				d.pattern(f.at(), at, f.key)
				r.PerTool = append(r.PerTool, ToolRate{f.key, d.rate(f.value, at)})
			}
		},
		"per_client": func(n *node, path string) {
			d.problem(n, path, "not in this build: each host has its own count already, and hosts have no names yet that a rule could be about")
		},
	})
}

// rate reads how often: "60/min", 60, or {requests: 60, per: 1m, burst: 10}.
func (d values) rate(n *node, path string) limit.Rate {
	if n.kind == kindNull {
		d.problem(n, path, "has no value; write none for no limit, or remove the key")
		return limit.Rate{}
	}
	r, _, err := limit.Parse(plainValueOf(n))
	if err != nil {
		d.problem(n, path, "%v", err)
	}
	return r
}

// plainValueOf returns a scalar as its text, a number as one, and a mapping of
// scalars as a map.
func plainValueOf(n *node) any {
	switch n.kind {
	case kindNumber:
		var v float64
		if _, err := fmt.Sscan(n.text, &v); err == nil {
			return v
		}
	case kindMap:
		m := map[string]any{}
		for _, f := range n.fields {
			m[f.key] = plainValueOf(f.value)
		}
		return m
	case kindList:
		return []any{}
	case kindBool:
		return strings.EqualFold(n.text, "true")
	}
	return n.text
}

func (d *heddleDecoder) injection(n *node, path string) {
	enabled := true
	i := &Injection{Sensitivity: "medium", Mode: "block", Results: "warn"}
	d.section(n, path, keys{
		"enabled":     func(n *node, path string) { d.boolean(n, path, &enabled) },
		"sensitivity": func(n *node, path string) { d.oneOf(n, path, &i.Sensitivity, "low", "medium", "high") },
		"mode":        func(n *node, path string) { d.oneOf(n, path, &i.Mode, "block", "log") },
		"results":     func(n *node, path string) { d.oneOf(n, path, &i.Results, "warn", "block", "off") },
	})
	if enabled {
		d.cfg.Guards.Injection = i
	}
}

func (d *heddleDecoder) secrets(n *node, path string) {
	d.section(n, path, keys{
		"results": func(n *node, path string) { d.oneOf(n, path, &d.cfg.Guards.Secrets, "off", "warn", "mask") },
	})
}

func (d *heddleDecoder) audit(n *node, path string) {
	a := &d.cfg.Audit
	d.section(n, path, keys{
		"output":   func(n *node, path string) { d.oneOf(n, path, &a.Output, "none", "file", "stderr") },
		"filePath": func(n *node, path string) { d.file(n, path, "a file", &a.Path) },
		"maxSize":  func(n *node, path string) { d.size(n, path, &a.MaxSize, 1<<10, 1<<40) },
		"maxFiles": func(n *node, path string) { d.integer(n, path, &a.MaxFiles, 1, 1000) },
	})
}

package config

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// refusals say what to do about keys of other formats.
var refusals = map[string]string{
	"mode":       "the mode belongs to the host's command line; remove this key and start with: heddle start --mode compact",
	"compressor": "this section is of an older format; remove it and choose how tools are shown on the host's command line: heddle start --mode compact",
	"mcpServers": "is a key of hosts' JSON files; here the key is \"servers\"",
}

// heddleDecoder reads heddle.yml into cfg, and its servers into raw.
type heddleDecoder struct {
	serverDecoder
	cfg *Config
	raw []*rawServer
	// named are the servers that profiles name.
	named []text
}

// heddleFile reads the whole file.
func (d *heddleDecoder) heddleFile(root *node) {
	if root.kind != kindMap {
		d.problem(root, "", "must be a mapping that begins with \"version: 2\", not %s", root.kind)
		return
	}
	if root.get("version") == nil {
		d.problem(&node{line: 1, col: 1}, "version", "is missing; write \"version: 2\" at the top")
	}
	for _, f := range root.fields {
		if why, ok := refusals[f.key]; ok {
			d.problem(f.at(), f.key, "%s", why)
		}
	}
	refused := func(*node, string) {}
	d.section(root, "", keys{
		"version":  d.version,
		"tools":    d.tools,
		"results":  d.results,
		"catalog":  d.catalog,
		"servers":  d.servers,
		"restart":  d.restart,
		"breaker":  d.breaker,
		"ledger":   d.ledger,
		"profiles": d.profiles,

		"ssrf":                d.ssrf,
		"rate_limit":          d.rateLimit,
		"injection_detection": d.injection,
		"secrets":             d.secrets,
		"audit":               d.audit,

		"mode":       refused,
		"compressor": refused,
		"mcpServers": refused,
	})
	d.knownServers()
}

func (d *heddleDecoder) version(n *node, path string) {
	switch {
	case n.kind == kindNumber && n.text == "2":
	case n.kind == kindNumber && n.text == "1":
		d.problem(n, path, "version 1 is an older format; write \"version: 2\", remove the compressor section, and choose the mode on the host's command line (heddle start --mode)")
	case n.kind == kindString && n.text == "2":
		d.problem(n, path, "must be the number 2, without quotes")
	case n.kind == kindNumber:
		d.problem(n, path, "version %s is not known to this build; it reads version 2", n.text)
	default:
		d.problem(n, path, "must be the number 2")
	}
}

// tools reads the tools section of the file.
func (d *heddleDecoder) tools(n *node, path string) {
	t := &d.cfg.Tools
	d.section(n, path, keys{
		"allow":   d.patterns(&t.Allow),
		"deny":    d.patterns(&t.Deny),
		"confirm": d.patterns(&t.Confirm),
		"params":  d.params,
	})
}

// serverTools reads the tools section of one server.
func (d values) serverTools(t *Tools) func(*node, string) {
	return func(n *node, path string) {
		d.section(n, path, keys{
			"allow": d.patterns(&t.Allow),
			"deny":  d.patterns(&t.Deny),
			"params": func(n *node, path string) {
				d.problem(n, path, "parameter rules stand in the tools section of the file, not in that of a server")
			},
			"confirm": func(n *node, path string) {
				d.problem(n, path, "stands in the tools section of the file, not in that of a server; write it there as \"server/tool\"")
			},
		})
	}
}

// patterns reads a list of patterns. An empty value is refused: it could mean
// that all tools are allowed, or none.
func (d values) patterns(into *[]string) func(*node, string) {
	return func(n *node, at string) {
		if n.kind == kindNull {
			d.problem(n, at, "has no value; write [] for none, or remove the key")
			return
		}
		list := make([]string, 0, len(n.items))
		for i, item := range d.strings(n, at) {
			d.pattern(item, fmt.Sprintf("%s[%d]", at, i), item.text)
			list = append(list, item.text)
		}
		*into = list
	}
}

// pattern checks a tool pattern as path.Match reads it.
func (d values) pattern(at *node, field, pattern string) {
	if pattern == "" {
		d.problem(at, field, "an empty pattern matches nothing")
		return
	}
	if _, err := path.Match(pattern, ""); err != nil {
		d.problem(at, field, "%q is not a valid pattern", pattern)
		d.hint("close every [ with a ], and write \\ before a character that is meant as itself")
	}
}

// params reads parameter rules: by tool pattern, then by parameter.
func (d *heddleDecoder) params(n *node, path string) {
	for _, tool := range d.fields(n, path) {
		at := join(path, tool.key)
		d.pattern(tool.at(), at, tool.key)
		for _, param := range d.fields(tool.value, at) {
			rule := d.paramRule(param.value, join(at, param.key))
			if d.cfg.Tools.Params == nil {
				d.cfg.Tools.Params = map[string]map[string]ParamRule{}
			}
			if d.cfg.Tools.Params[tool.key] == nil {
				d.cfg.Tools.Params[tool.key] = map[string]ParamRule{}
			}
			d.cfg.Tools.Params[tool.key][param.key] = rule
		}
	}
}

func (d values) paramRule(n *node, path string) ParamRule {
	var rule ParamRule
	d.section(n, path, keys{
		"max_length": func(n *node, path string) {
			length := 0
			d.integer(n, path, &length, 0, 1<<30)
			rule.MaxLength = &length
		},
		"pattern": func(n *node, path string) {
			s, ok := d.scalar(n, path, kindString)
			if !ok {
				return
			}
			if err := compile(s); err != nil {
				d.problem(n, path, "%q is not an ECMAScript regular expression: %v", s, err)
			}
			rule.Pattern = s
		},
		"required": func(n *node, path string) { d.boolean(n, path, &rule.Required) },
	})
	return rule
}

// compile checks a pattern with the engine that will run it. The engine is not
// proof against all input.
func compile(pattern string) (err error) {
	defer func() {
		if recover() != nil {
			err = errPattern
		}
	}()
	_, err = regexp2.Compile(pattern, regexp2.ECMAScript)
	return err
}

func (d *heddleDecoder) results(n *node, path string) {
	r := &d.cfg.Results
	d.section(n, path, keys{
		"threshold_tokens": func(n *node, path string) { d.integer(n, path, &r.ThresholdTokens, 100, 1_000_000) },
		"memory":           func(n *node, path string) { d.size(n, path, &r.Memory, 1<<20, 1<<40) },
		"ttl":              d.time(&r.TTL),
		"mesh":             func(n *node, path string) { d.boolean(n, path, &r.Mesh) },
		"output_schema":    func(n *node, path string) { d.oneOf(n, path, &r.OutputSchema, "drop", "keep") },
		"max_frame":        func(n *node, path string) { d.size(n, path, &r.MaxFrame, 1<<10, 4<<30) },
		"duckdb_memory":    func(n *node, path string) { d.size(n, path, &r.SQLMemory, 64<<20, 1<<40) },
		"query_timeout":    d.time(&r.QueryTimeout),
		"export_dir":       func(n *node, path string) { d.directory(n, path, &r.ExportDir) },
	})
}

// directory reads the path of a directory, without references.
func (d values) directory(n *node, path string, into *string) { d.file(n, path, "a directory", into) }

// file reads the path of something, without references.
func (d values) file(n *node, path, what string, into *string) {
	s, ok := d.scalar(n, path, kindString)
	switch {
	case !ok:
	case s == "" || strings.Contains(s, "${"):
		d.problem(n, path, "must be the path of %s, without references", what)
	default:
		*into = s // made absolute once all else is right
	}
}

func (d *heddleDecoder) catalog(n *node, path string) {
	d.section(n, path, keys{
		"name_budget": func(n *node, path string) { d.integer(n, path, &d.cfg.Catalog.NameBudget, 16, 128) },
		"cache":       func(n *node, path string) { d.boolean(n, path, &d.cfg.Catalog.Cache) },
		"lock":        func(n *node, path string) { d.oneOf(n, path, &d.cfg.Catalog.Lock, "off", "warn", "enforce") },
	})
}

func (d *heddleDecoder) restart(n *node, path string) {
	d.section(n, path, keys{
		"max_attempts": func(n *node, path string) { d.integer(n, path, &d.cfg.Restart.MaxAttempts, 0, 1_000_000) },
		"base_delay":   d.time(&d.cfg.Restart.BaseDelay),
	})
}

func (d *heddleDecoder) breaker(n *node, path string) {
	d.section(n, path, keys{
		"failures": func(n *node, path string) { d.integer(n, path, &d.cfg.Breaker.Failures, 1, 1_000_000) },
		"cooldown": d.time(&d.cfg.Breaker.Cooldown),
	})
}

func (d *heddleDecoder) ledger(n *node, path string) {
	d.section(n, path, keys{"keep": d.time(&d.cfg.Ledger.Keep)})
}

// time returns the reader of a duration into into.
func (d values) time(into *time.Duration) func(*node, string) {
	return func(n *node, path string) { d.duration(n, path, into) }
}

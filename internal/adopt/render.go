package adopt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"heddle/internal/config"
)

// render writes heddle.yml: all sections that heddle knows, each with its values
// written out and a comment.
func render(servers []server, s settings, from string) []byte {
	w := &writer{}
	if from == "" {
		from = "nothing yet"
	}
	w.line("# heddle, with servers from %s. docs/configuration.md describes every key.", from)
	w.line("version: 2")
	w.section("What heddle stands in front of. A value ${NAME} is taken from the environment, or from .env beside this file.")
	if len(servers) == 0 {
		w.line("servers: {}")
		w.line("#  memory: {command: npx, args: [\"-y\", \"@modelcontextprotocol/server-memory\"]}")
		w.line("#  docs: {url: \"https://docs.example.com/mcp\", headers: {Authorization: \"Bearer ${DOCS_TOKEN}\"}}")
	} else {
		w.line("servers:")
	}
	for _, x := range servers {
		w.server(x)
	}
	cfg := s.base
	if cfg == nil {
		cfg = defaults()
	}
	w.tools(&cfg.Tools)
	w.guards(guardsOf(s.base))
	w.rest(cfg, cmp.Or(s.exports, "./exports"))
	return w.b.Bytes()
}

type writer struct{ b bytes.Buffer }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format+"\n", args...)
}

// section begins a section with its comment.
func (w *writer) section(comment string) { w.line("\n# %s", comment) }

func (w *writer) server(s server) {
	w.line("  %s:", scalar(s.name))
	if s.URL != "" {
		w.line("    url: %s", scalar(s.URL))
		if s.Type == "http" || s.Type == "sse" {
			w.line("    type: %s", s.Type)
		}
	} else {
		w.line("    command: %s", scalar(s.Command))
		w.list("    ", "args", s.Args)
	}
	w.mapping("env", s.Env)
	w.list("    ", "env_passthrough", s.Passthrough)
	if s.Cwd != "" {
		w.line("    cwd: %s", scalar(s.Cwd))
	}
	w.mapping("headers", s.Headers)
	w.list("    ", "provenance_denylist", s.denylist)
	w.list("    ", "allow_private_hosts", s.localHosts())
	if s.Allow != nil || s.Deny != nil {
		w.line("    tools:")
		if s.Allow != nil {
			w.line("      allow: %s", flow(s.Allow))
		}
		w.list("      ", "deny", s.Deny)
	}
	if s.Disabled {
		w.line("    disabled: true")
	}
}

// list writes a list that is not empty.
func (w *writer) list(indent, key string, items []string) {
	if len(items) > 0 {
		w.line("%s%s: %s", indent, key, flow(items))
	}
}

func (w *writer) mapping(key string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	w.line("    %s:", key)
	for _, k := range sortedKeys(m) {
		w.line("      %s: %s", scalar(k), quoted(m[k]))
	}
}

func (w *writer) tools(t *config.Tools) {
	w.section("Which tools exist: patterns of server/tool or <server>_<tool>. deny wins; confirm asks the user before each call (\"destructive\": tools that say so of themselves); params are rules for arguments.")
	w.line("tools:")
	allow := t.Allow
	if allow == nil {
		allow = []string{"*"}
	}
	w.line("  allow: %s", flow(allow))
	w.line("  deny: %s", flow(t.Deny))
	w.line("  confirm: %s", flow(t.Confirm))
	if len(t.Params) == 0 {
		w.line("  params: {}")
		return
	}
	w.line("  params:")
	for _, tool := range sortedKeys(t.Params) {
		w.line("    %s:", scalar(tool))
		for _, param := range sortedKeys(t.Params[tool]) {
			w.line("      %s: {%s}", scalar(param), strings.Join(ruleOf(t.Params[tool][param]), ", "))
		}
	}
}

func ruleOf(r config.ParamRule) []string {
	var out []string
	if r.MaxLength != nil {
		out = append(out, fmt.Sprintf("max_length: %d", *r.MaxLength))
	}
	if r.Pattern != "" {
		out = append(out, "pattern: "+quoted(r.Pattern))
	}
	if r.Required {
		out = append(out, "required: true")
	}
	return out
}

// rest writes the sections in which there is one value a key.
func (w *writer) rest(cfg *config.Config, exports string) {
	r := cfg.Results
	w.section("Results of more tokens are captured whole, and the host gets a summary; SQL over them, and where exports go.")
	w.line("results:")
	w.line("  threshold_tokens: %d", r.ThresholdTokens)
	w.line("  memory: %s", size(r.Memory))
	w.line("  ttl: %s", span(r.TTL))
	w.line("  duckdb_memory: %s", size(r.SQLMemory))
	w.line("  query_timeout: %s", span(r.QueryTimeout))
	w.line("  export_dir: %s", scalar(exports))
	w.line("  mesh: %t", r.Mesh)
	w.line("  output_schema: %s", r.OutputSchema)
	w.line("  max_frame: %s", size(r.MaxFrame))
	w.section("What servers listed is kept between runs; whether a definition must be the one in heddle.lock (off, warn, enforce); the longest name of a tool that a host sees.")
	w.line("catalog: {cache: %t, lock: %s, name_budget: %d}", cfg.Catalog.Cache, cfg.Catalog.Lock, cfg.Catalog.NameBudget)
	w.section("How often a server that ended is started again; 0 is never.")
	w.line("restart: {max_attempts: %d, base_delay: %s}", cfg.Restart.MaxAttempts, span(cfg.Restart.BaseDelay))
	w.section("After so many failures in a row a server's calls fail at once, for so long.")
	w.line("breaker: {failures: %d, cooldown: %s}", cfg.Breaker.Failures, span(cfg.Breaker.Cooldown))
	w.section("How long the record of calls is kept.")
	w.line("ledger: {keep: %s}", span(cfg.Ledger.Keep))
	w.section("Parts of the above for one host or project: work: {servers: [github], tools: {deny: [\"*_delete_*\"]}}, with start --profile work.")
	w.line("profiles: {}")
}

// size writes a number of bytes with the largest unit that fits.
func size(n int64) string {
	for _, u := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1e9, "GB"}, {1e6, "MB"}} {
		if n >= u.bytes && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return fmt.Sprint(n)
}

// span writes a time with the largest unit that fits.
func span(d time.Duration) string {
	for _, u := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d >= u.length && d%u.length == 0 {
			return fmt.Sprintf("%d%s", d/u.length, u.name)
		}
	}
	return d.String()
}

var (
	plainScalar = regexp.MustCompile(`^[A-Za-z./][A-Za-z0-9_./-]*$`)
	special     = regexp.MustCompile(`(?i)^(?:true|false|null|yes|no|on|off|y|n|\.inf|\.nan|\.+)$`)
)

// scalar writes a text as YAML, without quotes where it is none but a text.
func scalar(s string) string {
	if plainScalar.MatchString(s) && !special.MatchString(s) {
		return s
	}
	return quoted(s)
}

// quoted writes a text in double quotes, as JSON and YAML both do.
func quoted(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // of a string, which cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

func flow(items []string) string {
	parts := make([]string, len(items))
	for i, s := range items {
		parts[i] = quoted(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

package adopt

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"heddle/internal/config"
	"heddle/internal/policy/limit"
)

// guardsOf returns the guards of a new file: those of the file that it is made of,
// and where that has none, the ones that heddle suggests.
func guardsOf(base *config.Config) (config.Guards, config.Audit) {
	suggested := config.Guards{
		SSRF:      &config.SSRF{Mode: "block", BlockPrivateIPs: true},
		RateLimit: config.RateLimit{Default: limit.Rate{N: 60, Per: time.Minute}},
		Injection: &config.Injection{Sensitivity: "medium", Mode: "block", Results: "warn"},
		Secrets:   "off",
	}
	audit := defaults().Audit
	audit.Output = "file"
	if base == nil {
		return suggested, audit
	}
	if g := base.Guards; g.SSRF != nil {
		suggested.SSRF = g.SSRF
	}
	if r := base.Guards.RateLimit; r.Default.Limited() || r.PerTool != nil {
		suggested.RateLimit = r
	}
	if i := base.Guards.Injection; i != nil {
		suggested.Injection = i
	}
	if base.Audit.Output != "none" {
		audit = base.Audit
	}
	return suggested, audit
}

func (w *writer) guards(g config.Guards, audit config.Audit) {
	s := g.SSRF
	w.section("Addresses in arguments: block, log or off. Private ones are refused but for those of allow_private_hosts, here or at a server; metadata services of clouds always.")
	w.line("ssrf:")
	w.line("  mode: %s", s.Mode)
	w.line("  block_private_ips: %t", s.BlockPrivateIPs)
	w.line("  allow_domains: %s", flow(s.AllowDomains))
	w.line("  block_domains: %s", flow(s.BlockDomains))
	w.line("  allow_private_hosts: %s", flow(s.AllowPrivateHosts))
	w.section("How often each host may call each tool: 60/min, 10/s, {requests: 60, per: 1m, burst: 10} or none; per_tool by pattern.")
	w.line("rate_limit:")
	w.line("  default: %s", scalar(g.RateLimit.Default.String()))
	if len(g.RateLimit.PerTool) == 0 {
		w.line("  per_tool: {}")
	} else {
		w.line("  per_tool:")
	}
	for _, t := range g.RateLimit.PerTool {
		w.line("    %s: %s", quoted(t.Pattern), rateValue(t.Rate))
	}
	i := g.Injection
	w.section("Texts that try to take control: arguments are refused or logged, results get a line of warning, or are kept back (block; heddle quarantine), or are not looked at (off).")
	w.line("injection_detection: {enabled: true, sensitivity: %s, mode: %s, results: %s}", i.Sensitivity, i.Mode, i.Results)
	w.section("Secrets in results: off, warn or mask. In logs and records they are always masked.")
	w.line("secrets: {results: %s}", g.Secrets)
	w.section("A line a call, without arguments and results: none, file or stderr. Paths are relative to this file.")
	w.line("audit: {output: %s, filePath: %s, maxSize: %s, maxFiles: %d}", audit.Output, scalar(filepath.Base(audit.Path)), size(audit.MaxSize), audit.MaxFiles)
}

// rateValue writes a rate as limit.Parse reads it.
func rateValue(r limit.Rate) string {
	if !r.Limited() || r.Burst == 0 || r.Burst == r.N {
		return scalar(r.String())
	}
	return "{rate: " + quoted(limit.Rate{N: r.N, Per: r.Per}.String()) + ", burst: " + strconv.Itoa(r.Burst) + "}"
}

// fetches are words in names and commands of servers that open addresses for their
// user, whose own machine is one of them, or that write down texts, in which links to it
// are ordinary.
var fetches = regexp.MustCompile(`(?i)(^|[^a-z])(browser|browser-?use|filesystem|file|editor|git|github|gitlab|notion|obsidian|memory|jira|confluence|linear|slack|playwright|puppeteer|selenium|chrome|chromium|devtools|firefox|webdriver|fetch|http|curl|postman|openapi|swagger|rest|api-?client|scrape|crawl|lighthouse)`)

// localHosts are what a new file lets a server's arguments name although it is
// private: this machine, for servers that open addresses or keep texts.
func (s *server) localHosts() []string {
	words := append([]string{s.name, s.Command}, s.Args...)
	for _, w := range words {
		if !strings.Contains(w, "://") && fetches.MatchString(w) {
			return []string{"localhost", "127.0.0.1", "::1"}
		}
	}
	return nil
}

package policy

import (
	"heddle"
)

// Guards says what the checks would make of a tool's calls, for people. Texts are as
// in the configuration.
type Guards struct {
	Allowed bool `json:"allowed"`
	// Rule decided about Allowed.
	Rule string `json:"rule"`
	// Confirm is what makes it ask the user; "" for nothing.
	Confirm string `json:"confirm,omitempty"`
	// RateLimit is the rule and its rate; "" for no limit.
	RateLimit string `json:"rate_limit,omitempty"`
	// SSRF is "block", "log", "off", or "metadata" where the file has no such section.
	SSRF string `json:"ssrf"`
	// PrivateHosts may be reached by this tool, those of all servers not counted.
	PrivateHosts []string `json:"allow_private_hosts,omitempty"`
	// Injection and Results are the modes for arguments and results, "off" for none.
	Injection string `json:"injection"`
	Results   string `json:"results"`
	// Secrets is the mode for secrets in results.
	Secrets string `json:"secrets"`
}

// Guards returns what the checks are for a tool. annotated says that it calls itself
// destructive.
func (p *Policy) Guards(ref heddle.ToolRef, annotated bool) Guards {
	access := p.Access(ref)
	n := namesOf(ref)
	out := Guards{
		Allowed: access.Allowed, Rule: access.Rule, Confirm: p.confirm.rule(&n, annotated), PrivateHosts: p.privateHosts[ref.Server],
		SSRF: p.ssrf, Injection: "off", Results: "off", Secrets: p.results.secrets,
	}
	if rate, rule := p.rates.limiter.Rule(ref); rate.Limited() {
		out.RateLimit = rule
	}
	if i := p.injection; i != nil {
		out.Injection, out.Results = i.Mode, i.Results
	}
	return out
}

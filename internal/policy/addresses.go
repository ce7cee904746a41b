package policy

import (
	"context"
	"fmt"

	"heddle"
	"heddle/internal/policy/ssrf"
)

// SSRF says which addresses arguments may name. Its zero value is a file without
// the section: metadata services of clouds are refused, and nothing else.
type SSRF struct {
	// Mode is "block", "log", "off", or "" for the file without the section.
	Mode            string
	BlockPrivateIPs bool
	AllowDomains    []string
	BlockDomains    []string
	// AllowPrivateHosts may be reached by all servers although they are private.
	AllowPrivateHosts []string
	// Resolver finds the addresses of names; it must be quick, or remember.
	Resolver ssrf.Resolver
}

// addresses is the check of what arguments lead to.
type addresses struct {
	guard *ssrf.Guard
	block bool
	own   map[string]*ssrf.HostList // by server
}

// newAddresses returns nil where nothing is checked.
func newAddresses(c SSRF, servers map[string]ServerRules) (*addresses, error) {
	if c.Mode == "off" {
		return nil, nil
	}
	guard, err := ssrf.New(ssrf.Config{
		BlockPrivateIPs: c.BlockPrivateIPs, AllowDomains: c.AllowDomains, BlockDomains: c.BlockDomains,
		AllowPrivateHosts: c.AllowPrivateHosts, Resolver: c.Resolver, MetadataOnly: c.Mode == "",
	})
	if err != nil {
		return nil, fmt.Errorf("ssrf: %w", err)
	}
	a := &addresses{guard: guard, block: c.Mode != "log", own: map[string]*ssrf.HostList{}}
	for name, r := range servers {
		if len(r.AllowPrivateHosts) == 0 {
			continue
		}
		if a.own[name], err = ssrf.Hosts(r.AllowPrivateHosts); err != nil {
			return nil, fmt.Errorf("servers.%s.allow_private_hosts: %w", name, err)
		}
	}
	return a, nil
}

func (a *addresses) before(ctx context.Context, s *state) outcome {
	found := a.guard.Check(ctx, s.args, a.own[s.tool.Ref.Server])
	if len(found) == 0 {
		return outcome{}
	}
	if !a.block {
		s.decide("ssrf", "noted", addressRule(&found[0]))
		return outcome{}
	}
	s.decide("ssrf", "refused", addressRule(&found[0]))
	return outcome{action: Refuse, err: &heddle.Error{
		Kind: heddle.KindBlockedAddress, Op: "policy.ssrf", Tool: s.call.Tool, Violations: addressViolations(found),
		Public: "An argument of " + toolName(s) + " leads to an address that is not allowed here: " + addressText(&found[0], s.tool.Ref.Server),
	}}
}

func addressRule(f *ssrf.Finding) string { return at(f.Rule, f.Pointer) }

// addressText says what is wrong with one argument and which key of the
// configuration would allow it.
func addressText(f *ssrf.Finding, server string) string {
	where := "the arguments"
	if f.Pointer != "" {
		where = place(f.Pointer)
	}
	text := where + ": " + f.Rule + "."
	switch key := keyFor(f, server); {
	case key != "":
		text += " If it is meant, the user can change " + key + " in heddle.yml."
	default:
		text += " Nothing in the configuration allows this."
	}
	return text
}

// keyFor names the key that would allow what was found.
func keyFor(f *ssrf.Finding, server string) string {
	switch f.Key {
	case "":
		return ""
	case "allow_private_hosts": // the narrower of the two lists of that name
		return "servers." + server + "." + f.Key
	}
	return "ssrf." + f.Key
}

const maxAddressViolations = 8

func addressViolations(found []ssrf.Finding) []heddle.Violation {
	var out []heddle.Violation
	for i := range found[:min(len(found), maxAddressViolations)] {
		out = append(out, heddle.Violation{Path: found[i].Pointer, Keyword: "ssrf", Message: found[i].Rule})
	}
	return out
}

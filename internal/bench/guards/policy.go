package guards

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"

	"heddle"
	"heddle/internal/policy"
	"heddle/internal/policy/ssrf"
)

// addressRow is a call whose arguments hold addresses.
type addressRow struct {
	Arguments json.RawMessage
	Expect    string
	Hard      bool
	Policy    struct {
		BlockPrivateIPs   bool     `json:"block_private_ips"`
		AllowDomains      []string `json:"allow_domains"`
		BlockDomains      []string `json:"block_domains"`
		AllowPrivateHosts []string `json:"allow_private_hosts"`
	}
	Resolver stub
	// Second is what names resolve to at the next call, Redirects where an address that
	// was let pass leads to.
	Second    stub       `json:"resolver_2nd"`
	Redirects [][]string // from, to
}

// stub resolves the names that a row knows.
type stub map[string][]string

var errNoName = errors.New("no such name")

// LookupNetIP implements [ssrf.Resolver].
func (s stub) LookupNetIP(_ context.Context, _, host string) (out []netip.Addr, err error) {
	for _, text := range s[host] {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	if out == nil {
		return nil, errNoName
	}
	return out, nil
}

// anyTool is a tool without rules of its own.
var anyTool = &heddle.Tool{Ref: heddle.ToolRef{Server: "server", Name: "tool"}, Fingerprint: "any"}

func measureSSRF(ctx context.Context, raw []json.RawMessage) ([]Figure, error) {
	rows, err := decode[addressRow](raw)
	if err != nil {
		return nil, err
	}
	blocked, hard, wrong := atLeast("blocked of what must not be reached", 1), plain("blocked of what is hard to see"), atMost("blocked of what may be reached", 0)
	for i := range rows {
		hit, err := rows[i].blocked(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case rows[i].Expect == "allow":
			wrong.add(hit, "")
		case rows[i].Hard:
			hard.add(hit, "")
		default:
			blocked.add(hit, "")
		}
	}
	return values(blocked, hard, wrong), nil
}

// blocked asks the policy about the arguments, now and at the next call, and about
// each address that they lead to.
func (r *addressRow) blocked(ctx context.Context) (bool, error) {
	resolvers := []stub{r.Resolver}
	if r.Second != nil {
		resolvers = append(resolvers, r.Second)
	}
	for _, resolver := range resolvers {
		p, err := policy.New(policy.Config{SSRF: policy.SSRF{
			Mode: "block", BlockPrivateIPs: r.Policy.BlockPrivateIPs, AllowDomains: r.Policy.AllowDomains, BlockDomains: r.Policy.BlockDomains,
			AllowPrivateHosts: r.Policy.AllowPrivateHosts, Resolver: resolver,
		}})
		if err != nil {
			return false, err
		}
		if p.Before(ctx, &heddle.Call{Tool: "tool", Arguments: r.Arguments}, anyTool).Action == policy.Refuse {
			return true, nil
		}
		guard, err := ssrf.New(ssrf.Config{
			BlockPrivateIPs: r.Policy.BlockPrivateIPs, AllowDomains: r.Policy.AllowDomains, BlockDomains: r.Policy.BlockDomains,
			AllowPrivateHosts: r.Policy.AllowPrivateHosts, Resolver: resolver,
		})
		if err != nil {
			return false, err
		}
		for _, hop := range r.Redirects {
			if guard.CheckURL(ctx, hop[len(hop)-1], nil) != nil {
				return true, nil
			}
		}
	}
	return false, nil
}

func measureAuthz(_ context.Context, raw []json.RawMessage) ([]Figure, error) {
	rows, err := decode[struct {
		Server, Tool, Expect string
		Allow, Deny          []string
	}](raw)
	if err != nil {
		return nil, err
	}
	allow, deny := atLeast("allowed of what is allowed", 1), atLeast("denied of what is denied", 1)
	for _, r := range rows {
		p, err := policy.New(policy.Config{Allow: r.Allow, Deny: r.Deny})
		allowed := err == nil && p.Access(heddle.ToolRef{Server: r.Server, Name: r.Tool}).Allowed
		if r.Expect == "allow" {
			allow.add(allowed, "")
		} else {
			deny.add(!allowed, "")
		}
	}
	return values(allow, deny), nil
}

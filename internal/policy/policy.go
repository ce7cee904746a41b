// Package policy decides about calls. It owns who may call what (allow and deny
// lists), rules for single parameters, the check of arguments against the tool's
// own schema, how often, to which addresses and with what texts a tool is called,
// what must be confirmed, and what is said of a result; and it runs all that as one
// ordered chain, before a call and after it.
//
// It does no I/O but by the resolver that it is given, and never asks anyone: a
// check that wants a question answered returns [Ask], and the gateway asks.
// Decisions carry names of rules and JSON pointers, never values.
//
// Start reading at [Policy.Before], then [Policy.After]. A new guard is one file
// with a type that is a check, and one line in New.
package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"heddle"
	"heddle/internal/policy/inject"
	"heddle/internal/policy/schema"
)

// Config is what a policy is made of.
type Config struct {
	// Allow lists what may be called; nil means all, empty means nothing.
	Allow []string
	// Deny lists what may not; it wins, and ignores case.
	Deny []string
	// Servers holds lists of single servers by name. A tool must pass both these and
	// the global ones.
	Servers map[string]ServerRules
	// Profile holds lists that a tool must pass as well; its zero value lets all
	// pass.
	Profile ServerRules
	// Params holds rules by tool pattern, then parameter: a name, or a JSON pointer
	// if it begins with "/".
	Params map[string]map[string]ParamRule
	// Confirm holds patterns of tools that ask the user first, or "destructive".
	Confirm []string
	// RateLimit, SSRF and Injection say what calls are held to.
	RateLimit RateLimit
	SSRF      SSRF
	Injection *Injection
	// Secrets is "off", "warn" or "mask": what becomes of secrets in results.
	Secrets string
	// SchemaCache is how many compiled schemas are kept; 0 means the default.
	SchemaCache int
}

// ServerRules are lists besides the global ones. Those of one server have
// the same meaning; their patterns also match the tool's own name.
type ServerRules struct {
	Allow []string
	Deny  []string
	// AllowPrivateHosts are what arguments of the server's tools may lead to although
	// it is private. No meaning in a profile.
	AllowPrivateHosts []string
}

// Policy is a compiled configuration. It is immutable but for its caches, and safe
// for concurrent use.
type Policy struct {
	allow   *list // nil: all
	deny    list
	servers map[string]serverLists
	profile serverLists
	params  []paramRules
	schemas *schema.Cache
	checks  []check

	rates     *rates
	addresses *addresses // nil checks none
	injection *Injection
	confirm   confirmation
	results   results

	ssrf         string              // the mode, for people
	privateHosts map[string][]string // by server, likewise

	mu    sync.RWMutex
	known map[heddle.ToolRef]Access
}

type serverLists struct {
	allow *list // nil: all
	deny  list
}

// check is one guard in front of a call.
type check interface {
	// before looks at s, and may change its arguments and add decisions. A verdict
	// other than Allow ends the chain.
	before(ctx context.Context, s *state) outcome
}

// state is a call on its way through the checks.
type state struct {
	call *heddle.Call
	tool *heddle.Tool
	// args are what goes up so far.
	args      json.RawMessage
	decisions []heddle.Decision
}

func (s *state) decide(check, action, rule string) {
	s.decisions = append(s.decisions, heddle.Decision{Check: check, Action: action, Rule: rule})
}

// outcome is what one check says; its zero value lets the call pass.
type outcome struct {
	action   Action
	err      *heddle.Error
	question string
}

// New makes a policy of a configuration. A malformed pattern is an error that names
// it.
func New(c Config) (*Policy, error) {
	p := &Policy{
		servers: map[string]serverLists{},
		schemas: schema.New(c.SchemaCache),
		known:   map[heddle.ToolRef]Access{},
	}
	var err error
	if p.allow, err = allowList("tools.allow", "allow", c.Allow, false); err != nil {
		return nil, err
	}
	if p.deny, err = newList("tools.deny", "deny", c.Deny, true, true); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		if err := p.addServer(name, c.Servers[name]); err != nil {
			return nil, err
		}
	}
	if p.profile, err = newLists("profile.tools.", c.Profile, false); err != nil {
		return nil, err
	}
	if p.params, err = newParams(c.Params); err != nil {
		return nil, err
	}
	if p.rates, err = newRates(c.RateLimit); err != nil {
		return nil, err
	}
	if p.addresses, err = newAddresses(c.SSRF, c.Servers); err != nil {
		return nil, err
	}
	if p.confirm, err = newConfirmation(c.Confirm); err != nil {
		return nil, err
	}
	p.results.secrets, p.injection = cmp.Or(c.Secrets, "off"), c.Injection
	p.ssrf, p.privateHosts = cmp.Or(c.SSRF.Mode, "metadata"), map[string][]string{}
	for name, r := range c.Servers {
		p.privateHosts[name] = r.AllowPrivateHosts
	}
	// The order counts: what may not be called is not looked at, and parameter rules
	// judge the arguments that go up, after the schema check has parsed what a model
	// sent as text.
	p.checks = []check{
		authorization{p},
		arguments{p.schemas},
		parameters{p.params},
		p.rates,
	}
	if p.addresses != nil {
		p.checks = append(p.checks, p.addresses)
	}
	if i := c.Injection; i != nil {
		detector := inject.New(i.level())
		p.checks = append(p.checks, injections{detector, i.Mode == "block"})
		if i.Results != "off" {
			p.results.detector, p.results.block = detector, i.Results == "block"
		}
	}
	p.checks = append(p.checks, p.confirm)
	return p, nil
}

// Inherit goes on where the policy before a reload left off: what hosts have used up
// of a rate limit that did not change is not forgiven.
func (p *Policy) Inherit(old *Policy) { p.rates.inherit(old.rates) }

func (p *Policy) addServer(name string, r ServerRules) (err error) {
	p.servers[name], err = newLists("servers."+name+".tools.", r, true)
	return err
}

// newLists makes the lists below prefix; bare lets patterns of the allow list
// match the tool's own name.
func newLists(prefix string, r ServerRules, bare bool) (serverLists, error) {
	allow, err := allowList(prefix+"allow", prefix+"allow", r.Allow, bare)
	if err != nil {
		return serverLists{}, err
	}
	deny, err := newList(prefix+"deny", prefix+"deny", r.Deny, true, true)
	return serverLists{allow, deny}, err
}

func allowList(name, rule string, texts []string, bare bool) (*list, error) {
	if texts == nil {
		return nil, nil
	}
	l, err := newList(name, rule, texts, false, bare)
	return &l, err
}

// maxKnown bounds the cache of decisions; upstreams choose how many names there
// are.
const maxKnown = 50_000

// Access says whether a tool may be called, by whatever name, and which rule says
// so.
func (p *Policy) Access(ref heddle.ToolRef) Access {
	p.mu.RLock()
	a, ok := p.known[ref]
	p.mu.RUnlock()
	if ok {
		return a
	}
	a = p.access(ref)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= maxKnown {
		clear(p.known)
	}
	p.known[ref] = a
	return a
}

// Schemas returns the compiled schemas, for status.
func (p *Policy) Schemas() *schema.Cache { return p.schemas }

// Action is what is to be done with a call.
type Action int

// The actions. The zero value lets a call pass. A check that asks must be the
// last in the chain: once the user has said yes, the call goes up.
const (
	Allow Action = iota
	Refuse
	Ask
)

// String returns "allow", "refuse" or "ask".
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Refuse:
		return "refuse"
	case Ask:
		return "ask"
	}
	return fmt.Sprintf("Action(%d)", int(a))
}

// Verdict is what the checks in front of a call decided.
type Verdict struct {
	Action Action
	// Arguments are what goes up if the call does: the call's own bytes unless a
	// check changed them, {} if it had none.
	Arguments json.RawMessage
	// Decisions are for the ledger, in the order in which they were made.
	Decisions []heddle.Decision
	// Err is the refusal if Action is Refuse, else nil.
	Err *heddle.Error
	// Question is for the user if Action is Ask, else "".
	Question string
}

// Before runs the checks in front of a call, in order; the first that does not let
// it pass decides.
func (p *Policy) Before(ctx context.Context, call *heddle.Call, tool *heddle.Tool) Verdict {
	s := state{call: call, tool: tool, args: call.Arguments}
	for _, c := range p.checks {
		if o := c.before(ctx, &s); o.action != Allow {
			return Verdict{Action: o.action, Arguments: s.args, Decisions: s.decisions, Err: o.err, Question: o.question}
		}
	}
	return Verdict{Arguments: s.args, Decisions: s.decisions}
}

// authorization asks the lists again. The catalog holds authorized tools only; this
// is for the day when it does not.
type authorization struct{ p *Policy }

func (a authorization) before(_ context.Context, s *state) outcome {
	access := a.p.Access(s.tool.Ref)
	if access.Allowed {
		return outcome{}
	}
	s.decide("authorization", "refused", access.Rule)
	// What is not allowed does not exist.
	return outcome{action: Refuse, err: &heddle.Error{
		Kind:   heddle.KindUnknownTool,
		Op:     "policy.authorization",
		Public: "There is no such tool.",
		Tool:   s.call.Tool,
	}}
}

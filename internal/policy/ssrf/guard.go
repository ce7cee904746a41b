package ssrf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"heddle/internal/walk"
)

// Resolver finds the addresses of a name; *net.Resolver is one. network is "ip".
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Config is what a guard depends on.
type Config struct {
	// BlockPrivateIPs refuses what is not public.
	BlockPrivateIPs bool
	// AllowDomains, if there are any, are the only ones: "example.com", "*.example.com",
	// an IP address.
	AllowDomains []string
	// BlockDomains are refused with all below them.
	BlockDomains []string
	// AllowPrivateHosts may be reached by every server although they are private; see
	// [Hosts].
	AllowPrivateHosts []string
	// Resolver is asked for the addresses of names; it should be a [Cached] one. It may
	// be nil with MetadataOnly.
	Resolver Resolver
	// MetadataOnly refuses nothing but metadata services, and resolves nothing.
	MetadataOnly bool
}

// Guard checks arguments. It is immutable and safe for concurrent use.
type Guard struct {
	private      bool
	metadataOnly bool
	allow, block *domains
	hosts        *HostList
	resolver     Resolver
}

// Finding is an address that must not be reached.
type Finding struct {
	// Pointer is where it stands in the arguments, as a JSON pointer.
	Pointer string
	// Rule says what is wrong with it: "loopback address", "cloud metadata",
	// "scheme file", "name does not resolve". It never holds what was submitted.
	Rule string
	// Key is the list of the configuration that decides about it: "allow_private_hosts",
	// "allow_domains", "block_domains"; "" if none does.
	Key string
}

// errNoResolver says that names cannot be judged.
var errNoResolver = errors.New("ssrf: no resolver")

// New makes a guard. A malformed entry is an error that names it.
func New(c Config) (*Guard, error) {
	if c.Resolver == nil && !c.MetadataOnly {
		return nil, errNoResolver
	}
	g := &Guard{private: c.BlockPrivateIPs && !c.MetadataOnly, metadataOnly: c.MetadataOnly, resolver: c.Resolver}
	var err error
	if g.hosts, err = Hosts(c.AllowPrivateHosts); err != nil {
		return nil, fmt.Errorf("allow_private_hosts: %w", err)
	}
	if c.MetadataOnly {
		return g, nil
	}
	if g.allow, err = newDomains(c.AllowDomains); err != nil {
		return nil, fmt.Errorf("allow_domains: %w", err)
	}
	if g.block, err = newDomains(c.BlockDomains); err != nil {
		return nil, fmt.Errorf("block_domains: %w", err)
	}
	return g, nil
}

// Check returns what must not be reached of the addresses in args, in the order in
// which they stand, names that had to be resolved last, at most one for a text and
// [maxFindings] of all. server is the list of the server that gets the call, nil for
// none. Names are resolved side by side; the context bounds how long. Nil is nothing
// to object to.
func (g *Guard) Check(ctx context.Context, args json.RawMessage, server *HostList) []Finding {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	in := inspection{g: g, server: server, args: args}
	err := walk.Texts(args, func(t *walk.Text) bool {
		in.at = t
		in.look(t)
		return len(in.findings) < maxFindings
	})
	if err != nil {
		in.at = nil
		in.find("not valid JSON", "")
	}
	in.at = nil
	in.resolve(ctx)
	return in.findings
}

// CheckURL checks one URL, such as a hop of a redirect; nil is nothing to object to.
func (g *Guard) CheckURL(ctx context.Context, text string, server *HostList) *Finding {
	in := inspection{g: g, server: server}
	in.text(text, inURL)
	in.resolve(ctx)
	if len(in.findings) == 0 {
		return nil
	}
	return &in.findings[0]
}

// Bounds of a call. More addresses than that are a finding of their own.
const (
	maxFindings = 16
	// maxTargets bounds addresses that are judged, each once however often it stands
	// there.
	maxTargets = 2048
	// maxFetched and maxLinked bound names that are resolved: of addresses, and of
	// links in texts.
	maxFetched = 32
	maxLinked  = 256
)

// inspection is the state of one check.
type inspection struct {
	g        *Guard
	server   *HostList
	args     []byte
	at       *walk.Text // the text that is looked at; nil outside of a walk
	depth    int        // JSON in strings around the text
	seen     map[target]struct{}
	names    []*name
	byName   map[nameKey]*name
	fetched  int // names to be resolved
	linked   int
	findings []Finding
}

// pointer is the place of the current text.
func (in *inspection) pointer() string {
	if in.at == nil {
		return ""
	}
	return in.at.Pointer()
}

// find notes that something must not be reached, once for a text.
func (in *inspection) find(rule, key string) { in.findAt(in.pointer(), rule, key) }

func (in *inspection) findAt(pointer, rule, key string) {
	for _, f := range in.findings {
		if f.Pointer == pointer {
			return
		}
	}
	if len(in.findings) < maxFindings {
		in.findings = append(in.findings, Finding{pointer, rule, key})
	}
}

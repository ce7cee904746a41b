package ssrf

import (
	"context"
	"net/netip"
	"sync"

	"heddle/internal/dial/address"
)

// name is one that has to be resolved before it can be judged.
type name struct {
	nameKey
	pointer string
	listed  bool // a list has it, so that private addresses are fine
	addrs   []netip.Addr
	err     error
}

type nameKey struct {
	name, port string
	rigor      rigor
}

// want puts a name down to be resolved.
func (in *inspection) want(t target, text string, listed bool) {
	key := nameKey{text, t.port, t.rigor}
	if in.byName[key] != nil {
		return
	}
	count, limit := &in.linked, maxLinked
	if t.rigor == fetched {
		count, limit = &in.fetched, maxFetched
	}
	if *count++; *count > limit {
		in.find("too many names", "")
		return
	}
	if in.byName == nil {
		in.byName = map[nameKey]*name{}
	}
	n := &name{nameKey: key, pointer: in.pointer(), listed: listed}
	in.byName[key] = n
	in.names = append(in.names, n)
}

// lookups bounds how many names of a call are resolved at the same time.
const lookups = 16

// resolve looks all names up and judges their addresses.
func (in *inspection) resolve(ctx context.Context) {
	if len(in.names) == 0 || len(in.findings) >= maxFindings {
		return
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, lookups)
	for _, n := range in.names {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			n.addrs, n.err = in.g.resolver.LookupNetIP(ctx, "ip", n.name)
		})
	}
	wg.Wait()
	for _, n := range in.names {
		if rule, key := in.nameRule(n); rule != "" {
			in.findAt(n.pointer, rule, key)
		}
	}
}

func (in *inspection) nameRule(n *name) (rule, key string) {
	for _, a := range n.addrs {
		if address.Metadata(a) && !in.listsAddr(a, n.port, true) {
			return "name of cloud metadata", keyPrivate
		}
	}
	if n.listed || !in.g.private {
		return "", ""
	}
	for _, a := range n.addrs {
		switch kind := address.Classify(a); kind {
		case address.Public, address.Documentation:
		default:
			if !in.listsAddr(a, n.port, false) {
				return "name of a " + kind.String() + " address", keyPrivate
			}
		}
	}
	if n.rigor == fetched && (n.err != nil || len(n.addrs) == 0) {
		return "name does not resolve", keyPrivate
	}
	return "", ""
}

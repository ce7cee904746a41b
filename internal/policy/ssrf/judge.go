package ssrf

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"heddle/internal/dial/address"
	"heddle/internal/walk"
)

// keyPrivate is the list that lets private hosts and refused schemes pass.
const keyPrivate = "allow_private_hosts"

// judge decides about one host, or puts its name down to be resolved.
func (in *inspection) judge(t target) {
	if len(in.seen) >= maxTargets {
		in.find("too many addresses", "")
		return
	}
	if _, dup := in.seen[t]; dup {
		return
	}
	if in.seen == nil {
		in.seen = map[target]struct{}{}
	}
	in.seen[t] = struct{}{}
	host, ok := canonical(t.host)
	if !ascii(t.host) {
		if seen := visible(t.host); seen != t.host {
			in.judge(target{scheme: t.scheme, host: seen, port: t.port})
		}
	}
	if !ok {
		in.malformed(t)
		return
	}
	if t.port == "" {
		t.port = defaultPort(t.scheme)
	}
	if t.rigor == doubtful && !convincing(host) {
		return
	}
	if readings, numeric := address.Parse(host); numeric {
		in.judgeAddress(t, readings)
		return
	}
	in.judgeName(t, host)
}

// judgeAddress decides about a host that is written as an address.
func (in *inspection) judgeAddress(t target, readings []netip.Addr) {
	for _, a := range readings {
		if rule, key := in.addressRule(t, a); rule != "" {
			in.find(rule, key)
			return
		}
	}
	if len(readings) == 0 && t.rigor == fetched && !t.within && in.g.private {
		in.find("malformed host", "")
	}
}

func (in *inspection) addressRule(t target, a netip.Addr) (rule, key string) {
	g := in.g
	if address.Metadata(a) && !in.listsAddr(a, t.port, true) {
		return "cloud metadata", keyPrivate
	}
	if g.metadataOnly {
		return "", ""
	}
	if g.block.hasAddr(a) {
		return "block_domains", "block_domains"
	}
	special := address.Classify(a) != address.Public
	listed := special && in.listsAddr(a, t.port, false)
	if special && g.private && !listed {
		return address.Classify(a).String() + " address", keyPrivate
	}
	if g.allow != nil && !listed && t.rigor != doubtful && !g.allow.hasAddr(a) {
		return "not in allow_domains", "allow_domains"
	}
	return "", ""
}

// judgeName decides about a host that is a name.
func (in *inspection) judgeName(t target, name string) {
	g := in.g
	if address.MetadataName(name) {
		if !in.listsName(name, t.port, true) {
			in.find("cloud metadata", keyPrivate)
		}
		return
	}
	if g.metadataOnly {
		return
	}
	if g.block.covers(name) {
		in.find("block_domains", "block_domains")
		return
	}
	if !networked(t.scheme) {
		t.rigor = doubtful
	}
	listed := in.listsName(name, t.port, false)
	switch {
	case g.private && !listed && localName(name):
		in.find("local name", keyPrivate)
	case t.rigor == doubtful:
	case !listed && !g.allow.lets(name):
		in.find("not in allow_domains", "allow_domains")
	case t.rigor == fetched && g.private && !listed && strings.IndexByte(name, '.') < 0:
		in.find("name without a domain", keyPrivate)
	default:
		in.want(t, name, listed)
	}
}

// malformed decides about what can be no host. Pieces of it may be one to a program
// that is not careful. A template ("{tenant}.example.com") is for the tool to fill in.
func (in *inspection) malformed(t target) {
	host := t.host
	if plain, ok := percentDecode(host); ok {
		host = plain
	}
	if t.within { // and the text may go on right behind it
		if i := strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }); i > 0 {
			t := t
			t.host = strings.TrimRight(host[:i], punctuation)
			in.judge(t)
		}
	}
	pieces := 0
	for piece := range strings.FieldsFuncSeq(host, func(r rune) bool { return r < utf8.RuneSelf && !hostByte(byte(r)) }) {
		if piece = strings.Trim(piece, "."); piece != t.host && piece != "" {
			in.judge(target{scheme: t.scheme, host: piece, port: t.port})
		}
		if pieces++; pieces == maxAts {
			break
		}
	}
	if t.rigor == fetched && !t.within && in.g.private && !strings.ContainsAny(host, "{$<*") {
		in.find("malformed host", "")
	}
}

func (in *inspection) listsAddr(a netip.Addr, port string, exact bool) bool {
	return in.lists(port, func(l *HostList, port string) bool { return l.hasAddr(a, port, exact) })
}

func (in *inspection) listsName(name, port string, exact bool) bool {
	return in.lists(port, func(l *HostList, port string) bool { return l.hasName(name, port, exact) })
}

// lists asks both lists. Where an entry is for one port and the address has none, a
// "port" beside it counts.
func (in *inspection) lists(port string, has func(l *HostList, port string) bool) bool {
	if has(in.g.hosts, port) || has(in.server, port) {
		return true
	}
	if port != "" || in.at == nil || !in.g.hosts.hasPorts() && !in.server.hasPorts() {
		return false
	}
	port = in.portBeside()
	return port != "" && (has(in.g.hosts, port) || has(in.server, port))
}

// portBeside returns the value of the member "port" in the object around the current
// text, "" if there is none. It walks again: few calls have such a list and need it.
func (in *inspection) portBeside() string {
	own := in.at.Pointer()
	beside := own[:strings.LastIndexByte(own, '/')+1] + "port"
	port := ""
	_ = walk.Texts(in.args, func(t *walk.Text) bool {
		if t.Kind != walk.Name && t.Name == "port" && t.Pointer() == beside {
			port = strings.TrimLeft(t.Value, "0")
		}
		return true // the last one wins, as it does for most readers
	})
	return port
}

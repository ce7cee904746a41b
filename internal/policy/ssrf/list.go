package ssrf

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/dial/address"
)

// HostList says which hosts may be reached although they are private. Nil is an
// empty list.
type HostList struct {
	entries []hostEntry
	ports   bool // some entry is for one port
	schemes map[string]bool
}

// hostEntry is a name, all names below one, or a range of addresses.
type hostEntry struct {
	name   string // "nas.lan", or ".lan" for what is below it; "" for addresses
	prefix netip.Prefix
	port   string // "" is any
}

var errHost = errors.New("is no host; write a name, *.domain, an IP address or a range, each with :port if only that is meant, or file://")

// Hosts reads an allow_private_hosts list. An entry is an exact name, "*.lan" for all
// names below lan, an address, a range (10.0.0.0/8), each also with a port
// (nas.lan:5000, [fd00::1]:80, 10.0.0.0/8:443); or a scheme, "file://", which is
// otherwise refused. An error names the entry.
func Hosts(entries []string) (*HostList, error) {
	l := &HostList{schemes: map[string]bool{}}
	for _, text := range entries {
		if scheme, ok := strings.CutSuffix(text, "://"); ok && isScheme(scheme) {
			l.schemes[strings.ToLower(scheme)] = true
			continue
		}
		e, ok := parseHostEntry(text)
		if !ok {
			return nil, fmt.Errorf("%q %w", text, errHost)
		}
		l.entries = append(l.entries, e)
		l.ports = l.ports || e.port != ""
	}
	return l, nil
}

func parseHostEntry(text string) (hostEntry, bool) {
	host, port, ok := entryPort(text)
	if !ok {
		return hostEntry{}, false
	}
	if p, ok := parseRange(host); ok {
		return hostEntry{prefix: p, port: port}, true
	}
	name, ok := domain(host)
	return hostEntry{name: name, port: port}, ok
}

// entryPort cuts the port off an entry: behind the only colon, a bracket, or the
// length of a range.
func entryPort(text string) (host, port string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 || strings.Count(text, ":") > 1 && text[i-1] != ']' && strings.LastIndexByte(text[:i], '/') < 0 {
		return text, "", true
	}
	n, err := strconv.ParseUint(text[i+1:], 10, 16)
	return text[:i], strconv.FormatUint(n, 10), err == nil && n > 0
}

// parseRange reads an address or a range, with or without brackets around the address.
func parseRange(text string) (netip.Prefix, bool) {
	if inner, ok := strings.CutPrefix(text, "["); ok {
		addr, length, closed := strings.Cut(inner, "]")
		if !closed {
			return netip.Prefix{}, false
		}
		text = addr + length
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	a = a.WithZone("").Unmap()
	return netip.PrefixFrom(a, a.BitLen()), true
}

// domain reads an entry that is a name: "example.com", or "*.example.com" and
// ".example.com", which mean what is below it and become the latter.
func domain(text string) (string, bool) {
	rest, below := strings.CutPrefix(strings.TrimPrefix(text, "*"), ".")
	if !below && rest != text { // "*example.com"
		return "", false
	}
	name, ok := canonical(rest)
	if _, numeric := address.Parse(name); !ok || name == "" || numeric || strings.ContainsAny(rest, "%/") {
		return "", false
	}
	if below {
		return "." + name, true
	}
	return name, true
}

// matches reports whether name is the entry, or below it if it begins with a dot.
func matches(entry, name string) bool {
	if entry[0] == '.' {
		return strings.HasSuffix(name, entry)
	}
	return name == entry
}

// hasName reports whether the list has the name. exact leaves out "*." entries.
func (l *HostList) hasName(name, port string, exact bool) bool {
	if l == nil {
		return false
	}
	for _, e := range l.entries {
		if e.name != "" && (e.port == "" || e.port == port) && matches(e.name, name) && !(exact && e.name[0] == '.') {
			return true
		}
	}
	return false
}

// hasAddr reports whether the list has the address. exact leaves out ranges.
func (l *HostList) hasAddr(a netip.Addr, port string, exact bool) bool {
	if l == nil {
		return false
	}
	a = a.WithZone("").Unmap()
	for _, e := range l.entries {
		if e.name == "" && (e.port == "" || e.port == port) && e.prefix.Contains(a) && !(exact && !e.prefix.IsSingleIP()) {
			return true
		}
	}
	return false
}

func (l *HostList) hasScheme(scheme string) bool { return l != nil && l.schemes[scheme] }

func (l *HostList) hasPorts() bool { return l != nil && l.ports }

// domains is an allow_domains or block_domains list. Nil is an empty one.
type domains struct {
	all    bool     // "*"
	names  []string // as [domain] returns them
	ranges []netip.Prefix
}

var errDomain = errors.New("is no domain; write example.com, *.example.com, an IP address or a range")

func newDomains(texts []string) (*domains, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	d := &domains{}
	for _, text := range texts {
		if text == "*" {
			d.all = true
			continue
		}
		if p, ok := parseRange(text); ok {
			d.ranges = append(d.ranges, p)
			continue
		}
		name, ok := domain(text)
		if !ok {
			return nil, fmt.Errorf("%q %w", text, errDomain)
		}
		d.names = append(d.names, name)
	}
	return d, nil
}

// covers reports whether a block list has the name or one above it.
func (d *domains) covers(name string) bool {
	if d == nil {
		return false
	}
	for _, e := range d.names {
		e = strings.TrimPrefix(e, ".")
		if name == e || strings.HasSuffix(name, e) && name[len(name)-len(e)-1] == '.' {
			return true
		}
	}
	return d.all
}

// lets reports whether an allow list lets the name pass; an empty one lets all.
func (d *domains) lets(name string) bool {
	return d == nil || d.all || slices.ContainsFunc(d.names, func(e string) bool { return matches(e, name) })
}

// hasAddr reports whether the list has the address.
func (d *domains) hasAddr(a netip.Addr) bool {
	if d == nil {
		return false
	}
	a = a.WithZone("").Unmap()
	return d.all || slices.ContainsFunc(d.ranges, func(p netip.Prefix) bool { return p.Contains(a) })
}

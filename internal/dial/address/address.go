// Package address says what kind of place an IP address is: out in the internet,
// or somewhere that a request made for a stranger must not reach.
//
// It is pure: it resolves nothing and reads nothing. An address that carries an
// IPv4 address inside IPv6 (mapped, NAT64, 6to4, ISATAP) is what it carries. Start
// at [Classify], and for text at [Parse]; [Special] is the question that most
// callers have, and [Metadata] the one that is asked of every address without
// exception.
package address

import "net/netip"

// Kind is what an address is for.
type Kind int

// The kinds. Only Public is reachable for everybody; [Special] names the others.
const (
	Public        Kind = iota
	Invalid            // the zero Addr
	CloudMetadata      // hands out credentials of the machine
	Unspecified        // 0.0.0.0/8 and ::, which connect to this machine
	Loopback
	Private   // RFC 1918, unique local and the old site-local addresses
	LinkLocal // also what a machine without DHCP gives itself
	CGNAT     // shared between a provider and its customers
	Multicast
	Broadcast
	Documentation
	Benchmark
	Reserved // set aside by IANA, or not given to anybody yet
)

// String returns the kind in words that fit "is a … address".
func (k Kind) String() string {
	switch k {
	case Public:
		return "public"
	case CloudMetadata:
		return "cloud metadata"
	case Unspecified:
		return "unspecified"
	case Loopback:
		return "loopback"
	case Private:
		return "private"
	case LinkLocal:
		return "link-local"
	case CGNAT:
		return "carrier-grade NAT"
	case Multicast:
		return "multicast"
	case Broadcast:
		return "broadcast"
	case Documentation:
		return "documentation"
	case Benchmark:
		return "benchmark"
	case Reserved:
		return "reserved"
	}
	return "invalid"
}

// block is a range of addresses of one kind.
type block struct {
	prefix netip.Prefix
	kind   Kind
}

// blocks returns the table, the first match counts.
func blocks(kind Kind, prefixes ...string) []block {
	out := make([]block, len(prefixes))
	for i, p := range prefixes {
		out[i] = block{netip.MustParsePrefix(p), kind}
	}
	return out
}

func concat(lists ...[]block) []block {
	var out []block
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// v4 and v6 follow IANA's registries of special-purpose addresses. What is
// special there and still globally reachable (AS112, AMT) is public here.
var (
	v4 = concat(
		blocks(Unspecified, "0.0.0.0/8"),
		blocks(Loopback, "127.0.0.0/8"),
		blocks(Private, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
		blocks(LinkLocal, "169.254.0.0/16"),
		blocks(CGNAT, "100.64.0.0/10"),
		blocks(Documentation, "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "233.252.0.0/24"),
		blocks(Benchmark, "198.18.0.0/15"),
		blocks(Multicast, "224.0.0.0/4"),
		blocks(Broadcast, "255.255.255.255/32"),
		blocks(Reserved, "192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4"),
	)
	v6 = concat(
		blocks(Unspecified, "::/128"),
		blocks(Loopback, "::1/128"),
		// 64:ff9b:1::/48 is NAT64 of one site, which leads into that site.
		blocks(Private, "fc00::/7", "fec0::/10", "64:ff9b:1::/48"),
		blocks(LinkLocal, "fe80::/10"),
		blocks(Multicast, "ff00::/8"),
		blocks(Documentation, "2001:db8::/32", "3fff::/20"),
		blocks(Benchmark, "2001:2::/48"),
		blocks(Reserved, "2001::/23"),
	)
	// global is all of IPv6 that has been given out for general use.
	global = netip.MustParsePrefix("2000::/3")
)

// metadata lists where clouds hand out a machine's credentials.
var metadata = map[netip.Addr]bool{
	netip.MustParseAddr("169.254.169.254"): true, // AWS, Google, Azure, DigitalOcean, Oracle, OpenStack and others
	netip.MustParseAddr("169.254.170.2"):   true, // AWS, tasks in containers
	netip.MustParseAddr("169.254.170.23"):  true, // AWS, pods
	netip.MustParseAddr("fd00:ec2::254"):   true, // AWS over IPv6
	netip.MustParseAddr("fd00:ec2::23"):    true,
	netip.MustParseAddr("fd20:ce::254"):    true, // Google over IPv6
	netip.MustParseAddr("fe80::a9fe:a9fe"): true, // OpenStack over IPv6
	netip.MustParseAddr("100.100.100.200"): true, // Alibaba
	netip.MustParseAddr("169.254.0.23"):    true, // Tencent
	netip.MustParseAddr("169.254.42.42"):   true, // Scaleway
	netip.MustParseAddr("fd00:42::42"):     true,
	netip.MustParseAddr("192.0.0.192"):     true, // Oracle, classic
	netip.MustParseAddr("168.63.129.16"):   true, // Azure's wire server, a public address
}

// Classify returns what a is. A zone does not matter. Where a carries other
// addresses, the most dangerous of them counts.
func Classify(a netip.Addr) Kind {
	a = a.WithZone("").Unmap()
	switch {
	case !a.IsValid():
		return Invalid
	case metadata[a]:
		return CloudMetadata
	case a.Is4():
		return lookup(v4, a)
	}
	inner, tunnel := carried(a)
	worst := Public
	for _, i := range inner {
		if k := Classify(i); k != Public && (worst == Public || k == CloudMetadata) {
			worst = k
		}
	}
	if worst != Public || tunnel {
		return worst
	}
	if k := lookup(v6, a); k != Public || global.Contains(a) {
		return k
	}
	return Reserved
}

func lookup(table []block, a netip.Addr) Kind {
	for _, b := range table {
		if b.prefix.Contains(a) {
			return b.kind
		}
	}
	return Public
}

// Special reports whether a is anything but public, and in what way:
// "a loopback address".
func Special(a netip.Addr) (why string, special bool) {
	k := Classify(a)
	if k == Public {
		return "", false
	}
	if k == Invalid || k == Unspecified {
		return "an " + k.String() + " address", true
	}
	return "a " + k.String() + " address", true
}

// Metadata reports whether a is where a cloud hands out the credentials of a
// machine, in any spelling.
func Metadata(a netip.Addr) bool { return Classify(a) == CloudMetadata }

// Forms of IPv6 addresses that carry an IPv4 address.
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")
	compatible = netip.MustParsePrefix("::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	teredo     = netip.MustParsePrefix("2001::/32")
)

// carried returns the IPv4 addresses inside an IPv6 address. tunnel says that
// packets go to them and nowhere else, so that the outer address says nothing.
func carried(a netip.Addr) (inner []netip.Addr, tunnel bool) {
	b := a.As16()
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	switch {
	case nat64.Contains(a), translated.Contains(a):
		return []netip.Addr{at(12)}, true
	case sixToFour.Contains(a):
		return []netip.Addr{at(2)}, true
	case teredo.Contains(a): // the server, and the client with its bits turned over
		client := [4]byte{^b[12], ^b[13], ^b[14], ^b[15]}
		return []netip.Addr{at(4), netip.AddrFrom4(client)}, false // its relays are gone: reserved at best
	case compatible.Contains(a) && b[12] != 0: // ::1 and :: are no such thing; the form itself is long dead
		return []netip.Addr{at(12)}, false
	case b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe && b[8]&^0x03 == 0: // ISATAP, under any prefix
		return []netip.Addr{at(12)}, false
	}
	return nil, false
}

package address

import (
	"net/netip"
	"strings"
)

// Parse returns the addresses that programs may read from a host: dotted, short,
// decimal, octal and hexadecimal IPv4 as inet_aton takes them, IPv6 with or without
// brackets and zone. A leading zero means octal to some programs and nothing to
// others, so that there may be two readings. numeric says that the host can be
// nothing but an address: without readings it is a malformed one.
func Parse(host string) (readings []netip.Addr, numeric bool) {
	if host == "" {
		return nil, false
	}
	if strings.IndexByte(host, ':') >= 0 || host[0] == '[' {
		return parse6(host), true
	}
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || last[0] < '0' || last[0] > '9' {
		return nil, false
	}
	if _, ok := part(last, false); !ok && strings.Trim(last, "0123456789") != "" {
		return nil, false
	}
	octal, ok := parse4(host, false)
	if ok {
		readings = append(readings, octal)
	}
	if plain, ok := parse4(host, true); ok && plain != octal {
		readings = append(readings, plain)
	}
	return readings, true
}

func parse6(host string) []netip.Addr {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if host, ok = strings.CutSuffix(inner, "]"); !ok {
			return nil
		}
	}
	host, _, _ = strings.Cut(host, "%")
	a, err := netip.ParseAddr(host)
	if err != nil || a.Is4() {
		return nil
	}
	return []netip.Addr{a}
}

// parse4 reads IPv4 of one to four parts; the last fills what is left.
func parse4(host string, zerosMeanNothing bool) (netip.Addr, bool) {
	var value uint64
	for n := 0; ; n++ {
		text, rest, more := strings.Cut(host, ".")
		v, ok := part(text, zerosMeanNothing)
		if !ok || n == 3 && more {
			return netip.Addr{}, false
		}
		if !more {
			left := uint(8 * (4 - n))
			if v >= 1<<left {
				return netip.Addr{}, false
			}
			value = value<<left | v
			return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
		}
		if v > 255 {
			return netip.Addr{}, false
		}
		value, host = value<<8|v, rest
	}
}

// part reads one number of an IPv4 address, below 2^40.
func part(text string, zerosMeanNothing bool) (uint64, bool) {
	if text == "" {
		return 0, false
	}
	base := uint64(10)
	if len(text) > 1 && text[0] == '0' {
		switch {
		case text[1]|0x20 == 'x': // "0x" alone is 0 to browsers
			base, text = 16, text[2:]
		case !zerosMeanNothing:
			base, text = 8, text[1:]
		}
	}
	var v uint64
	for i := range len(text) {
		d := uint64(16)
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			d = uint64(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			d = uint64(c|0x20-'a') + 10
		}
		if d >= base {
			return 0, false
		}
		if v = v*base + d; v >= 1<<40 {
			return 0, false
		}
	}
	return v, true
}

// MetadataName reports whether host is a well-known name of a cloud's metadata
// service. Case does not matter, nor does a dot at the end.
func MetadataName(host string) bool {
	switch strings.ToLower(strings.TrimSuffix(host, ".")) {
	case "metadata.google.internal", "metadata.goog", "metadata.tencentyun.com", "metadata.azure.internal",
		"instance-data", "instance-data.ec2.internal", "api.metadata.cloud.ibm.com", "metadata.platformequinix.com", "metadata.packet.net":
		return true
	}
	return false
}

package address

import (
	"net/netip"
	"testing"
)

func TestClassify(t *testing.T) {
	tests := map[Kind][]string{
		Public: {
			"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
			"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
			"192.31.196.1", "192.52.193.1", "192.175.48.1", "198.17.255.255", "198.20.0.0", "223.255.255.255",
			"2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "2620:4f:8000::1", "2001:200::1",
			"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "::ffff:0:8.8.8.8",
			"2606:4700::5efe:808:808",
		},
		CloudMetadata: {
			"169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::", "fd00:ec2::254", "fd00:ec2::254%eth0",
			"fe80::a9fe:a9fe%eth0", "100.100.100.200", "169.254.170.2", "169.254.170.23", "168.63.129.16", "192.0.0.192", "fd20:ce::254",
			"2001:0:0:0:0:0:5601:5601", "::169.254.169.254", "::ffff:0:169.254.169.254", "2606:4700::5efe:a9fe:a9fe", "169.254.42.42", "169.254.0.23",
		},
		Unspecified: {"0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0", "64:ff9b::"},
		Loopback: {
			"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1",
			"2001:0:7f00:1::", "2001:0:808:808:0:0:80ff:fffe", "2606:4700::200:5efe:7f00:1",
		},
		Private: {
			"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255", "fc00::", "fdff::1", "fec0::1",
			"::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:c0a8:1::1", "64:ff9b:1::808:808",
		},
		LinkLocal:     {"169.254.0.1", "169.254.255.255", "fe80::1", "fe80::1%eth0", "febf::1", "::ffff:169.254.1.1"},
		CGNAT:         {"100.64.0.0", "100.127.255.255", "::ffff:100.64.0.1"},
		Multicast:     {"224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"},
		Broadcast:     {"255.255.255.255", "::ffff:255.255.255.255"},
		Documentation: {"192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"},
		Benchmark:     {"198.18.0.0", "198.19.255.255", "2001:2::1"},
		Reserved: {
			"192.0.0.1", "192.88.99.1", "240.0.0.1", "254.0.0.1", "100::1", "100:0:0:1::1", "2001:10::1", "2001:20::1", "5f00::1", "4000::1", "::8.8.8.8",
			"8000::1", "e000::1", "::2", "2001:0:808:808:0:0:f7f7:f7f7",
		},
	}
	for want, addrs := range tests {
		for _, text := range addrs {
			a := netip.MustParseAddr(text)
			if got := Classify(a); got != want {
				t.Errorf("Classify(%s) = %v, want %v", text, got, want)
			}
			why, special := Special(a)
			if special != (want != Public) || special != (why != "") {
				t.Errorf("Special(%s) = %q, %v; it is %v", text, why, special, want)
			}
			if got := Metadata(a); got != (want == CloudMetadata) {
				t.Errorf("Metadata(%s) = %v; it is %v", text, got, want)
			}
		}
	}
}

func TestSpecialText(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1": "a loopback address", "0.0.0.0": "an unspecified address", "100.64.0.1": "a carrier-grade NAT address",
	} {
		if got, _ := Special(netip.MustParseAddr(text)); got != want {
			t.Errorf("Special(%s) = %q, want %q", text, got, want)
		}
	}
	if got, special := Special(netip.Addr{}); got != "an invalid address" || !special {
		t.Errorf("Special of no address = %q, %v", got, special)
	}
}

// FuzzSpellings: whatever carries an address is at least as special.
func FuzzSpellings(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add([]byte{169, 254, 169, 254})
	f.Add([]byte{8, 8, 8, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) != 4 {
			t.Skip()
		}
		plain := netip.AddrFrom4([4]byte(b))
		for _, prefix := range []string{"::ffff:0.0.0.0", "64:ff9b::", "::ffff:0:0:0"} {
			outer := netip.MustParseAddr(prefix).As16()
			copy(outer[12:], b)
			if got, want := Classify(netip.AddrFrom16(outer)), Classify(plain); got != want {
				t.Errorf("Classify(%s) = %v, but %s is %v", netip.AddrFrom16(outer), got, plain, want)
			}
		}
	})
}

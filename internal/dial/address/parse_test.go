package address

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := map[string]string{ // "-" is numeric without a reading, "" is a name
		"127.0.0.1": "127.0.0.1", "127.0.0.1.": "127.0.0.1", "127.1": "127.0.0.1", "127.0.1": "127.0.0.1", "2130706433": "127.0.0.1",
		"0x7f000001": "127.0.0.1", "0X7F.1": "127.0.0.1", "0": "0.0.0.0", "0x": "0.0.0.0", "192.168.257": "192.168.1.1", "1.2.3.4": "1.2.3.4",
		"0177.0.0.1": "127.0.0.1 177.0.0.1", "010.0.0.1": "8.0.0.1 10.0.0.1", "0000000177.1": "127.0.0.1 177.0.0.1", "10.089": "10.0.0.89",
		"017700000001": "127.0.0.1", "4294967295": "255.255.255.255", "0xffffffff": "255.255.255.255", "10.16777215": "10.255.255.255",
		"4294967296": "-", "256.0.0.1": "-", "1.2.3.256": "-", "1.2.3.4.5": "-", "1..2": "-", ".1": "-", "a.1": "-", "0x100000000": "-",
		"99999999999999999999999999": "-", "10.16777216": "-", "1.2.65536": "-",
		"[::1]": "::1", "::1": "::1", "[::ffff:127.0.0.1]": "::ffff:127.0.0.1", "[fe80::1%25eth0]": "fe80::1", "fe80::1%eth0": "fe80::1",
		"[::1": "-", "[127.0.0.1]": "-", "[::ffff:0x7f.1]": "-", "a:b": "-", "[]": "-", "[v1.a]": "-", "1:2": "-",
		"example.com": "", "": "", "1.2.3.a": "", "0xg": "", "a": "", ".": "", "1e100.net": "", "1.2.3.0xz": "", "deadbeef": "", "3com": "",
	}
	for host, want := range tests {
		readings, numeric := Parse(host)
		var got []string
		for _, a := range readings {
			got = append(got, a.String())
		}
		if want == "-" && (len(got) > 0 || !numeric) || want == "" && (len(got) > 0 || numeric) {
			t.Errorf("Parse(%q) = %v, %v, want %q", host, got, numeric, want)
		}
		if want != "-" && want != "" && (strings.Join(got, " ") != want || !numeric) {
			t.Errorf("Parse(%q) = %v, %v, want %q", host, got, numeric, want)
		}
	}
}

func TestMetadataName(t *testing.T) {
	for host, want := range map[string]bool{
		"metadata.google.internal": true, "METADATA.google.INTERNAL.": true, "instance-data": true, "metadata.goog": true,
		"metadata.google.internal.example": false, "google.internal": false, "metadata": false, "": false,
	} {
		if got := MetadataName(host); got != want {
			t.Errorf("MetadataName(%q) = %v, want %v", host, got, want)
		}
	}
}

// FuzzParse: what netip reads, Parse reads too, and nothing makes it panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "0x7f.1", "[::1%25x]", "017700000001", "1.2.3.4."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		readings, numeric := Parse(host)
		if len(readings) > 0 && !numeric {
			t.Errorf("Parse(%q) has readings and is not numeric", host)
		}
		if a, err := netip.ParseAddr(host); err == nil && !slices.Contains(readings, a.WithZone("")) {
			t.Errorf("Parse(%q) = %v, netip reads %v", host, readings, a)
		}
	})
}

package ssrf

import (
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// mapping turns Unicode into the ASCII that resolvers see. It checks less than
// registrars do: what is mapped is judged, not registered.
var mapping = sync.OnceValue(func() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.ValidateLabels(false), idna.CheckHyphens(false))
})

// maxHost bounds a host before it is mapped, in bytes: 253 characters of a name are no
// more. Punycode of long labels is slow.
const maxHost = 1012

// canonical returns host as a resolver would be asked for it: percent-decoded,
// mapped to ASCII, in lower case, without a dot at the end. What can only be IPv6 stays
// as it is. ok is false if no host can look like that.
func canonical(host string) (string, bool) {
	if host != "" && (host[0] == '[' || strings.Count(host, ":") > 1) {
		return host, true
	}
	if strings.IndexByte(host, '%') >= 0 {
		plain, err := url.PathUnescape(host)
		if err != nil || !utf8.ValidString(plain) {
			return "", false
		}
		host = plain
	}
	if len(host) > maxHost {
		return "", false
	}
	if plain(host) {
		host = strings.ToLower(host)
	} else {
		mapped, err := mapping().ToASCII(host)
		if err != nil {
			return "", false
		}
		host = strings.ToLower(mapped)
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > 253 || host[0] == '.' || strings.Contains(host, "..") {
		return "", false
	}
	for i := range len(host) {
		if !hostByte(host[i]) {
			return "", false
		}
	}
	return host, true
}

// plain reports whether host means what it says: ASCII without Punycode.
func plain(host string) bool { return ascii(host) && !strings.Contains(host, "--") }

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hostByte reports whether c may be part of a name or an IPv4 address.
func hostByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_'
}

// localName reports whether a canonical name is for this machine or its network: by
// RFC 6761 and 8375, ICANN's private-use domain, hosts files, and habit.
func localName(name string) bool {
	switch name {
	case "localhost", "localhost4", "localhost6", "loopback", "broadcasthost", "ip6-localhost", "ip6-loopback", "ip6-localnet",
		"ip6-allnodes", "ip6-allrouters":
		return true
	}
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "localhost", "local", "localdomain", "localdomain4", "localdomain6", "internal", "intranet", "lan", "home", "corp", "private":
		return strings.IndexByte(name, '.') >= 0
	case "svc": // services of a Kubernetes cluster, as its own resolver knows them
		return strings.IndexByte(name, '.') >= 0
	case "arpa":
		return name == "home.arpa" || strings.HasSuffix(name, ".home.arpa")
	}
	return false
}

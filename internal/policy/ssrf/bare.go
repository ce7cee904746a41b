package ssrf

import (
	"regexp"
	"strings"
	"sync"

	"heddle/internal/dial/address"
)

// maxBare bounds how many hosts of a list are looked at.
const maxBare = 256

// bare judges a text that may be a host, or several, without a scheme.
func (in *inspection) bare(text string, p place) {
	if p == inDSN || (p == inURL || p == inLink) && !strings.Contains(text, "://") && strings.ContainsAny(text, "=(") {
		in.pairs(text)
		if p == inDSN && strings.Contains(text, "=") {
			return
		}
	}
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	if scheme, _, ok := strings.Cut(text[:min(len(text), maxScheme)], ":"); ok && opaque(strings.ToLower(scheme)) {
		return
	}
	sentence := strings.Contains(text, " ") && !strings.ContainsAny(text, ",;")
	n := 0
	for one := range strings.FieldsFuncSeq(text, func(r rune) bool { return r <= ' ' || r == ',' || r == ';' }) {
		if n++; n > maxBare {
			if p == inHost {
				in.find("too many addresses", "")
			}
			return
		}
		if strings.Contains(one, "://") || strings.IndexByte("/.~\\", one[0]) >= 0 {
			continue // a URL has been judged, a path is none
		}
		if n > 1 && len(one) < len("16777216") && strings.Trim(one, "0123456789") == "" {
			continue // a port or a count behind a host
		}
		in.bareHost(one, p, sentence)
	}
}

// bareHost judges "host", "host:port", "user@host" and "host/path".
func (in *inspection) bareHost(text string, p place, sentence bool) {
	if i := strings.IndexAny(text, "/\\?#"); i >= 0 {
		text = text[:i]
	}
	_, behind, found := cutLast(text, '@')
	if found {
		text = behind
	}
	host, port := splitPort(text)
	name, ok := canonical(host)
	if !ok {
		if p == inHost && !sentence {
			in.judge(target{host: host, port: port, rigor: fetched})
		}
		return
	}
	r := bareRigor(name, port, p)
	if sentence || found && p < inLink {
		r = min(r, int(doubtful))
	}
	if r >= 0 {
		in.judge(target{host: host, port: port, rigor: rigor(r)})
	}
}

const notAHost = -1

// bareRigor says how sure it is that a bare text is a host, or notAHost.
func bareRigor(name, port string, p place) int {
	readings, numeric := address.Parse(name)
	dotted := strings.IndexByte(name, '.') > 0
	switch {
	case numeric && len(readings) == 0:
		if p == inHost {
			return int(fetched)
		}
		return notAHost // a version
	case numeric && p < inLink: // only what cannot be a version or a count
		if name[0] == '[' || strings.Count(name, ".") == 3 || strings.Count(name, ":") > 1 || port != "" && dotted {
			return int(doubtful)
		}
		return notAHost
	case numeric, p == inHost:
		return int(fetched)
	case !dotted && port == "", p == inPlace:
		return int(doubtful) // a word, a file
	case p == inURL:
		return int(fetched)
	default:
		return int(linked)
	}
}

// pairExpr finds hosts in the ways that databases' drivers write them:
// "Server=tcp:HOST,1433", "host=HOST port=5432", "user@tcp(HOST:3306)/db",
// "thin:@HOST:1521".
var pairExpr = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:(?:^|[\s;,?&])(?:host|hostaddr|server|servers|data source|datasource|addr|address|network address|endpoint)\s*=\s*['"]?(?:tcp:|np:|lpc:)?|@?\b(?:tcp|tcp4|tcp6|udp)\(|@(?://)?)([^\s;,&()'"/@?]+)`)
})

// maxPairs bounds what is looked at of a DSN.
const maxPairs = 64

// pairs judges the hosts among key=value pairs.
func (in *inspection) pairs(text string) {
	if len(text) > maxStray*4 {
		text = text[:maxStray*4]
	}
	for _, m := range pairExpr().FindAllStringSubmatch(text, maxPairs) {
		host, port := splitPort(m[1])
		if strings.EqualFold(host, "unix") { // user@unix(/path)
			continue
		}
		in.judge(target{host: host, port: port, rigor: fetched})
	}
}

// clientExpr finds a program that connects to what it is given.
var clientExpr = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\s;|&(/"'` + "`" + `])(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|ftp|ping6?|httpie|https?|xh|nmap|rsync|socat|redis-cli|mysql|psql|mongo|mongosh|lynx|aria2c|iwr|irm|invoke-webrequest|invoke-restmethod|traceroute|grpcurl|websocat|ldapsearch|smbclient|dig|nslookup|fetch)\s`)
})

// deviceExpr finds the shell's own way to connect.
var deviceExpr = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/dev/(?:tcp|udp)/([^/\s]+)/([0-9]+)`)
})

// maxCommand bounds what is looked at of a command for addresses without a scheme.
const maxCommand = 64 << 10

// command judges what stands behind a client in a command.
func (in *inspection) command(text string) {
	text = text[:min(len(text), maxCommand)]
	if strings.Contains(text, "/dev/") {
		for _, m := range deviceExpr().FindAllStringSubmatch(text, maxPairs) {
			in.judge(target{host: m[1], port: m[2], rigor: fetched})
		}
	}
	at := clientExpr().FindStringIndex(text)
	if at == nil {
		return
	}
	for one := range strings.FieldsFuncSeq(text[at[1]:], func(r rune) bool { return r <= ' ' || strings.ContainsRune("'\"`;|&()<>=", r) }) {
		if one[0] == '-' || one[0] == '/' || strings.Contains(one, "://") {
			continue
		}
		in.bareHost(one, inPlace, false)
	}
}

package ssrf

import (
	"net/url"
	"strings"

	"heddle/internal/dial/address"
)

// rigor is how sure one may be that a host is reached.
type rigor uint8

const (
	// doubtful is a reading that few programs share: refused if it is private by its
	// spelling, not resolved.
	doubtful rigor = iota
	// linked is a link in a text. Its name may be dead.
	linked
	// fetched is what a tool connects to: it must resolve.
	fetched
)

// target is a host that is to be judged.
type target struct {
	scheme string // lower case; "" for a bare host
	host   string // as written
	port   string // digits without leading zeros; "" if there are none
	rigor  rigor
	within bool // a text goes on around it
}

// special reports whether browsers read URLs of the scheme in their lenient way, in
// which \ is / and any number of slashes will do.
func special(scheme string) bool {
	switch scheme {
	case "http", "https", "ws", "wss", "ftp":
		return true
	}
	return false
}

// networked are schemes that lead to a host that is found by its name. Under others
// ("app://settings") what stands in its place may be anything.
func networked(scheme string) bool {
	switch scheme {
	case "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "scp", "ssh", "git", "svn", "rsync", "smb", "cifs", "nfs", "afp", "ldap", "ldaps",
		"imap", "imaps", "pop3", "pop3s", "smtp", "smtps", "telnet", "rtsp", "rtsps", "rtmp", "rtmps", "mqtt", "mqtts", "amqp", "amqps",
		"redis", "rediss", "postgres", "postgresql", "mysql", "mariadb", "mongodb", "sqlserver", "mssql", "clickhouse", "cassandra", "kafka", "nats",
		"tcp", "udp", "tls", "socks", "socks4", "socks4a", "socks5", "socks5h", "rmi", "jmx", "iiop", "grpc", "grpcs", "dns", "ntp", "irc", "ircs", "vnc", "rdp",
		"memcached", "bolt", "neo4j", "webdav", "webdavs", "dav", "davs", "xmpp", "stun", "turn", "ws+http", "git+http", "git+https", "git+ssh", "svn+ssh",
		"feed", "zookeeper", "consul", "etcd", "elasticsearch", "influxdb", "hdfs", "webhdfs", "jdbc", "gopher", "dict", "finger", "tftp", "":
		return true
	}
	return false
}

// manyHosts are schemes of databases, which take several hosts with commas between.
func manyHosts(scheme string) bool {
	switch scheme {
	case "mongodb", "postgres", "postgresql", "mysql", "mariadb", "redis", "rediss", "kafka", "amqp", "amqps", "zookeeper", "nats", "cassandra", "etcd", "elasticsearch", "sqlserver":
		return true
	}
	return false
}

// refusedScheme reports whether a scheme reads this machine or lets one speak
// someone else's protocol, and has no use in a call.
func refusedScheme(scheme string) bool {
	switch scheme {
	case "file", "netdoc", "local_file", "local-file", "unix", "npipe", "gopher", "gophers", "dict", "finger", "tftp", "jar", "php", "phar", "expect",
		"glob", "ogg", "zip", "compress.zlib", "compress.bzip2":
		return true
	}
	return strings.HasSuffix(scheme, "+unix") || strings.HasSuffix(scheme, "+file")
}

// opaque reports whether a URL of the scheme names no host.
func opaque(scheme string) bool {
	switch scheme {
	case "mailto", "tel", "sms", "urn", "data", "javascript", "about", "magnet", "geo", "cid", "mid", "arn", "news", "spotify", "bitcoin", "did", "doi", "tag", "isbn":
		return true
	}
	return false
}

// wrapper reports whether what follows the scheme is a URL of its own.
func wrapper(scheme string) bool {
	switch scheme {
	case "view-source", "blob", "jar", "filesystem", "feed", "url", "uri", "jdbc", "wyciwyg", "pcast", "webcal":
		return true
	}
	return false
}

// isScheme reports whether text is the scheme of a URL. One letter is a drive.
func isScheme(text string) bool {
	if len(text) < 2 || len(text) > maxScheme || !letter(text[0]) {
		return false
	}
	for i := range len(text) {
		if !schemeByte(text[i]) {
			return false
		}
	}
	return true
}

const maxScheme = 32

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func schemeByte(c byte) bool {
	return letter(c) || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.' || c == '_'
}

func slash(c byte) bool { return c == '/' || c == '\\' }

// slashes returns how many slashes of either kind text begins with.
func slashes(text string) int {
	n := 0
	for n < len(text) && slash(text[n]) {
		n++
	}
	return n
}

// Where an authority ends: with a slash of either kind, ? and #, and in a text also with
// white space or a quote. To some programs only / ends it.
const (
	ends         = "/\\?#"
	endsWithin   = ends + quotes
	strays       = "/"
	straysWithin = strays + quotes
	quotes       = "\"'<>` \t\n\r\x00"
)

// punctuation ends a sentence, or what marks a word in it.
const punctuation = ".,;:!?*~)"

// maxStray bounds how far an unusual reading looks, so that scanning stays linear.
const maxStray = 1024

// authorities judges every host that programs read from what follows the slashes of
// a URL.
func (in *inspection) authorities(t target, rest string) {
	usual, unusual := ends, strays
	if t.within {
		usual, unusual = endsWithin, straysWithin
	}
	end := indexAny(rest, usual)
	in.authority(t, rest[:end])
	if end == len(rest) || rest[end] == '/' {
		return
	}
	// A backslash, ? or # does not end for everybody what is before an @.
	stray := rest[:min(len(rest), end+maxStray)]
	stray = stray[:indexAny(stray, unusual)]
	if i := strings.LastIndexByte(stray, '@'); i > end {
		t.rigor = doubtful
		in.hostPort(t, stray[i+1:])
	}
}

// indexAny is [strings.IndexAny] for what is near, and the end where there is nothing.
func indexAny(text, chars string) int {
	for i := range len(text) {
		if strings.IndexByte(chars, text[i]) >= 0 {
			return i
		}
	}
	return len(text)
}

// maxAts bounds how many @ of one authority are looked at.
const maxAts = 8

// authority judges the host behind the last @, and any between, which some programs
// take.
func (in *inspection) authority(t target, text string) {
	user, host, found := cutLast(text, '@')
	if !found {
		host = text
	}
	if manyHosts(t.scheme) {
		for i := 0; i < maxAts; i++ {
			one, rest, more := strings.Cut(host, ",")
			in.hostPort(t, one)
			if host = rest; !more {
				break
			}
		}
	} else {
		in.hostPort(t, host)
	}
	t.rigor = doubtful
	if _, between, more := strings.Cut(user, "@"); more {
		for i := 0; more && i < maxAts; i++ {
			var one string
			one, between, more = strings.Cut(between, "@")
			in.hostPort(t, one)
		}
	}
	if strings.Contains(host, "%40") {
		if plain, err := url.PathUnescape(host); err == nil {
			_, behind, _ := cutLast(plain, '@')
			in.hostPort(t, behind)
		}
	}
}

func cutLast(text string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(text, sep); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return "", text, false
}

// hostPort splits host and port and judges the host.
func (in *inspection) hostPort(t target, text string) {
	if t.within { // the punctuation of the sentence around it
		text = strings.TrimRight(text, punctuation)
	}
	t.host, t.port = splitPort(text)
	if t.host == "" {
		return
	}
	in.judge(t)
}

// splitPort cuts a port off. What is no port is ignored; an IPv6 address without
// brackets stays whole.
func splitPort(text string) (host, port string) {
	host = text
	if strings.HasPrefix(text, "[") {
		if i := strings.IndexByte(text, ']'); i >= 0 {
			host, port = text[:i+1], strings.TrimPrefix(text[i+1:], ":")
			if port == text[i+1:] && port != "" { // [::1]x
				return text, ""
			}
		}
	} else if i := strings.IndexByte(text, ':'); i >= 0 {
		if readings, _ := address.Parse(text); len(readings) > 0 {
			return text, ""
		}
		host, port = text[:i], text[i+1:]
	}
	if port == "" || strings.Trim(port, "0123456789") != "" {
		return host, ""
	}
	return host, strings.TrimLeft(port, "0")
}

// defaultPort is the port of a scheme, "" if it is not known.
func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	case "ftp":
		return "21"
	case "ssh", "sftp", "scp":
		return "22"
	case "postgres", "postgresql":
		return "5432"
	case "mysql", "mariadb":
		return "3306"
	case "redis", "rediss":
		return "6379"
	case "mongodb":
		return "27017"
	case "amqp":
		return "5672"
	}
	return ""
}

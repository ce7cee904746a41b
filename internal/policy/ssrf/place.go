package ssrf

import (
	"strings"

	"heddle/internal/walk"
)

// place is where a text stands, which says how much of it is an address.
type place uint8

const (
	// inText holds links at most.
	inText place = iota
	// inPattern is a regular expression or a glob.
	inPattern
	// inCommand holds URLs that are fetched, and addresses behind a client's name.
	inCommand
	// inPlace may hold a bare address, and just as well a path or a word: target,
	// source.
	inPlace
	// inEndpoint may hold a bare host, and just as well something else: server, address.
	inEndpoint
	// inLink holds a URL, or a path: uri, href.
	inLink
	// inURL holds a URL, or a host with or without a path.
	inURL
	// inDSN holds a URL, or key=value pairs with hosts among them.
	inDSN
	// inHost holds hosts.
	inHost
)

// placeOf says what a member is for by its name.
func placeOf(name string) place {
	last, before := lastWord(name)
	p := placeOfWord(string(last.lower()))
	if p == inText || p == inPlace || p == inEndpoint || p == inURL || p == inLink {
		if two := placeOfPair(string(before.lower()), string(last.lower())); two != inText {
			return two
		}
	}
	if p >= inPlace && passive(string(before.lower())) {
		return inText
	}
	if p == inHost && (before.n > 0 && !service(string(before.lower())) || strings.HasSuffix(name, "osts")) {
		return inEndpoint // hosts to filter by, "azureComputeHost"
	}
	return p
}

// placeOfWord knows the last word of a name, without its plural s.
func placeOfWord(word string) place {
	switch word {
	case "host", "hostname", "hostport", "hostaddr", "ip", "ipv4", "ipv6", "ipaddr", "ipaddress", "fqdn", "proxy", "proxie", "nameserver", "broker",
		"bootstrapserver", "netloc":
		return inHost
	case "url", "webhook", "weburl", "baseurl", "apiurl", "imageurl", "fileurl", "targeturl", "callbackurl", "webhookurl", "redirecturl", "sourceurl":
		return inURL
	case "dsn", "connstr", "connectionstring", "connstring", "jdbcurl", "databaseurl":
		return inDSN
	case "uri", "href", "link", "iri", "website", "webpage", "site", "homepage", "baseuri", "redirecturi":
		return inLink
	case "endpoint", "server", "addr", "address", "addresse", "callback", "remote", "upstream", "gateway", "peer", "domain", "listener", "hook", "backend",
		"connection", "conn", "origin", "registry", "relay", "tracker", "mirror", "node", "apibase", "connect":
		return inEndpoint
	case "target", "source", "src", "destination", "dest", "dst", "location", "base", "redirect", "page", "feed", "to", "from", "next", "goto", "resource":
		return inPlace
	case "cmd", "command", "shell", "script", "bash", "exec", "args", "arg", "argv", "powershell", "sh":
		return inCommand
	case "regex", "regexp", "pattern", "glob", "rx":
		return inPattern
	}
	return inText
}

// placeOfPair knows names whose last word alone says little.
func placeOfPair(before, last string) place {
	switch {
	case last == "name" && before == "host", last == "server" && before == "bootstrap", (last == "address" || last == "addr") && before == "ip":
		return inHost
	case (last == "url" || last == "uri") && (before == "database" || before == "db" || before == "sql" || before == "connection" || before == "conn"),
		last == "string" && (before == "connection" || before == "conn"), last == "str" && before == "conn":
		return inDSN
	case (last == "line" || last == "string") && before == "command":
		return inCommand
	}
	return inText
}

// service reports whether the word before "host" or "ip" says who is connected to.
func service(before string) bool {
	switch before {
	case "db", "database", "sql", "redis", "cache", "smtp", "mail", "email", "imap", "pop3", "mysql", "mariadb", "postgres", "postgresql", "pg", "mongo", "mongodb",
		"remote", "target", "proxy", "http", "https", "socks", "all", "server", "ssh", "ftp", "sftp", "ldap", "amqp", "rabbitmq", "mqtt", "kafka", "nats", "elasticsearch", "es", "api", "service", "backend",
		"upstream", "source", "src", "destination", "dest", "dst", "jump", "bastion", "base", "forwarded", "docker", "device", "node", "printer", "router", "vm", "machine", "web", "bootstrap", "broker":
		return true
	}
	return false
}

// passive reports whether the word before makes a name one of hosts that are not
// reached: bind_address, allowed_hosts, mac_address.
func passive(before string) bool {
	switch before {
	case "bind", "listen", "allowed", "allow", "denied", "deny", "blocked", "block", "no", "trusted", "virtual", "mac", "email", "mail", "postal",
		"street", "home", "wallet", "contract", "billing", "shipping", "ethereum", "eth", "btc", "token", "memory", "physical", "bus", "book":
		return true
	}
	return false
}

// word is a part of a member's name: database_url, databaseUrl and DATABASE-URL have
// two. It is kept where it is made: names are looked at for every text.
type word struct {
	text [24]byte
	n    int
}

func (w *word) lower() []byte { return w.text[:w.n] }

// lastWord returns the last two words of a name in lower case, the last without digits
// at its end and without a plural s. Words that are too long are cut, and so unknown.
func lastWord(name string) (last, before word) {
	end := len(name)
	for end > 0 && (digit(name[end-1]) || separator(name[end-1])) {
		if end > 2 && name[end-2]|0x20 == 'v' { // ipv4
			break
		}
		end--
	}
	start := wordStart(name, end)
	last.set(name[start:end])
	if last.n > 3 && last.text[last.n-1] == 's' && last.text[last.n-2] != 's' && string(last.lower()) != "args" {
		last.n--
	}
	for start > 0 && separator(name[start-1]) {
		start--
	}
	before.set(name[wordStart(name, start):start])
	return last, before
}

func (w *word) set(text string) {
	for w.n = 0; w.n < len(text) && w.n < len(w.text); w.n++ {
		w.text[w.n] = text[w.n]
		if letter(text[w.n]) {
			w.text[w.n] |= 0x20
		}
	}
}

// wordStart returns where the word that ends at end begins.
func wordStart(name string, end int) int {
	i := end
	for i > 0 && !separator(name[i-1]) {
		i--
		if i > 0 && upper(name[i]) && (!upper(name[i-1]) || i+1 < end && !upper(name[i+1])) {
			break // databaseUrl, HTTPProxy
		}
	}
	return i
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func digit(c byte) bool { return c >= '0' && c <= '9' }
func separator(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c == ' ' || c == '/' || c == '$' || c == '[' || c == ']'
}

// look judges one text of the arguments.
func (in *inspection) look(t *walk.Text) {
	switch t.Kind {
	case walk.String:
		in.text(t.Value, placeOf(t.Name))
	case walk.Name:
		in.text(t.Value, inText)
	case walk.Number:
		// Smaller ones are below 1.0.0.0: counts and indexes, whatever their name.
		if len(t.Value) >= len("16777216") && placeOf(t.Name) >= inLink {
			in.text(t.Value, placeOf(t.Name))
		}
	}
}

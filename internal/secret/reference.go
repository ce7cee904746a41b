package secret

import "strings"

// reference reports whether the value at start to end of the name at from is an
// expression of source code that refers to a value: self.x, a.b.c, f(x), x["name"], or a
// variable after the key of a literal.
func reference(text string, from, start, end int, how manner) bool {
	if how != bare && how != line && how != prose {
		return false
	}
	stop, parts := chain(text, start)
	if parts == 0 || stop > start+longestPassword {
		return false
	}
	if v := text[start:stop]; parts > 1 && receivers[v[:word.run(v, 0, 8)]] {
		return stop >= end || strings.IndexByte("[(.,;)]}", text[stop]) >= 0
	}
	if randomPart(text[start:stop], 10) {
		return false
	}
	if stop < len(text) && (text[stop] == '[' || text[stop] == '(') {
		return applied(text, start, stop)
	}
	if stop < end || how == prose || from > 0 && text[from-1] == ';' {
		return false // all of the pairs a=b;c=d are settings
	}
	if parts == 1 {
		return how == bare && from > 0 && (text[from-1] == '"' || text[from-1] == '\'') && colonBefore(text, start) && literalAfter(text, stop)
	}
	// Of a line NAME=value and of YAML any value is taken at its word.
	if stop < len(text) && strings.IndexByte(",;)", text[stop]) >= 0 && (text[stop] == ')' || stop+1 == len(text) || strings.IndexByte(" \t\r\n\\", text[stop+1]) >= 0) {
		return true
	}
	return how == bare && strings.HasSuffix(text[:start], "= ") && (parts > 2 || strings.Contains(text[start:stop], "_"))
}

// receivers are the names that programs have for the object they are in.
var receivers = set("self this cls super")

// chain returns the end of the identifiers at i that are joined as members of each other,
// and how many there are.
func chain(text string, i int) (end, parts int) {
	for at := i; ; parts++ {
		next := word.run(text, at, longestName)
		if next == at || digit.has(text[at]) {
			return end, parts
		}
		at, end = next, next
		for _, join := range [...]string{".", "?.", "->", "::"} {
			if strings.HasPrefix(text[at:], join) {
				at += len(join)
				break
			}
		}
		if at == end {
			return end, parts + 1
		}
	}
}

// applied reports whether what is called or indexed at the bracket at i is: a password
// may have brackets as well. After a name with digits there must be what only code has.
func applied(text string, start, i int) bool {
	rest := text[i+1 : min(len(text), i+longestPassword)]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	member := strings.ContainsAny(text[start:i], "._") && digits(text[start:i]) == 0
	if rest = strings.TrimRight(rest, " \t\r"); rest == "" {
		return member
	}
	rest = strings.TrimPrefix(rest, `\`)
	if rest != "" && strings.IndexByte("\"'`", rest[0]) >= 0 {
		return true
	}
	shut := strings.IndexAny(rest, ")]")
	if shut < 0 {
		return member
	}
	after := shut + 1
	return (member || shut == 0) && (after == len(rest) || strings.IndexByte(" ,;.)]}[(", rest[after]) >= 0)
}

// colonBefore reports whether a colon stands before the value at i.
func colonBefore(text string, i int) bool {
	return strings.HasSuffix(strings.TrimRight(text[max(0, i-64):i], " \t"), ":")
}

// literalAfter reports whether a literal of code goes on or ends at i.
func literalAfter(text string, i int) bool {
	for limit := min(len(text), i+64); i < limit && strings.IndexByte(" \t\r\n", text[i]) >= 0; {
		i++
	}
	return i < len(text) && strings.IndexByte(",})]", text[i]) >= 0
}

// plainPath reports whether v is the path of a file that has no more than one separator,
// or is relative: /etc, certs/server.pem, $HOME/.netrc.
func plainPath(v string) bool {
	if len(v) > longestPassword || !strings.Contains(v, "/") || randomPart(v, 8) {
		return false
	}
	if v[0] == '/' {
		return strings.Count(v, "/") == 1 && len(v) <= 32 && (letter | dash | underscore | dot).all(v[1:])
	}
	if v[0] == '$' {
		n := strings.IndexByte(v, '/')
		return n > 1 && (upper | underscore).all(v[1:n]) && path.all(v[n:])
	}
	return nameByte.all(strings.ReplaceAll(v, "/", "")) && files[v[strings.LastIndexByte(v, '.')+1:]]
}

// files are the extensions of files that settings name.
var files = set("pem key crt cer der p12 pfx jks pub asc gpg json yaml yml toml ini cfg conf env txt xml sock db sh py js ts go")

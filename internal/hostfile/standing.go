package hostfile

import (
	"fmt"
	"slices"
	"strings"
)

// Standing is how heddle stands to a server of a host's.
type Standing struct {
	// Same is true if heddle runs that very server, so that its host would pay for it
	// twice.
	Same bool
	// Why says why not, where heddle has something of the kind; "" where it has nothing.
	Why string
	// Differs says what heddle does in another way, where it is the same: a sentence for
	// each thing.
	Differs []string
}

// Stay is a server that its host goes on starting, or could, beside heddle.
type Stay struct {
	Server Server
	// Why it stays.
	Why string
}

// String returns the server and the reason, without any value.
func (s Stay) String() string { return s.Server.String() + ": " + s.Why }

// SameName returns a Replace for servers that are called one of names, as the
// host or as heddle writes it.
func SameName(names ...string) func(Server) Standing {
	return func(s Server) Standing { return Standing{Same: s.Unusable == "" && s.Called(names...)} }
}

// Called reports whether the server has one of names, as its host or as heddle writes
// it.
func (s Server) Called(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, s.Name) || name == plainName(s.Name) })
}

// stand returns how heddle stands to a server.
func (r *Request) stand(s Server) Standing {
	if r.Replace == nil {
		return Standing{}
	}
	return r.Replace(s)
}

// stays says why an entry stays that heddle does not stand in for.
func stays(s Server, st Standing) string {
	switch {
	case s.Disabled:
		return "it is disabled there, and costs nothing"
	case st.Why != "":
		return st.Why
	case s.Unusable != "":
		return "heddle cannot run it: " + s.Unusable
	}
	return "heddle does not have it"
}

// others says what an install finds of another heddle, or of its own with another
// configuration.
func others(s Server, entry Entry) string {
	at := slices.Index(s.Args, "--config")
	if at < 0 || at+1 == len(s.Args) || s.Args[at+1] == escape(entry.Config) {
		return ""
	}
	return fmt.Sprintf("heddle was there already, with %s: the host has %s in its place from now on", unescape(s.Args[at+1]), entry.Config)
}

// unescape is escape in reverse, for text without references.
func unescape(s string) string { return strings.ReplaceAll(s, "$$", "$") }

// back returns the names of the servers that are in a file after a change and were not
// before it, but for one.
func back(f File, before, after []byte, but string) []string {
	if after == nil {
		return nil
	}
	now, err := readServers(f, after)
	if err != nil {
		return nil // the edit was checked: this is for people alone
	}
	var was []Server
	if before != nil {
		was, _ = readServers(f, before)
	}
	var out []string
	for _, s := range now {
		there := slices.ContainsFunc(was, func(o Server) bool { return o.Name == s.Name && o.Project == s.Project })
		if !there && s.Project == "" && s.Name != but {
			out = append(out, s.Name)
		}
	}
	return out
}

package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"heddle"
)

// Snapshot is an immutable set of tools. Its methods may be called by several
// goroutines.
type Snapshot struct {
	tools    []*heddle.Tool
	held     []Held
	denied   []heddle.ToolRef // by allow and deny lists
	servers  []ServerInfo
	warnings []Warning
	digest   string
	names    map[string]*heddle.Tool // every mode but native
	native   map[string]*heddle.Tool
	notes    map[heddle.ToolRef][]note // by tool, for the next build
	index    *lazyIndex                // shared with snapshots of equal tools
}

// ServerInfo is what texts say about a server.
type ServerInfo struct {
	// Name is the normalised server name.
	Name string
	// Tools counts the authorized tools; 0 if not Known.
	Tools int
	// Known is false for a server that has not listed its tools yet.
	Known bool
	// State and Instructions are those of the [Source].
	State, Instructions string
}

// Tools returns all tools: servers as declared, each one's tools as it listed
// them. The slice is shared; do not modify it.
func (s *Snapshot) Tools() []*heddle.Tool { return s.tools }

// Servers returns the servers in the order of declaration. The slice is shared;
// do not modify it.
func (s *Snapshot) Servers() []ServerInfo { return s.servers }

// Warnings returns what is odd about the definitions, in the order of the
// definitions, then what is odd about the names. The slice is shared; do not
// modify it.
func (s *Snapshot) Warnings() []Warning { return s.warnings }

// Digest returns a hex SHA-256 that changes exactly when something changes that
// a host could see: names, definitions, order, servers, counts, instructions.
// Key order and white space of definitions do not count, nor do server states.
func (s *Snapshot) Digest() string { return s.digest }

// Unchanged reports whether a host could see no difference between a and b.
func Unchanged(a, b *Snapshot) bool { return a.Digest() == b.Digest() }

// digestOf hashes what hosts see. Every text goes in with its length, so that no
// two sequences run together.
func digestOf(servers []ServerInfo, tools []*heddle.Tool) string {
	var buf []byte
	add := func(texts ...string) {
		for _, t := range texts {
			buf = binary.AppendUvarint(buf, uint64(len(t)))
			buf = append(buf, t...)
		}
	}
	number := func(n int) { buf = binary.AppendUvarint(buf, uint64(n)) }
	number(len(servers))
	for _, s := range servers {
		add(s.Name, s.Instructions)
		if s.Known {
			number(s.Tools + 1)
		} else {
			number(0)
		}
	}
	for _, t := range tools {
		add(t.Ref.Server, t.Ref.Name, t.Exposed, t.Native, t.Fingerprint, t.Note)
	}
	sum := sha256.Sum256(buf)
	return hex.EncodeToString(sum[:])
}

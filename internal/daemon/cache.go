package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/internal/config"
	"heddle/internal/upstream"
)

// catalogCache keeps what servers listed when they last ran, one file a server,
// named by a digest of all that makes it the server that it is: a changed
// command, argument, variable, URL or header is another server. What it holds is
// a hint, never a truth: a server lists anew before its first call goes up.
type catalogCache struct {
	dir    string // "" keeps nothing
	logger *slog.Logger
}

// maxCached bounds what is kept of one server, in bytes.
const maxCached = 32 << 20

// identity is what a server's file is named by.
func identity(ours []string, s *config.Server) string {
	parts := []string{"1", s.Command, strings.Join(s.Args, "\x00"), s.Cwd, s.URL, s.Type}
	for _, kv := range ours {
		if key, _, _ := strings.Cut(kv, "="); slices.Contains(s.EnvPassthrough, key) {
			parts = append(parts, kv)
		}
	}
	parts = append(parts, pairs(s.Env)...)
	parts = append(parts, pairs(s.Headers)...)
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x01")))
	return hex.EncodeToString(sum[:])
}

// pairs returns a map's entries in order.
func pairs(m map[string]string) []string {
	var out []string
	for k, v := range m {
		out = append(out, k+"\x00"+v)
	}
	slices.Sort(out)
	return out
}

func (c catalogCache) path(id string) string { return filepath.Join(c.dir, id+".json") }

// load returns what is known of a server, nil if nothing is. A damaged file is
// as good as none.
func (c catalogCache) load(id string) *upstream.Known {
	if c.dir == "" {
		return nil
	}
	info, err := os.Stat(c.path(id))
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	raw, err := os.ReadFile(c.path(id))
	if err != nil {
		return nil
	}
	k := &upstream.Known{}
	if err = json.Unmarshal(raw, k); err == nil && k.Protocol == "" {
		err = errors.New("it does not say what the server speaks")
	}
	if err != nil {
		c.logger.Warn("cached catalog not used", "file", c.path(id), "err", err)
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(c.path(id), now, now) // how old a file is says when it was last of use
	return k
}

// keptFor is how long a file of no use is kept: a server's changes leave the one
// of before behind.
const keptFor = 90 * 24 * time.Hour

// prune removes files that have not been of use for long.
func (c catalogCache) prune() {
	entries, _ := os.ReadDir(c.dir) // a directory that cannot be read has nothing to remove
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > keptFor {
			_ = os.Remove(filepath.Join(c.dir, e.Name())) // another heddle may have done so
		}
	}
}

// store writes what a server lists. The file is whole or not there; several
// heddles may write it, and the last one wins.
func (c catalogCache) store(id string, s *upstream.Server) {
	if c.dir == "" {
		return
	}
	l := s.Listing()
	if !l.Listed || l.State != upstream.StateReady {
		return
	}
	raw, err := encode(&upstream.Known{
		Tools: l.Tools, Lists: l.Lists, Instructions: l.Instructions, Protocol: s.Status().Protocol, Features: l.Features,
	})
	if err == nil && len(raw) <= maxCached {
		if old, readErr := os.ReadFile(c.path(id)); readErr == nil && string(old) == string(raw) {
			return
		}
		if err = writePrivate(c.path(id), raw); err == nil {
			c.prune()
		}
	}
	if err != nil {
		c.logger.Warn("catalog not cached", "server", s.Name(), "err", err)
	}
}

// encode returns the file of what is known. Definitions keep their bytes, which
// hosts and their caches compare; [json.Marshal] would write them anew.
func encode(k *upstream.Known) ([]byte, error) {
	rest, err := json.Marshal(struct {
		Instructions string            `json:"instructions"`
		Protocol     string            `json:"protocol"`
		Features     upstream.Features `json:"features"`
	}{k.Instructions, k.Protocol, k.Features})
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"tools":`), array(k.Tools)...)
	b = append(b, `,"lists":{`...)
	for i, method := range slices.Sorted(maps.Keys(k.Lists)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `"`+method...), `":`...), array(k.Lists[method])...)
	}
	return append(append(b, `},`...), rest[1:]...), nil
}

func array(items []json.RawMessage) []byte {
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	return append(b, ']')
}

// writePrivate replaces a file at once, readable to the user alone.
func writePrivate(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

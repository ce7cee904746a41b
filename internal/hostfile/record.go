package hostfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// record says how to get back from an install. It is on the disk before the
// first byte of a host's file changes. When the way back was taken it is put aside: a
// host that had the file in memory may write it as it was.
type record struct {
	Version int          `json:"version"`
	Host    string       `json:"host"`
	Scope   Scope        `json:"scope"`
	Mode    Mode         `json:"mode"`
	Time    time.Time    `json:"time"`
	Files   []recordFile `json:"files"`
}

// recordFile is one file of a record.
type recordFile struct {
	// Path is as the host has it, Target without links.
	Path   string `json:"path"`
	Target string `json:"target"`
	// Original is the digest of what the file was, absent if it was not there. The
	// bytes are in a file of their own, so that a person can copy them.
	Original string `json:"original"`
	// Written are the digests of what heddle made of it, the latest last. There are
	// several after an install over an install, for the time until the file is
	// replaced.
	Written []string `json:"written"`
	// Undone is the digest of what a rollback makes of it; "" before one.
	Undone string `json:"undone,omitempty"`
	// Ops lead from Original to the latest of Written.
	Ops []op `json:"ops"`
	// Dirs are the directories that were made for it, outermost first.
	Dirs []string `json:"dirs,omitempty"`

	data []byte // the original
}

const recordVersion = 1

// file returns what the record has about a file, nil for nothing; r may be nil.
func (r *record) file(path string) *recordFile {
	if r == nil {
		return nil
	}
	i := slices.IndexFunc(r.Files, func(f recordFile) bool { return f.Path == path })
	if i < 0 {
		return nil
	}
	return &r.Files[i]
}

// existed reports whether the file was there before the install.
func (f recordFile) existed() bool { return f.Original != absent }

// vault is the directory with the records.
type vault struct{ dir string }

// key names the record of a file: readable, and never that of another file.
func (v vault) key(f File) string {
	sum := sha256.Sum256([]byte(f.Path))
	return fmt.Sprintf("%s-%s-%s", f.Host.Name, f.Scope, hex.EncodeToString(sum[:6]))
}

func (v vault) path(key string) string { return filepath.Join(v.dir, key+".json") }

// original is where the bytes of a record's file are.
func (v vault) original(key string, f recordFile) string {
	return filepath.Join(v.dir, key+"-"+f.Original[:16]+".orig")
}

// load returns the record of a key, and what names its present state; nil if
// there is none.
func (v vault) load(key string) (*record, string, error) {
	return v.read(v.path(key), func(f recordFile) string { return v.original(key, f) })
}

// read reads a record whose originals are where original says.
func (v vault) read(path string, original func(recordFile) string) (*record, string, error) {
	snap, err := load(path)
	if err != nil || !snap.exists {
		return nil, snap.state(), err
	}
	r := &record{}
	if err := json.Unmarshal(snap.data, r); err != nil || r.Version != recordVersion {
		return nil, "", &Error{Path: snap.path, Message: "is no record of this heddle's", Hint: "move it away; the originals beside it end in .orig", Err: err}
	}
	for i := range r.Files {
		if f := &r.Files[i]; f.existed() {
			was, err := load(original(*f))
			if err != nil {
				return nil, "", err
			}
			if digest(was.data) != f.Original {
				return nil, "", &Error{Path: was.path, Message: "is not the original any more", Hint: "restore " + f.Path + " by hand, then move " + snap.path + " away"}
			}
			f.data = was.data
		}
	}
	return r, snap.state(), nil
}

// save writes the originals, then the record that needs them.
func (v vault) save(key string, r *record, step stepper) error {
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return reason(v.dir, err)
	}
	for _, f := range r.Files {
		if !f.existed() {
			continue
		}
		path := v.original(key, f)
		if exists(path) {
			continue
		}
		if err := writePrivate(path, f.data, step); err != nil {
			return err
		}
	}
	out, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	return writePrivate(v.path(key), append(out, '\n'), step)
}

// drop removes a record and its originals.
func (v vault) drop(key string) error {
	if err := os.Remove(v.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return reason(v.path(key), err)
	}
	return v.dropOriginals(key, nil)
}

// dropOriginals removes the originals of key that r does not need.
func (v vault) dropOriginals(key string, r *record) error {
	found, err := filepath.Glob(filepath.Join(v.dir, key+"-*.orig"))
	if err != nil {
		return err
	}
	for _, path := range found {
		if r != nil && slices.ContainsFunc(r.Files, func(f recordFile) bool { return f.existed() && v.original(key, f) == path }) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return reason(path, err)
		}
	}
	return nil
}

// aside is what begins the names of records that were put aside, then comes when.
const aside = "old-"

// keptAside is how many records of one file are kept once they are not needed.
const keptAside = 10

// archive puts a record aside: what it holds may exist nowhere else. It returns where
// the originals are now, and deletes the oldest of those that were put aside before.
func (v vault) archive(key string, now time.Time) ([]string, error) {
	prefix := aside + now.UTC().Format("20060102T150405.000000000") + "-"
	files, err := filepath.Glob(filepath.Join(v.dir, key+"-*.orig"))
	if err != nil {
		return nil, err
	}
	var originals []string
	for _, path := range append(files, v.path(key)) { // the record last: it says that there is something to do
		to := filepath.Join(v.dir, prefix+filepath.Base(path))
		if err := os.Rename(path, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, reason(path, err)
		}
		if strings.HasSuffix(to, ".orig") {
			originals = append(originals, to)
		}
	}
	return originals, v.prune(key)
}

// archived lists the records of key that were put aside, the latest first.
func (v vault) archived(key string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(v.dir, aside+"*-"+key+".json"))
	slices.Sort(paths)
	slices.Reverse(paths)
	return paths, err
}

// prune deletes what was put aside long ago.
func (v vault) prune(key string) error {
	paths, err := v.archived(key)
	if err != nil {
		return err
	}
	for _, path := range paths[min(len(paths), keptAside):] {
		originals, err := filepath.Glob(strings.TrimSuffix(path, ".json") + "-*.orig")
		if err != nil {
			return err
		}
		for _, old := range append(originals, path) {
			if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return reason(old, err)
			}
		}
	}
	return nil
}

// latest returns the record that was put aside last, and where the original of f is; nil
// if there is none that can be read.
func (v vault) latest(key string, f File) (r *record, original string) {
	paths, err := v.archived(key)
	if err != nil || len(paths) == 0 {
		return nil, ""
	}
	stem := strings.TrimSuffix(paths[0], ".json")
	at := func(f recordFile) string { return stem + "-" + f.Original[:16] + ".orig" }
	if r, _, err = v.read(paths[0], at); err != nil || r == nil {
		return nil, ""
	}
	if own := r.file(f.Path); own != nil && own.existed() {
		original = at(*own)
	}
	return r, original
}

// Installation is one that can be rolled back.
type Installation struct {
	Host  string
	Scope Scope
	Mode  Mode
	// Path is the host's file, Time when heddle got into it.
	Path string
	Time time.Time
}

// Installed lists the installations that can be rolled back, on whatever
// directory of this machine, by path.
func (e *Editor) Installed() ([]Installation, error) {
	entries, err := os.ReadDir(e.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, reason(e.State, err)
	}
	var out []Installation
	for _, entry := range entries {
		key, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || strings.HasPrefix(key, aside) || strings.HasPrefix(key, ".") {
			continue
		}
		r, _, err := e.vault().load(key)
		if err != nil {
			return nil, err
		}
		if r != nil && len(r.Files) > 0 {
			out = append(out, Installation{r.Host, r.Scope, r.Mode, r.Files[0].Path, r.Time})
		}
	}
	slices.SortFunc(out, func(a, b Installation) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

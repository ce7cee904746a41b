package quarantine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	idPrefix  = "q_"
	idLetters = 12

	metaSuffix = ".json"
	rawSuffix  = ".raw"
	tempSuffix = ".tmp"
	lockName   = "lock"

	// maxMeta is longer than any file that tells of a result.
	maxMeta = 1 << 20
)

// validID reports whether an ID is of the form that the store gives, so that it is a
// file's name and nothing else.
func validID(id string) bool {
	letters, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(letters) != idLetters {
		return false
	}
	for _, c := range []byte(letters) {
		if (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

func (s *Store) metaPath(id string) string { return filepath.Join(s.dir, id+metaSuffix) }
func (s *Store) rawPath(id string) string  { return filepath.Join(s.dir, id+rawSuffix) }

// makePrivate makes a directory that others cannot enter.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// write writes both files of a result. The one that tells of it comes last: without it
// there is no result. The caller holds the lock.
func (s *Store) write(id string, meta, raw []byte) error {
	if _, err := os.Lstat(s.metaPath(id)); err == nil {
		return errors.New("the new name is taken") // one in 10^15
	}
	if err := replace(s.rawPath(id), raw); err != nil {
		return err
	}
	if err := replace(s.metaPath(id), meta); err != nil {
		_ = os.Remove(s.rawPath(id))
		return err
	}
	return nil
}

// encode returns the file that tells of an item.
func (it *Item) encode() ([]byte, error) {
	b, err := json.Marshal(it)
	return append(b, '\n'), err
}

// replace puts data at a path as one step. The caller holds the lock.
func replace(path string, data []byte) error {
	temp := path + tempSuffix
	_ = os.Remove(temp) // of one that was killed
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// readMeta reads what is known of a result. The error wraps ErrNotFound or ErrDamaged.
func (s *Store) readMeta(id string) (Item, error) {
	f, err := openRegular(s.metaPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Item{}, ErrNotFound
	}
	if err != nil {
		return Item{}, damaged(err)
	}
	defer f.Close()
	var it Item
	b, err := io.ReadAll(io.LimitReader(f, maxMeta))
	if err == nil {
		err = json.Unmarshal(b, &it)
	}
	if err == nil && (it.ID != id || it.Bytes < 0) {
		err = errors.New("it tells of another result")
	}
	if err != nil {
		return Item{}, damaged(err)
	}
	return it, nil
}

// openRaw opens the bytes of a result that is told of.
func (s *Store) openRaw(id string) (*os.File, error) {
	f, err := openRegular(s.rawPath(id))
	if err != nil {
		return nil, damaged(err)
	}
	return f, nil
}

func damaged(err error) error { return fmt.Errorf("quarantine: %w: %v", ErrDamaged, err) }

// openRegular opens a file, not what a link leads to, and waits for no pipe.
func openRegular(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return os.Open(path)
}

// kept is one result in the directory.
type kept struct {
	id    string
	item  Item
	err   error     // why item is not known
	time  time.Time // the item's; else that of the file
	bytes int64     // on disk
}

// scan returns the results in the directory in the order in which they go: what cannot
// be read, then the oldest first. The caller holds the lock.
func (s *Store) scan() ([]kept, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var all []kept
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), metaSuffix)
		if !ok || !validID(id) {
			continue
		}
		k := kept{id: id}
		if info, err := e.Info(); err == nil {
			k.time, k.bytes = info.ModTime(), info.Size()
		}
		if k.item, k.err = s.readMeta(id); k.err == nil {
			k.time = k.item.Time
		}
		switch info, err := os.Lstat(s.rawPath(id)); {
		case err == nil:
			k.bytes += info.Size()
			if k.err == nil && info.Size() != int64(k.item.Bytes) {
				k.err = damaged(fmt.Errorf("there are %d bytes of %d", info.Size(), k.item.Bytes))
			}
		case k.err == nil:
			k.err = damaged(err)
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kept) int {
		if a.err != nil && b.err == nil {
			return -1
		}
		if a.err == nil && b.err != nil {
			return 1
		}
		if n := a.time.Compare(b.time); n != 0 {
			return n
		}
		return strings.Compare(a.id, b.id)
	})
	return all, nil
}

func (s *Store) tooOld(t time.Time) bool { return s.o.Now().Sub(t) > s.o.Age }

// sweep removes what is too old, what killed processes left, and then the oldest until
// what is kept fits. What cannot be removed, because the system keeps what is being read,
// is passed over. The caller holds the lock.
func (s *Store) sweep(fits func(items int, bytes int64) bool) error {
	all, err := s.scan()
	if err != nil {
		return err
	}
	items, bytes := len(all), int64(0)
	for _, k := range all {
		bytes += k.bytes
	}
	for _, k := range all {
		if (s.tooOld(k.time) || !fits(items, bytes)) && s.remove(k.id) == nil {
			items, bytes = items-1, bytes-k.bytes
		}
	}
	return s.removeLeft()
}

// removeLeft removes the files of no result: those of one that was killed in between.
func (s *Store) removeLeft() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	told := map[string]bool{}
	for _, e := range entries {
		told[e.Name()] = true
	}
	for _, e := range entries {
		name, temporary := strings.CutSuffix(e.Name(), tempSuffix)
		id, raw := strings.CutSuffix(name, rawSuffix)
		if !raw {
			id = strings.TrimSuffix(name, metaSuffix)
		}
		if validID(id) && (temporary || raw && !told[id+metaSuffix]) {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
	return nil
}

// remove removes a result: the bytes first, which may be in use on systems that then
// refuse it, and what tells of it after them. The caller holds the lock.
func (s *Store) remove(id string) error {
	if _, err := os.Lstat(s.metaPath(id)); errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	if err := os.Remove(s.rawPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("quarantine: %w", err)
	}
	if err := os.Remove(s.metaPath(id)); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}

package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// editSettle gathers the several events of one save: editors write, rename and
// touch.
const editSettle = 200 * time.Millisecond

// watch returns a channel that says when the configuration or its .env changed.
// The folder is watched, since most editors replace files instead of writing
// them.
func (d *Daemon) watch() (edits <-chan struct{}, stop func()) {
	out := make(chan struct{}, 1)
	if d.o.Load == nil {
		return out, func() {}
	}
	w, err := fsnotify.NewWatcher()
	if err == nil {
		err = w.Add(d.o.Config.Dir)
	}
	if err != nil {
		d.o.Logger.Warn("changes of the configuration are not noticed", "err", err)
		return out, func() {}
	}
	e := &edited{files: []string{d.o.Config.Path, filepath.Join(d.o.Config.Dir, ".env"), filepath.Join(d.o.Config.Dir, lockName)}}
	e.look(w)
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.gather(w, e, out)
	}()
	return out, func() { _ = w.Close(); <-done }
}

// gather forwards events of the files that matter, once they have settled, until
// w is closed.
func (d *Daemon) gather(w *fsnotify.Watcher, files *edited, out chan<- struct{}) {
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	defer settled.Stop()
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if files.look(w) || files.named(e.Name) { // a chmod counts too: it may open a .env
				settled.Reset(editSettle)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			d.o.Logger.Warn("watching the configuration", "err", err)
		case <-settled.C:
			select {
			case out <- struct{}{}:
			default: // one is waiting already
			}
		}
	}
}

// edited are the files whose changes matter. Any of them may be a link, or lie
// in a folder that is one and is swapped as a whole: then no event bears its
// name, so what it leads to is compared as well.
type edited struct {
	files []string
	last  string
}

func (f *edited) named(event string) bool {
	for _, file := range f.files {
		if filepath.Base(file) == filepath.Base(event) {
			return true
		}
	}
	return false
}

// look reports whether the files are others than at the last look, and has the
// folders watched that they are in now.
func (f *edited) look(w *fsnotify.Watcher) bool {
	now := ""
	for _, file := range f.files {
		target, err := filepath.EvalSymlinks(file)
		if err != nil {
			continue
		}
		if dir := filepath.Dir(target); dir != filepath.Dir(file) {
			_ = w.Add(dir) // again is free; a folder that cannot be watched is one whose changes are not noticed
		}
		if info, err := os.Stat(target); err == nil {
			now += fmt.Sprintf("%s %s %d %s\n", target, info.ModTime(), info.Size(), info.Mode())
		}
	}
	changed := now != f.last
	f.last = now
	return changed
}

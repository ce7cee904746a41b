package daemon

import (
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
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.gather(w, out)
	}()
	return out, func() { _ = w.Close(); <-done }
}

// gather forwards events of the files that matter, once they have settled, until
// w is closed.
func (d *Daemon) gather(w *fsnotify.Watcher, out chan<- struct{}) {
	ours := map[string]bool{filepath.Base(d.o.Config.Path): true, ".env": true}
	settled := time.NewTimer(time.Hour)
	settled.Stop()
	defer settled.Stop()
	for {
		select {
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if ours[filepath.Base(e.Name)] { // a chmod counts too: it may open a .env
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

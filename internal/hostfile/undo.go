package hostfile

import (
	"fmt"
	"slices"
	"strings"
)

// PlanRollback says how to get back to what the host's files were before heddle
// came. A file that nobody touched since gets its bytes back; in one that
// somebody did, heddle's own part alone is reversed, and a note says so. Where
// heddle's part itself was changed, or is gone, the cause of the error is
// [ErrOurs]; where heddle was not installed, it is [ErrNotInstalled].
func (e *Editor) PlanRollback(host string, scope Scope) (*Change, error) {
	f, err := e.File(host, scope)
	if err != nil {
		return nil, err
	}
	c := &Change{Action: "rollback", Host: f.Host, Scope: f.Scope, own: f.Path, key: e.vault().key(f)}
	r, before, err := e.vault().load(c.key)
	if err != nil {
		return nil, err
	}
	if r == nil {
		if r, err = e.again(c, f); err != nil {
			return nil, err
		}
	}
	c.before = before
	c.record = r
	for i := range r.Files {
		if err := e.back(c, &r.Files[i], f); err != nil {
			return nil, err
		}
	}
	c.tellAfter()
	return c, nil
}

// again returns the record of a rollback that was made before, if heddle is in the file
// as it was then: a host that had read the file before the rollback has written it from
// memory since.
func (e *Editor) again(c *Change, f File) (*record, error) {
	now, err := load(f.Path)
	if err != nil {
		return nil, err
	}
	r, original := e.vault().latest(c.key, f)
	if own := r.file(f.Path); own != nil && own.stands(now, f.Host.dialect.format) {
		c.Notes = append(c.Notes, "the host wrote the file from memory after heddle had left it: close the host before you start it again")
		return r, nil
	}
	hint := "`heddle install` has not been run for it, or was rolled back"
	if servers, err := Read(f); err == nil && slices.ContainsFunc(servers, func(s Server) bool { return s.Heddle && s.Project == "" }) {
		hint = "heddle is in the file, but put there by hand: use `heddle uninstall`"
	}
	if original != "" {
		hint += "; the file as it was before the last install is kept as " + original
	}
	return nil, &Error{Path: f.Path, Message: "there is nothing to roll back", Hint: hint, Err: ErrNotInstalled}
}

// back plans the way back of one file.
func (e *Editor) back(c *Change, was *recordFile, own File) error {
	now, err := load(was.Path)
	if err != nil {
		return err
	}
	change := FileChange{Path: now.path, Target: now.target, format: jsonFormat, was: now, spare: was.Dirs}
	if was.Path == own.Path {
		change.format = own.Host.dialect.format
	}
	if now.exists {
		change.Old = now.data
	}
	switch state := now.state(); {
	case state == was.Original || state == was.Undone:
		return nil
	case slices.Contains(was.Written, state):
		if was.existed() {
			change.New = was.data
		}
	case !now.exists:
		return e.stuck(c, was, &Error{Path: was.Path, Message: "the file is gone", Err: ErrOurs})
	default:
		if change.New, err = e.reverse(now, change.format, was); err != nil {
			return e.stuck(c, was, err)
		}
		if change.New != nil && string(change.New) == string(now.data) {
			return nil // somebody took it out already
		}
		c.Notes = append(c.Notes, was.Path+" was changed since the install; only heddle's own part is reversed, the rest stays as it is now")
	}
	if err := now.writable(); err != nil {
		return err
	}
	if was.Path == own.Path {
		c.Restored = back(own, change.Old, change.New, "")
	}
	was.Undone = digest(change.New)
	if change.New == nil {
		was.Undone = absent
	}
	c.Files = append(c.Files, change)
	return nil
}

// reverse takes heddle's part out of a file that somebody changed; nil if
// nothing is left of a file that heddle made.
func (e *Editor) reverse(now snapshot, f format, was *recordFile) ([]byte, error) {
	d, err := parse(now.path, f, now.data)
	if err != nil {
		return nil, err
	}
	out, err := undoAll(d, was.Ops, false)
	if err != nil {
		return nil, err
	}
	if err := sameRest(d, out, was.Ops); err != nil {
		return nil, err
	}
	if !was.existed() && out.hollow() {
		return nil, nil
	}
	return out.data, nil
}

// stuck adds to an error where the original is.
func (e *Editor) stuck(c *Change, was *recordFile, err error) error {
	x, ok := err.(*Error)
	if !ok || x.Hint != "" {
		return err
	}
	x.Hint = "`heddle uninstall` takes heddle out and leaves the rest"
	if was.existed() {
		x.Hint += fmt.Sprintf("; the file as it was before is %s", e.vault().original(c.key, *was))
	}
	return x
}

// added returns the first addition of ops; a zero op if there was heddle already
// and only others went.
func added(ops []op) op {
	for _, o := range ops {
		if o.Add {
			return o
		}
	}
	return op{}
}

// PlanUninstall says how heddle gets out of the host's file, however it got in.
// Everything else stays as it is now, so that the servers that heddle stood in
// for do not come back; their record is put aside, not deleted.
func (e *Editor) PlanUninstall(host string, scope Scope) (*Change, error) {
	f, err := e.File(host, scope)
	if err != nil {
		return nil, err
	}
	c := &Change{Action: "uninstall", Host: f.Host, Scope: f.Scope, key: e.vault().key(f)}
	r, before, err := e.vault().load(c.key)
	if err != nil {
		return nil, err
	}
	c.before, c.archived = before, r != nil
	if err := e.out(c, f, r); err != nil {
		return nil, err
	}
	c.tellAfter()
	return c, nil
}

// out plans to take every entry that starts heddle out of the host's own file,
// and what an install put into others.
func (e *Editor) out(c *Change, f File, r *record) error {
	own := r.file(f.Path)
	servers, err := Read(f)
	if err != nil {
		return err
	}
	var paths [][]string
	for _, s := range servers {
		ours := own != nil && slices.Equal(added(own.Ops).Path, s.path)
		if s.Project == "" && (s.Heddle || ours) {
			paths = append(paths, s.path)
			c.Removed = append(c.Removed, s)
		}
	}
	if err := e.outOf(c, f.Path, f.Host.dialect.format, own, paths); err != nil {
		return err
	}
	if r == nil {
		return nil
	}
	for i := range r.Files {
		if was := &r.Files[i]; was != own {
			if err := e.outOf(c, was.Path, jsonFormat, was, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// outOf plans to take entries out of a file, and what heddle put into its lists
// and made to hold them. was is what the record has about the file; nil for
// nothing.
func (e *Editor) outOf(c *Change, path string, f format, was *recordFile, paths [][]string) error {
	now, err := load(path)
	if err != nil || !now.exists {
		return err
	}
	before, err := parse(path, f, now.data)
	if err != nil {
		return err
	}
	if was == nil {
		was = &recordFile{}
	}
	after, ops, err := before.without(paths, was.Ops)
	if err != nil || string(after.data) == string(before.data) {
		return err
	}
	if err := sameRest(before, after, ops); err != nil {
		return err
	}
	if err := now.writable(); err != nil {
		return err
	}
	change := FileChange{Path: now.path, Target: now.target, Old: now.data, New: after.data, format: f, was: now, spare: was.Dirs}
	if !was.existed() && after.hollow() {
		change.New = nil
	}
	c.Files = append(c.Files, change)
	return nil
}

// without takes out the entries at paths, the strings that ops put into lists,
// and what ops made to hold either.
func (d *document) without(paths [][]string, ops []op) (*document, []op, error) {
	d, done, err := d.removeAll(paths)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range ops {
		next, err := d, error(nil)
		switch {
		case o.Item:
			next, err = d.dropItem(o)
		case o.Add:
			next, err = d.dropEmpty(o.holder(), o.Made)
		}
		if err != nil {
			return nil, nil, err
		}
		d, done = next, append(done, o)
	}
	return d, done, nil
}

// hollow reports whether a file says nothing, not even in a comment.
func (d *document) hollow() bool {
	rest := strings.Join(strings.Fields(strings.TrimPrefix(string(d.data), bom)), "")
	return rest == "" || rest == "{}"
}

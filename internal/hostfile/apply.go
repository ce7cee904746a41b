package hostfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Apply makes a change that was planned. It is a transaction: the record of the
// way back is on the disk first, then each file is replaced as one step. If it
// fails, what was replaced is put back; if the process dies, each file has its
// old bytes or its new ones, and a rollback or another install goes on from
// there. With a file that is not what the plan saw, the cause of the error is
// [ErrChanged] and nothing is written.
func (e *Editor) Apply(ctx context.Context, c *Change) error {
	if c.Empty() && (c.Action == "install" || c.before == absent) {
		return nil
	}
	if err := os.MkdirAll(e.State, 0o700); err != nil {
		return reason(e.State, err)
	}
	release, err := lock(ctx, e.State)
	if err != nil {
		return err
	}
	defer release()
	t := &transaction{change: c, vault: e.vault(), step: e.step}
	if t.step == nil {
		t.step = func(string) error { return nil }
	}
	if err := t.begin(e); err != nil {
		return err
	}
	if err := t.replaceAll(); err != nil {
		return err
	}
	return t.end(e)
}

// transaction is one run of Apply, with the lock held.
type transaction struct {
	change *Change
	vault  vault
	step   stepper
	// done are the files that have their new bytes.
	done []FileChange
}

// begin checks that nothing moved since the plan, and writes the way back.
func (t *transaction) begin(e *Editor) error {
	sweep(t.vault.dir, "."+t.change.key)
	_, before, err := t.vault.load(t.change.key)
	if err != nil {
		return err
	}
	if before != t.change.before {
		return &Error{Path: t.vault.path(t.change.key), Message: "another heddle changed the same host in between", Hint: "try again", Err: ErrChanged}
	}
	for _, f := range t.change.Files {
		sweep(filepath.Dir(f.Target), leftover(f.Target))
		if err := unchanged(f.Path, f.Target, f.was.state()); err != nil {
			return err
		}
	}
	if err := t.step("begin"); err != nil {
		return err
	}
	if t.change.archived && t.change.Action == "install" {
		if err := t.archive(e); err != nil {
			return err
		}
	}
	if t.change.record == nil {
		return nil
	}
	return t.vault.save(t.change.key, t.change.record, t.step)
}

// replaceAll changes the files, or puts back those that it changed.
func (t *transaction) replaceAll() error {
	for _, f := range t.change.Files {
		if err := t.one(f); err != nil {
			t.putBack()
			return err
		}
		t.done = append(t.done, f)
	}
	return nil
}

func (t *transaction) one(f FileChange) error {
	mode := fs.FileMode(0o700)
	if t.change.Scope == Project { // others work on it too
		mode = 0o755
	}
	for _, dir := range f.dirs {
		if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return reason(dir, err)
		}
	}
	if err := t.step("dirs"); err != nil {
		return err
	}
	if f.New == nil {
		return remove(f.was)
	}
	return replace(f.Target, f.New, f.was, t.step)
}

// putBack restores files after a failure. A file that somebody changed in that
// instant is left: the record still leads back from it.
func (t *transaction) putBack() {
	clean := true
	for _, f := range t.done {
		now, err := load(f.Path)
		if err != nil || now.state() != stateOf(f.New) {
			clean = false
			continue
		}
		if f.Old == nil {
			err = remove(now)
		} else {
			now.mode = f.was.mode
			err = replace(f.Target, f.Old, now, t.step)
		}
		clean = clean && err == nil
	}
	for _, f := range t.change.Files {
		removeDirs(f.dirs)
	}
	if clean && t.change.Action == "install" && t.change.before == absent {
		_ = t.vault.drop(t.change.key) // a record that leads nowhere does no harm
	}
}

func stateOf(data []byte) string {
	return snapshot{exists: data != nil, data: data}.state()
}

// end puts away what is not needed any more.
func (t *transaction) end(e *Editor) error {
	for _, f := range t.change.Files {
		if f.New == nil {
			removeDirs(f.spare)
		}
	}
	if err := t.step("end"); err != nil {
		return err
	}
	switch t.change.Action {
	case "rollback":
		if err := t.cameBack(); err != nil {
			return err
		}
		return t.archive(e)
	case "uninstall":
		if t.change.archived {
			return t.archive(e)
		}
		return nil
	}
	if err := t.vault.dropOriginals(t.change.key, t.change.record); err != nil {
		return err
	}
	return t.lost()
}

// archive puts the record aside and notes where the originals are.
func (t *transaction) archive(e *Editor) error {
	originals, err := t.vault.archive(t.change.key, e.now())
	t.change.Backups = originals
	return err
}

// cameBack finds out whether another program, which read the file before, wrote it right
// after and so brought heddle back.
func (t *transaction) cameBack() error {
	own := t.change.record.file(t.change.own)
	if own == nil || t.change.Empty() {
		return nil
	}
	now, err := load(own.Path)
	if err != nil || now.state() == own.Undone || !own.stands(now, t.change.Host.dialect.format) {
		return err
	}
	return &Error{Path: own.Path, Message: "was written by another program at the same time", Hint: "try again", Err: ErrChanged}
}

// stands reports whether heddle is in a file as the record has it.
func (f *recordFile) stands(now snapshot, form format) bool {
	if slices.Contains(f.Written, now.state()) {
		return true
	}
	d, err := parseOr(now, form)
	o := added(f.Ops)
	return err == nil && now.exists && o.Add && o.stands(d.root)
}

// lost finds out whether another program, which read the file before, wrote it
// right after and so took heddle out again.
func (t *transaction) lost() error {
	own := t.change.record.file(t.change.own)
	if own == nil {
		return nil
	}
	now, err := load(own.Path)
	if err != nil || now.state() == own.Written[len(own.Written)-1] {
		return err
	}
	d, err := parseOr(now, t.change.Host.dialect.format)
	if err == nil && added(own.Ops).stands(d.root) {
		return nil
	}
	return &Error{Path: own.Path, Message: "was written by another program at the same time", Hint: "try again", Err: ErrChanged}
}

// removeDirs removes directories that heddle made, the innermost first, as far
// as they are empty.
func removeDirs(dirs []string) {
	for i := len(dirs) - 1; i >= 0; i-- {
		if os.Remove(filepath.Clean(dirs[i])) != nil {
			return
		}
	}
}

// tries is how often a change is planned anew because another program wrote the
// file in between. Some hosts write theirs many times a second.
const tries = 20

// retry plans and applies until no other program comes in between.
func (e *Editor) retry(ctx context.Context, plan func() (*Change, error)) (*Change, error) {
	for i := 1; ; i++ {
		c, err := plan()
		if err != nil {
			return nil, err
		}
		err = e.Apply(ctx, c)
		if err == nil || i == tries || !errors.Is(err, ErrChanged) || ctx.Err() != nil {
			return c, err
		}
	}
}

// Install plans and applies, again if another program writes the file meanwhile.
func (e *Editor) Install(ctx context.Context, r Request) (*Change, error) {
	return e.retry(ctx, func() (*Change, error) { return e.Plan(r) })
}

// Rollback is [Editor.PlanRollback] and Apply in the way of Install.
func (e *Editor) Rollback(ctx context.Context, host string, scope Scope) (*Change, error) {
	return e.retry(ctx, func() (*Change, error) { return e.PlanRollback(host, scope) })
}

// Uninstall is [Editor.PlanUninstall] and Apply in the way of Install.
func (e *Editor) Uninstall(ctx context.Context, host string, scope Scope) (*Change, error) {
	return e.retry(ctx, func() (*Change, error) { return e.PlanUninstall(host, scope) })
}

package hostfile

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// planner makes one install's change.
type planner struct {
	env     Env
	change  *Change
	request Request
	entry   Entry
	file    File
	// old is the record of an install before this one; carried is set once the new
	// record leads back to the same original of the host's own file.
	old     *record
	carried bool
	// said are notes about the entries of the host's own file, and another is the one
	// about a heddle that is there already: it is not in the file without heddle, from
	// which an install over an install starts.
	said    []string
	another string
}

func (p *planner) plan() error {
	if err := p.own(); err != nil {
		return err
	}
	if p.another != "" {
		p.change.Notes = append(p.change.Notes, p.another)
	}
	p.change.Notes = append(p.change.Notes, p.said...)
	if err := p.approval(); err != nil {
		return err
	}
	p.remaining()
	if p.change.Empty() {
		p.carried = true // what is there leads back already
		return nil
	}
	p.change.tellAfter()
	return nil
}

// own plans the host's own file.
func (p *planner) own() error {
	if err := p.edit(p.file.Path, p.file.Host.dialect.format, p.install); err != nil {
		return err
	}
	for _, f := range p.change.Files {
		p.change.Restored = back(p.file, f.Old, f.New, p.entry.Name)
	}
	return nil
}

// approval plans the file in which a host notes what may start.
func (p *planner) approval() error {
	if p.file.Host.approve == nil {
		return nil
	}
	a, err := p.file.Host.approve(p.env, p.file.Scope, p.entry.Name)
	if err != nil {
		return err
	}
	p.change.Notes = append(p.change.Notes, a.notes...)
	if a.file == nil {
		p.keepApproval()
		return nil
	}
	return p.edit(a.file.path, jsonFormat, func(d *document) (*document, []op, error) {
		out, o, err := d.addItem(a.file.list, p.entry.Name)
		return out, []op{o}, err
	})
}

// keepApproval carries the way back of an approval that is there already.
func (p *planner) keepApproval() {
	if p.old == nil || !p.carried {
		return
	}
	for _, f := range p.old.Files {
		if f.Path != p.file.Path {
			p.change.record.Files = append(p.change.record.Files, f)
		}
	}
}

// edit plans one file. Where heddle was installed before, the edit starts from
// the file as it was without heddle, so that the way back leads all the way.
func (p *planner) edit(path string, f format, do func(*document) (*document, []op, error)) error {
	now, err := load(path)
	if err != nil {
		return err
	}
	d, err := parseOr(now, f)
	if err != nil {
		return err
	}
	out, ops, err := do(d)
	if err != nil {
		return err
	}
	if len(ops) == 0 {
		p.keep(path)
		return nil
	}
	base, carried, err := p.base(now, d)
	if err != nil {
		return err
	}
	if base.state() != now.state() {
		if d, err = parseOr(base, f); err != nil {
			return err
		}
		if out, ops, err = do(d); err != nil {
			return err
		}
	}
	if err := check(d, out, ops); err != nil {
		return err
	}
	return p.add(now, base, out, ops, carried)
}

// keep notes that a file stays as it is: its way back does too.
func (p *planner) keep(path string) {
	if was := p.old.file(path); was != nil {
		p.change.record.Files = append(p.change.record.Files, *was)
		p.carried = p.carried || path == p.file.Path
	}
}

// base returns a file as it would be without heddle, and whether that comes from
// the record before.
func (p *planner) base(now snapshot, d *document) (snapshot, bool, error) {
	was := p.old.file(now.path)
	switch {
	case was == nil || now.state() == was.Original:
		return now, was != nil, nil
	case slices.Contains(was.Written, now.state()):
		now.exists, now.data = was.existed(), was.data
		return now, true, nil
	case !now.exists:
		return now, false, nil
	}
	if first := added(was.Ops); d.root.get(first.Path...) == nil {
		return now, false, nil // somebody took heddle out: the way back is closed
	}
	d, err := undoAll(d, was.Ops, true)
	if err != nil {
		return now, false, err
	}
	now.data = d.data
	return now, true, nil
}

// add notes a file's change and its way back.
func (p *planner) add(now, base snapshot, out *document, ops []op, carried bool) error {
	if err := now.writable(); err != nil {
		return err
	}
	dirs, err := missingDirs(now.target, p.env.Home, p.env.Cwd)
	if err != nil {
		return err
	}
	if !now.exists {
		now.mode = fs.FileMode(0o600)
		if p.file.Scope == Project { // others work on it too
			now.mode = 0o644
		}
	}
	c := FileChange{Path: now.path, Target: now.target, New: out.data, format: out.format, was: now, dirs: dirs}
	if now.exists {
		c.Old = now.data
	}
	p.change.Files = append(p.change.Files, c)
	r := recordFile{Path: now.path, Target: now.target, Original: base.state(), Written: []string{digest(out.data)}, Ops: ops, Dirs: dirs, data: base.data}
	if was := p.old.file(now.path); carried && was != nil {
		if len(dirs) == 0 {
			r.Dirs = was.Dirs
		}
		r.Written = append(slices.Clone(was.Written), r.Written...)
		r.Ops = carryValues(was.Ops, ops)
		p.carried = p.carried || now.path == p.file.Path
	}
	p.change.record.Files = append(p.change.record.Files, r)
	return nil
}

// carryValues lets a rollback that comes before the file is replaced know what
// heddle wrote there earlier.
func carryValues(was, ops []op) []op {
	for i, o := range ops {
		for _, old := range was {
			if o.Add && old.Add && slices.Equal(o.Path, old.Path) {
				ops[i].Values = append(slices.Clone(old.Values), o.Values...)
			}
		}
	}
	return ops
}

// parseOr parses a file, or what a new one begins as. One of JSON with nothing but blanks
// in it is as good as new; a rollback brings them back.
func parseOr(s snapshot, f format) (*document, error) {
	text, mark := bytes.CutPrefix(s.data, []byte(bom))
	switch blank := len(bytes.TrimSpace(text)) == 0; {
	case !s.exists:
		return parse(s.path, f, []byte(f.empty()))
	case blank && f == jsonFormat && mark:
		return parse(s.path, f, []byte(bom+f.empty()))
	case blank && f == jsonFormat:
		return parse(s.path, f, []byte(f.empty()))
	}
	return parse(s.path, f, s.data)
}

// remaining finds what the host still sees of the servers that heddle stands in
// for.
func (p *planner) remaining() {
	if p.request.Replace == nil {
		return
	}
	for _, f := range slices.Concat(p.file.Host.Files(p.env, User), p.file.Host.Files(p.env, Project)) {
		servers, err := Read(f)
		if err != nil { // of another file, and no reason against this change
			p.change.Notes = append(p.change.Notes, "not looked into: "+err.Error())
			continue
		}
		for _, s := range servers {
			visible := s.Project == "" || p.env.within(p.env.Cwd, s.Project)
			gone := f.Path == p.file.Path && s.Project == ""
			if visible && !gone && !s.Disabled && !s.Heddle && p.request.stand(s).Same {
				p.change.Remaining = append(p.change.Remaining, s)
			}
		}
	}
}

// install edits the host's own file.
func (p *planner) install(d *document) (*document, []op, error) {
	x := p.file.Host.dialect
	want := x.entry(p.entry.Binary, p.entry.Args())
	path := append(slices.Clone(x.key), p.entry.Name)
	if _, _, err := d.container(x.key, object); err != nil {
		return nil, nil, err
	}
	keep := false // heddle is there as it should be
	if n := d.get(path); n != nil {
		keep = n.canon() == want.canon()
	}
	gone, err := p.going(d, path, keep)
	if err != nil {
		return nil, nil, err
	}
	p.change.Removed = gone
	// What has heddle's name goes before heddle comes; the rest after it, while the
	// object is laid out as its owner did.
	var first, rest [][]string
	for _, s := range gone {
		if s.Name == p.entry.Name {
			first = append(first, s.path)
		} else {
			rest = append(rest, s.path)
		}
	}
	d, ops, err := d.removeAll(first)
	if err != nil {
		return nil, nil, err
	}
	if !keep {
		next, o, err := d.add(path, want)
		if err != nil {
			return nil, nil, err
		}
		d, ops = next, append(ops, o)
	}
	d, more, err := d.removeAll(rest)
	if err != nil {
		return nil, nil, err
	}
	ops = append(ops, more...)
	d, more, err = p.admit(d)
	return d, append(ops, more...), err
}

// admit adds heddle to the lists of servers that the host starts, where there are any:
// it would start nothing else.
func (p *planner) admit(d *document) (*document, []op, error) {
	var ops []op
	for _, path := range p.file.Host.dialect.admits {
		if n := d.get(path); n == nil || n.kind != array || slices.Contains(stringsOf(n), p.entry.Name) {
			continue
		}
		next, o, err := d.addItem(path, p.entry.Name)
		if err != nil {
			return nil, nil, err
		}
		d, ops = next, append(ops, o)
	}
	return d, ops, nil
}

// going returns the entries that heddle replaces: those that start it in another
// way, and those that it runs itself. The rest is noted as kept.
func (p *planner) going(d *document, path []string, keep bool) ([]Server, error) {
	servers, err := serversOf(p.file, d)
	if err != nil {
		return nil, err
	}
	p.change.Stays, p.said = nil, nil
	var stale, gone []Server
	for _, s := range servers {
		switch {
		case s.Project != "", keep && slices.Equal(s.path, path):
		case s.Heddle, s.Command == escape(p.entry.Binary):
			stale = append(stale, s)
			p.another = cmp.Or(p.another, others(s, p.entry))
		case s.Name == p.entry.Name:
			return nil, &Error{
				Path: d.path, Line: s.Line, Column: s.Column,
				Message: fmt.Sprintf("there is a server %q that is not heddle", s.Name), Hint: "rename that server, then try again",
			}
		default:
			st := Standing{}
			if s.Unusable != noObject && !s.Disabled {
				st = p.request.stand(s)
			}
			if st.Same {
				gone = append(gone, s)
				p.said = append(p.said, st.Differs...)
			} else {
				p.change.Stays = append(p.change.Stays, Stay{s, stays(s, st)})
			}
		}
	}
	return slices.Concat(stale, gone), nil
}

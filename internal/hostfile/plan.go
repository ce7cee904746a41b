package hostfile

import (
	"fmt"
	"time"
)

// Editor changes hosts' files. Its methods may be called from several
// goroutines and processes at once: a lock file makes them take turns.
type Editor struct {
	// Env is the machine; changes are made on this one alone.
	Env Env
	// State is the directory for records of how to get back. It is made, private,
	// with the first change, and holds what hosts' files held, secrets too.
	State string
	// Now returns the time for records.
	Now func() time.Time

	// step is called before each step that a crash may come before; tests end the
	// process there.
	step stepper
}

// Request says what to install where.
type Request struct {
	// Host is a name of [Hosts].
	Host string
	// Scope is "" for the host's default.
	Scope Scope
	Entry Entry
	// Replace says how heddle stands to a server; nil is that it has none. What it runs
	// just so goes, since the host would pay for it twice; all else stays. A server that
	// is disabled costs its host nothing and stays without being asked for.
	Replace func(Server) Standing
}

// Entry is how a host starts heddle.
type Entry struct {
	// Name is what the host calls it; "" is "heddle".
	Name string
	// Binary and Config are absolute paths.
	Binary, Config string
	// Mode is "" for the host's default.
	Mode Mode
	// Profile is a profile of the configuration; "" for none.
	Profile string
}

// Args are the arguments of the entry.
func (e Entry) Args() []string {
	args := []string{"start", "--mode", string(e.Mode), "--config", e.Config}
	if e.Profile != "" {
		args = append(args, "--profile", e.Profile)
	}
	return args
}

// Change is what would be done to a host's files. It does nothing by itself:
// [Editor.Apply] makes it.
type Change struct {
	// Action is "install", "rollback" or "uninstall".
	Action string
	Host   *Host
	Scope  Scope
	// Entry is what is installed, complete; zero for the other actions.
	Entry Entry
	// Files are those to change, the host's own first.
	Files []FileChange
	// Removed are the entries that go, Restored the names of those that come back, and
	// Stays those of the host's own file that stay beside heddle.
	Removed  []Server
	Restored []string
	Stays    []Stay
	// Remaining are servers that heddle stands in for and the host still sees, in
	// files that are not changed: it pays for them twice.
	Remaining []Server
	// Notes are what the user has to know or do, most important first.
	Notes []string
	// Backups are the files with what the host's files were before heddle came, which
	// are kept once they are not needed for the way back any more. Apply fills it in.
	Backups []string

	own      string // the path of the host's own file
	key      string
	record   *record // to be kept; nil if there is to be none
	before   string  // state of the record that the plan saw
	archived bool    // put the record that is there aside
}

// FileChange is one file before and after.
type FileChange struct {
	// Path is the file as the host has it, Target the one that is replaced, which
	// differs if Path is a link.
	Path, Target string
	// Old and New are the bytes; nil if there is no file.
	Old, New []byte

	format format
	was    snapshot
	dirs   []string // to be made, outermost first
	spare  []string // made once, to be removed if empty
}

// Empty reports whether there is nothing to change in any host's file.
func (c *Change) Empty() bool { return len(c.Files) == 0 }

// tellAfter notes what the user does for the host to see a change.
func (c *Change) tellAfter() {
	if !c.Empty() && c.Host.After != "" {
		c.Notes = append(c.Notes, "for "+c.Host.Title+" to see it: "+c.Host.After)
	}
}

// File returns the file that a change for that host and scope is made in: the one
// that an install was made in, if there is one, else the one that the host
// prefers.
func (e *Editor) File(host string, scope Scope) (File, error) {
	h, err := Lookup(host)
	if err != nil {
		return File{}, err
	}
	if scope, err = h.checkScope(scope); err != nil {
		return File{}, err
	}
	if scope == User && e.Env.Home == "" || scope == Project && e.Env.Cwd == "" {
		return File{}, &Error{Message: "the directory for the " + string(scope) + "'s files is not known", Hint: "set HOME, and start heddle in the project"}
	}
	files := h.Files(e.Env, scope)
	for _, f := range files[1:] {
		if e.State != "" && exists(e.vault().path(e.vault().key(f))) {
			return f, nil
		}
	}
	return files[0], nil
}

// Current returns heddle's entry in the host's file, nil if there is none.
func (e *Editor) Current(host string, scope Scope) (*Server, error) {
	f, err := e.File(host, scope)
	if err != nil {
		return nil, err
	}
	servers, err := Read(f)
	for _, s := range servers {
		if s.Heddle && s.Project == "" {
			return &s, nil
		}
	}
	return nil, err
}

// Plan says what an install would change, and writes nothing. With heddle there
// already just as it should be, the change is empty. The error is an [*Error].
func (e *Editor) Plan(r Request) (*Change, error) {
	f, err := e.File(r.Host, r.Scope)
	if err != nil {
		return nil, err
	}
	entry, err := e.complete(f.Host, r.Entry)
	if err != nil {
		return nil, err
	}
	c := &Change{Action: "install", Host: f.Host, Scope: f.Scope, Entry: entry, own: f.Path, key: e.vault().key(f)}
	old, before, err := e.vault().load(c.key)
	if err != nil {
		return nil, err
	}
	c.before = before
	p := &planner{env: e.Env, change: c, request: r, entry: entry, old: old, file: f}
	c.record = &record{Version: recordVersion, Host: f.Host.Name, Scope: f.Scope, Mode: entry.Mode, Time: e.now()}
	if err := p.plan(); err != nil {
		return nil, err
	}
	c.archived = old != nil && !p.carried
	return c, nil
}

// complete checks an entry and fills in what it leaves out.
func (e *Editor) complete(h *Host, entry Entry) (Entry, error) {
	var err error
	if entry.Mode, err = h.CheckMode(entry.Mode); err != nil {
		return entry, err
	}
	if entry.Name == "" {
		entry.Name = "heddle"
	}
	for _, path := range []string{entry.Binary, entry.Config} {
		if !e.Env.isAbs(path) {
			return entry, &Error{Message: fmt.Sprintf("the path %q is not absolute", path), Hint: "a host starts heddle from any directory; name the file in full"}
		}
	}
	return entry, nil
}

func (e *Editor) vault() vault { return vault{e.State} }

func (e *Editor) now() time.Time {
	if e.Now == nil {
		return time.Time{}
	}
	return e.Now()
}

package surface_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/lock"
	"heddle/internal/mcptest"
	"heddle/internal/surface"
	"heddle/internal/upstream"
	"heddle/internal/wire"
)

// edited is a stage whose configuration is a file that it follows.
type edited struct {
	*stage
	dir   string
	edits int
}

// newEdited is newStage with heddle.yml in a directory, which may have a heddle.lock.
func newEdited(t *testing.T, dir string, o stageOptions) *edited {
	t.Helper()
	s := &stage{t: t, mode: o.mode, servers: map[string]*mcptest.Server{}, peers: map[string]*peers{}, log: &buffer{}, ended: make(chan struct{})}
	e := &edited{stage: s, dir: dir}
	path := filepath.Join(dir, "heddle.yml")
	load := func() (*config.Config, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return config.Decode(b, path, config.Env{})
	}
	e.write(o.config)
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	mode, err := surface.NewMode(o.mode, surface.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.daemon = daemon.New(daemon.Options{
		Config: cfg, Load: load, Hosts: true, Logger: slog.New(slog.NewTextHandler(s.log, nil)), Mode: o.mode,
		Environ: func() []string { return nil }, InProcess: s.upstreams(o), StateDir: o.state,
	})
	in, toHeddle := io.Pipe()
	fromHeddle, out := io.Pipe()
	go func() {
		defer close(s.ended)
		if err := s.daemon.Run(context.Background(), func(ctx context.Context) error { return s.daemon.ServeStdio(ctx, mode, in, out) }); err != nil {
			t.Errorf("daemon: %v", err)
		}
		_ = out.Close()
	}()
	s.Host = mcptest.NewHost(t, fromHeddle, toHeddle)
	t.Cleanup(s.close)
	s.Initialize(newestHandshake)
	s.boot()
	return e
}

func (e *edited) write(text string) {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, "heddle.yml"), []byte("version: 2\n"+text), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

// edit changes the configuration and waits until it counts.
func (e *edited) edit(text string) {
	e.t.Helper()
	e.write(text)
	e.reloaded()
}

func (e *edited) reloaded() {
	e.t.Helper()
	e.edits++
	mcptest.Eventually(e.t, func() bool { return strings.Count(e.log.String(), "configuration reloaded") >= e.edits }, "reload %d in %s", e.edits, e.log)
}

// approve approves tools as they are now, those with that name or all that are not
// suspicious.
func (e *edited) approve(name string) {
	e.t.Helper()
	all, _, err := e.daemon.Definitions()
	if err != nil {
		e.t.Fatal(err)
	}
	err = lock.Update(filepath.Join(e.dir, "heddle.lock"), func(f *lock.File) error {
		for _, d := range all {
			if d.Tool.Ref.Name == name || name == "" && len(d.Findings) == 0 {
				if err := f.Approve(d.Tool, time.Now()); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.reloaded()
}

// flags are what status says of a tool's definition, held why it is held.
func (s *stage) flags(tool string) (flags []string, held string) {
	for _, v := range s.daemon.Verdicts() {
		if v.Tool == tool {
			return v.Flags, v.Held
		}
	}
	return nil, "not listed by its server"
}

// seen is all that a host sees of a tool before it calls it.
func (s *stage) seen(tool string) string {
	s.t.Helper()
	switch s.mode {
	case "compact", "extreme":
		return text(s.t, s.Call("find_tool", `{"query":"up_`+tool+`"}`))
	case "mesh":
		out := text(s.t, s.Call("mesh_search_tools", `{"query":"up_`+tool+`"}`))
		for _, minify := range []string{"true", "false"} {
			out += "\n" + mcptest.TextOf(s.Call("mesh_describe_tool", `{"server":"up","tool_name":"`+tool+`","minify":`+minify+`}`).Result)
		}
		return out
	}
	return string(s.list().Result)
}

const adds = `{"name":"add","description":"Adds two numbers.","inputSchema":{"type":"object","properties":{"a":{"type":"number","description":"The first."},"b":{"type":"number"}}},"annotations":{"readOnlyHint":true}}`

// calculator is a server whose tool add is as given, beside one that never changes.
func calculator(add string) map[string]mcptest.Options {
	return map[string]mcptest.Options{"up": {Extra: true, Tools: append(raws(add), toolsNamed("echo", "add_tool")...), Results: rawMap(map[string]string{"add": textResult("3"), "add2": textResult("3")})}}
}

// What changed after it was approved is held, tool by tool, until it is approved again;
// what means the same is no change.
func TestGuardLock(t *testing.T) {
	change := func(old, fresh string) string { return strings.Replace(adds, old, fresh, 1) }
	reordered := `{ "annotations":{"readOnlyHint":true}, "inputSchema":{"properties":{"b":{"type":"number"},"a":{"description":"The f\u0069rst.","type":"number"}},"type":"object"},"description":"Adds two numbers.","name":"add"}`
	tests := []struct{ name, tool, add, why string }{
		{"description", "add", change("two numbers.", "two numbers. Also reads a file."), "changed"},
		{"parameter", "add", change("The first.", "The first, or a path."), "changed"},
		{"renamed", "add2", change(`"add"`, `"add2"`), `approved as "add"`},
		{"order", "add", reordered, ""},
		{"annotations", "add", change(`,"annotations":{"readOnlyHint":true}`, ""), "changed"},
		{"output", "add", change(`,"annotations"`, `,"outputSchema":{"type":"object"},"annotations"`), "changed"},
		{"version", "add", adds, ""},
	}
	for _, mode := range []string{"native", "compact"} {
		dir := t.TempDir()
		first := newEdited(t, dir, stageOptions{mode: mode, config: "catalog: {lock: enforce}\n", servers: calculator(adds)})
		if r := refusalOf(t, first.run("up_add", "{}")); r.Kind != "quarantined" {
			t.Errorf("%s, without a lock: %+v", mode, r)
		}
		first.approve("")
		if got := text(t, first.run("up_add", "{}")); got != "3" {
			t.Errorf("%s: approved: %q", mode, got)
		}
		first.close()
		approved, err := os.ReadFile(filepath.Join(dir, "heddle.lock"))
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range tests {
			t.Run(mode+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "heddle.lock"), approved, 0o600); err != nil {
					t.Fatal(err)
				}
				o := stageOptions{mode: mode, config: "catalog: {lock: enforce}\n", servers: calculator(test.add)}
				if test.name == "version" {
					o.upstream = func(c *upstream.Config) {
						connect := c.Connect
						c.Connect = func(ctx context.Context) (io.ReadWriteCloser, error) {
							rw, err := connect(ctx)
							return otherVersion{rw}, err
						}
					}
				}
				checkHeld(t, newEdited(t, dir, o), test.tool, test.why)
			})
		}
	}
}

// checkHeld checks a tool that is held for a reason, or not if that is "".
func checkHeld(t *testing.T, e *edited, tool, why string) {
	e.list()
	if got := text(t, e.run("up_echo", `{"text":"on"}`)); got != "on" {
		t.Errorf("the tool beside it: %q", got)
	}
	if why == "" {
		if got := text(t, e.run("up_"+tool, "{}")); got != "3" {
			t.Errorf("got %q, want 3", got)
		}
		return
	}
	if _, held := e.flags(tool); !strings.Contains(held, why) {
		t.Errorf("held %q, want %q", held, why)
	}
	if got := e.seen(tool); strings.Contains(got, `"`+tool+`"`) || strings.Contains(got, `"up_`+tool+`"`) {
		t.Errorf("a held tool is shown: %s", got)
	}
	for _, name := range []string{"up_" + tool, tool, "up::" + tool} {
		if r := refusalOf(t, e.run(name, "{}")); r.Kind != "quarantined" || *r.Invoked || !strings.Contains(r.Message, why) || !strings.Contains(r.Message, "heddle approve up::"+tool) {
			t.Errorf("%s: %+v, want quarantined with what to do", name, r)
		}
	}
	if got := mcptest.Count(e.servers["up"].Events(), "call"); got != 1 {
		t.Errorf("the server saw %d calls, want that of echo alone", got)
	}
	before := len(e.Received(changed))
	e.approve(tool)
	if e.mode == "native" {
		e.WaitReceived(changed, before+1)
	}
	if got := e.seen(tool); !strings.Contains(got, tool+`"`) {
		t.Errorf("an approved tool is not shown: %s", got)
	}
	if got := text(t, e.run("up_"+tool, "{}")); got != "3" {
		t.Errorf("approved: %q", got)
	}
}

// otherVersion is a server that says that it is another version of itself.
type otherVersion struct{ io.ReadWriteCloser }

func (o otherVersion) Read(b []byte) (int, error) {
	n, err := o.ReadWriteCloser.Read(b)
	copy(b, bytes.Replace(b[:n], []byte(`"name":"mcptest","version":"1"`), []byte(`"name":"mcptest","version":"7"`), 1))
	return n, err
}

// A tool that comes later is held as well. With warn everything can be called, and
// what is not approved is said to people.
func TestGuardLockOfNewTools(t *testing.T) {
	for _, mode := range []string{"native", "compact"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			e := newEdited(t, t.TempDir(), stageOptions{mode: mode, config: "catalog: {lock: warn}\n", servers: calculator(adds)})
			if got := text(t, e.run("up_add", "{}")); got != "3" {
				t.Errorf("with warn: %q", got)
			}
			if flags, held := e.flags("add"); held != "" || len(flags) != 1 || !strings.Contains(flags[0], "nobody has approved it") {
				t.Errorf("with warn: flags %q, held %q", flags, held)
			}
			if got := e.seen("add"); strings.Contains(got, "[heddle: ") || !strings.Contains(got, "Adds two numbers.") {
				t.Errorf("with warn: %s", got)
			}
			e.approve("")
			if flags, _ := e.flags("add"); len(flags) != 0 {
				t.Errorf("approved: flags %q", flags)
			}
			e.edit("catalog: {lock: enforce}\n")
			e.list()
			text(t, e.run("up_add_tool", `{"name":"sub","times":1}`))
			mcptest.Eventually(t, func() bool { _, held := e.flags("sub"); return strings.Contains(held, "nobody has approved") }, "the new tool is held")
			if r := refusalOf(t, e.run("up_sub", "{}")); r.Kind != "quarantined" {
				t.Errorf("a new tool: %+v", r)
			}
			if n := len(e.Received(changed)); n != 0 {
				t.Errorf("the host heard %d times of a tool that it does not see", n)
			}
			// A lock that cannot be read approves nothing.
			if err := os.WriteFile(filepath.Join(e.dir, "heddle.lock"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			e.reloaded()
			if r := refusalOf(t, e.run("up_add", "{}")); r.Kind != "quarantined" || !strings.Contains(r.Message, "heddle.lock cannot be read") {
				t.Errorf("a broken lock: %+v", r)
			}
		})
	}
}

// poisoned are definitions with such texts at all their places.
func poisoned() map[string]string {
	with := func(name, description, schema string) string {
		return `{"name":"` + name + `","description":` + quote(description) + `,"inputSchema":` + schema + `}`
	}
	const plain = `{"type":"object"}`
	out := map[string]string{
		"described": with("described", "Adds two numbers. "+evil, plain),
		"parameter": with("parameter", "Adds two numbers.", `{"type":"object","properties":{"a":{"type":"string","description":`+quote(evil)+`}}}`),
		"default":   with("default", "Adds two numbers.", `{"type":"object","properties":{"a":{"type":"string","default":`+quote(evil)+`}}}`),
		"bare":      `{"name":"bare","title":` + quote(evil) + `,"inputSchema":` + plain + `}`,
		"bidi":      with("bidi", "Adds \u202Esrebmun owt", plain),
		"letters":   with("letters", "Adds \U0001F600"+strings.Repeat("\uFE01\uFE0A\uFE03", 9), plain),
	}
	for name, s := range hidden {
		name = "h_" + strings.ReplaceAll(name, " ", "_")
		out[name] = with(name, s, plain)
	}
	for name, s := range honest {
		out["honest_"+name] = with("honest_"+name, s, plain)
	}
	return out
}

// A definition that addresses the model begins with a line that says so wherever it is
// shown, and its tool works; one that does not is as its server wrote it. What a server
// says of itself is not shown then.
func TestGuardMarksDefinitions(t *testing.T) {
	all := poisoned()
	var tools []json.RawMessage
	results := map[string]string{}
	for _, name := range sortedKeys(all) {
		tools = append(tools, json.RawMessage(all[name]))
		results[name] = textResult("ran")
	}
	servers := map[string]mcptest.Options{"up": {Tools: tools, Results: rawMap(results), Instructions: "Numbers. " + evil}}
	eachMode(t, stageOptions{config: guarding, servers: servers}, func(t *testing.T, s *stage) {
		s.boot()
		everything := string(s.Request("tools/list", "{}").Result)
		for name := range all {
			got := s.seen(name)
			everything += got
			flags, held := s.flags(name)
			if strings.HasPrefix(name, "honest_") {
				description := quote(honest[strings.TrimPrefix(name, "honest_")])
				if len(flags) != 0 || held != "" || s.mode != "mesh" && !strings.Contains(got, description) {
					t.Errorf("%s: flags %q, held %q: %.600s", name, flags, held, got)
				}
				continue
			}
			if len(flags) == 0 || held != "" {
				t.Errorf("%s: flags %q, held %q, want it flagged and listed", name, flags, held)
			}
			if n := strings.Count(got, "[heddle: the definition of this tool, by server up, contains instructions or hidden text ("); n == 0 || s.mode == "mesh" && n < 2 {
				t.Errorf("%s: the note is there %d times: %.900s", name, n, got)
			}
			if got := text(t, s.run("up_"+name, "{}")); got != "ran" {
				t.Errorf("%s: %q", name, got)
			}
		}
		if strings.Contains(everything, "Numbers. ") {
			t.Errorf("the server's instructions are shown: %.1000s", everything)
		}
		if s.mode == "native" || s.mode == "loom" {
			checkListed(t, s, all)
		}
	})
}

// checkListed checks the definitions of a list: only descriptions differ from what the
// server wrote, and they have nothing that cannot be seen.
func checkListed(t *testing.T, s *stage, all map[string]string) {
	var list struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(s.list().Result, &list); err != nil {
		t.Fatal(err)
	}
	for _, definition := range list.Tools {
		name, _ := wire.Unquote(wire.Member(definition, "name"))
		name = strings.TrimPrefix(name, "up_")
		own, ok := all[name]
		if !ok {
			continue
		}
		description, _ := wire.Unquote(wire.Member(definition, "description"))
		if strings.HasPrefix(name, "honest_") {
			continue
		}
		if !strings.HasPrefix(description, "[heddle: the definition of this tool") || strings.ContainsFunc(description, func(r rune) bool { return r == 0x202E || r >= 0xE0000 || r == 0x200B }) {
			t.Errorf("%s is described as %q", name, description)
		}
		if got, want := string(wire.Member(definition, "inputSchema")), string(wire.Member([]byte(own), "inputSchema")); got != want {
			t.Errorf("%s: schema %s, want %s", name, got, want)
		}
	}
}

// With block such a tool waits for approval, as one that a lock does not have.
func TestGuardHoldsDefinitions(t *testing.T) {
	all := poisoned()
	for _, mode := range []string{"native", "compact"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			servers := calculator(strings.Replace(all["described"], `"described"`, `"add"`, 1))
			e := newEdited(t, t.TempDir(), stageOptions{mode: mode, config: withholding, servers: servers})
			checkHeld(t, e, "add", "its definition is suspicious")
			if got := e.seen("add"); strings.Contains(got, "[heddle: ") {
				t.Errorf("a person has looked at it, and it is marked: %s", got)
			}
		})
	}
}

package test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/internal/mcptest"
	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The real servers that these tests stand on, as test/npm/package.json pins them.
var npmServers = []string{"everything", "filesystem", "memory", "sequential-thinking"}

// npmStart is how long four Node servers may take to start on a busy machine.
const npmStart = 90 * time.Second

// TestNPM puts the built binary, with four real servers behind it, in front of
// two hosts in both modes: the official SDK's client, and one that sees bytes.
func TestNPM(t *testing.T) {
	n := newNPM(t)
	hosts := map[string]func(*testing.T, *npmRun, string) npmHost{"sdk": npmSDK, "raw": npmRaw}
	for _, mode := range []string{"native", "compact"} {
		for _, host := range slices.Sorted(maps.Keys(hosts)) {
			t.Run(mode+"/"+host, func(t *testing.T) {
				run := n.run(t, "")
				h := hosts[host](t, run, mode)
				if mode == "native" {
					n.checkNative(t, h)
				} else {
					n.checkCompact(t, h)
				}
				n.checkCalls(t, h, run, mode)
				run.checkMarks(t, len(npmServers))
				h.close(t) // it closes heddle's stdin and wants exit code 0
				run.checkGone(t)
			})
		}
	}
}

// TestNPMWrappers ends servers that stand behind a wrapper, as npx and uvx put
// one in front: the server is then a grandchild, and signals to the wrapper do
// not reach it.
func TestNPMWrappers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the wrappers are shell scripts")
	}
	n := newNPM(t)
	memory := npmQuote(n.script("memory"))
	wrappers := map[string]string{
		// A shell gives a background job /dev/null as its stdin, hence descriptor 3.
		"waits for the server": "exec 3<&0; node " + memory + " <&3 & wait",
		"ignores SIGTERM":      `exec 3<&0; trap "" TERM; node ` + memory + " <&3 & wait; wait",
		"leaves a helper that survives": "node -e 'process.on(\"SIGTERM\",()=>{});setInterval(()=>{},1e3)' </dev/null >/dev/null 2>&1 & " +
			"exec node " + memory,
	}
	if _, err := exec.LookPath("setsid"); err == nil {
		wrappers["leaves a helper in a session of its own"] = "setsid node -e 'setInterval(()=>{},1e3)' </dev/null >/dev/null 2>&1 & exec node " + memory
	}
	for _, name := range slices.Sorted(maps.Keys(wrappers)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := n.run(t, wrappers[name])
			h := npmRaw(t, run, "native")
			if got := h.call(t, "read_graph", `{}`); got.text() == "" {
				t.Errorf("read_graph: got no text: %s", got.raw)
			}
			run.checkMarks(t, 2)
			h.close(t)
			run.checkGone(t)
		})
	}
}

// npm is what all these tests share.
type npm struct {
	binary string
	dir    string                       // that holds node_modules
	direct map[string][]json.RawMessage // definitions, from each server itself
	shown  map[string]json.RawMessage   // results of everything's tools, likewise
}

// newNPM skips the test where it cannot run, builds heddle and asks every server
// itself for what heddle is to be compared with.
func newNPM(t *testing.T) *npm {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers: not with -short")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node in PATH")
	}
	n := &npm{dir: os.Getenv("HEDDLE_NPM_DIR"), direct: map[string][]json.RawMessage{}, shown: map[string]json.RawMessage{}}
	if n.dir == "" {
		n.dir = "npm"
	}
	n.dir, _ = filepath.Abs(n.dir)
	for _, s := range npmServers {
		if _, err := os.Stat(n.script(s)); err != nil {
			t.Skipf("server-%s is not installed: run npm ci in test/npm, or set HEDDLE_NPM_DIR (%v)", s, err)
		}
	}
	n.binary = filepath.Join(t.TempDir(), "heddle")
	if runtime.GOOS == "windows" {
		n.binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", n.binary, "../cmd/heddle").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if t.Name() == "TestNPM" {
		for _, s := range npmServers {
			n.ask(t, s)
		}
	}
	return n
}

// script returns the file that node runs for a server.
func (n *npm) script(server string) string {
	return filepath.Join(n.dir, "node_modules", "@modelcontextprotocol", "server-"+server, "dist", "index.js")
}

// ask talks to one server without heddle.
func (n *npm) ask(t *testing.T, server string) {
	t.Helper()
	args := []string{n.script(server)}
	if server == "filesystem" {
		args = append(args, t.TempDir())
	}
	cmd := exec.Command("node", args...)
	h := npmPipes(t, cmd)
	h.Initialize("2025-11-25")
	tools, err := wire.Elements(wire.Member(h.Request("tools/list", "").Result, "tools"))
	if err != nil || len(tools) == 0 {
		t.Fatalf("%s itself lists no tools: %v", server, err)
	}
	n.direct[server] = tools
	for _, c := range npmCalls("") {
		if c.server == server && c.same {
			n.shown[c.tool] = h.Call(c.tool, c.args).Result
		}
	}
	h.CloseWrite()
	_ = cmd.Process.Kill() // it has told what it had to
	_ = cmd.Wait()
}

// names returns the tools of all servers as native mode names them.
func (n *npm) names() []string {
	var out []string
	for _, s := range npmServers {
		for _, d := range n.direct[s] {
			out = append(out, npmName(d))
		}
	}
	return out
}

// npmRun is one start of heddle.
type npmRun struct {
	binary, config, home, files string
	mark                        string // in the environment of all its servers
	tools                       int    // that settle the boot; 0 takes what is there
}

// markVar carries a run's mark to everything that its servers start.
const markVar = "HEDDLE_NPM_TEST"

// run writes the configuration of all four servers, or of one behind the shell
// script wrapper.
func (n *npm) run(t *testing.T, wrapper string) *npmRun {
	t.Helper()
	dir := t.TempDir()
	r := &npmRun{binary: n.binary, config: filepath.Join(dir, "heddle.yml"), home: filepath.Join(dir, "home"), files: filepath.Join(dir, "files"), mark: rand.Text()}
	if err := os.Mkdir(r.files, 0o700); err != nil {
		t.Fatal(err)
	}
	r.files, _ = filepath.EvalSymlinks(r.files) // the filesystem server answers with real paths
	env := map[string]string{markVar: r.mark, "MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")}
	servers := map[string]any{}
	if wrapper != "" {
		servers["wrapped"] = map[string]any{"command": "sh", "args": []string{"-c", wrapper}, "env": env}
	} else {
		for _, s := range npmServers {
			args := []string{n.script(s)}
			if s == "filesystem" {
				args = append(args, r.files)
			}
			servers[s] = map[string]any{"command": "node", "args": args, "env": env}
		}
		r.tools = len(n.names())
	}
	text, _ := json.MarshalIndent(map[string]any{"version": 2, "servers": servers}, "", "  ") // JSON is YAML
	if err := os.WriteFile(r.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// command returns the command that a host would run.
func (r *npmRun) command(t *testing.T, mode string) *exec.Cmd {
	cmd := exec.Command(r.binary, "start", "--config", r.config, "--mode", mode)
	cmd.Env = append(os.Environ(), "HOME="+r.home, "XDG_STATE_HOME="+r.home, "XDG_CONFIG_HOME="+r.home)
	cmd.Stderr = &npmLog{t: t}
	cmd.WaitDelay = 5 * time.Second // if something left behind held stderr, the test should still end
	return cmd
}

// settled reports whether the list names every server's tools.
func (r *npmRun) settled(tools []json.RawMessage, mode string) bool {
	if mode == "native" {
		return len(tools) > max(1, r.tools) || len(tools) > 1 && r.tools == 0
	}
	for _, d := range tools { // the description counts tools once the boot has settled
		if npmName(d) == "find_tool" {
			text, _ := wire.Unquote(wire.Member(d, "description"))
			return strings.Contains(text, "memory (")
		}
	}
	return false
}

// checkMarks wants at least so many living processes of this run, each with
// heddle's own mark, which the end of a run goes by.
func (r *npmRun) checkMarks(t *testing.T, least int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return
	}
	mine := npmProcesses(markVar + "=" + r.mark)
	if len(mine) < least {
		t.Errorf("%d processes run behind heddle, want at least %d: %v", len(mine), least, mine)
	}
	for pid, cmd := range mine {
		if env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); !bytes.Contains(env, []byte("\x00HEDDLE_OWNER=")) {
			t.Errorf("process %d (%s) lacks HEDDLE_OWNER", pid, cmd)
		}
	}
}

// checkGone wants that nothing of the run is left: no server, nothing that a
// server started, no watchdog.
func (r *npmRun) checkGone(t *testing.T) {
	t.Helper()
	if left := npmProcesses(markVar + "=" + r.mark); len(left) > 0 {
		t.Errorf("left behind by servers: %v", left)
	}
	for pid, cmd := range npmProcesses("") {
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == r.binary && strings.Contains(cmd, r.config) {
			t.Errorf("left behind: %d %s", pid, cmd)
		}
	}
}

// npmProcesses returns the command lines of living processes by their numbers:
// of those with kv in their environment, "" for all.
func npmProcesses(kv string) map[int]string {
	out := map[int]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || len(env) == 0 || kv != "" && !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+kv+"\x00")) {
			continue // a zombie's is empty
		}
		cmd, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		out[pid] = strings.TrimSpace(string(bytes.ReplaceAll(cmd, []byte{0}, []byte{' '})))
	}
	return out
}

// npmHost is one of the two clients.
type npmHost interface {
	// tools returns the list once the boot has settled, as raw definitions.
	tools(t *testing.T) []json.RawMessage
	call(t *testing.T, tool, args string) npmResult
	// exact reports whether results come as the bytes that heddle wrote.
	exact() bool
	close(t *testing.T)
}

// npmResult is a result as both clients can show it.
type npmResult struct {
	raw     json.RawMessage
	Content []struct {
		Type, Text, MimeType string
		Data                 []byte
	}
	StructuredContent map[string]any
	IsError           bool
}

func newNPMResult(t *testing.T, raw json.RawMessage) npmResult {
	t.Helper()
	r := npmResult{raw: raw}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("result %.200s: %v", raw, err)
	}
	return r
}

func (r npmResult) text() string {
	var parts []string
	for _, c := range r.Content {
		if c.Type == "text" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// sdkHost is the official SDK's client.
type sdkHost struct {
	run     *npmRun
	mode    string
	session *mcp.ClientSession
	cmd     *exec.Cmd
}

func npmSDK(t *testing.T, run *npmRun, mode string) npmHost {
	t.Helper()
	h := &sdkHost{run: run, mode: mode, cmd: run.command(t, mode)}
	client := mcp.NewClient(&mcp.Implementation{Name: "npm-test", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, // what a server lists depends on them, and the direct host has none
	})
	ctx, cancel := context.WithTimeout(t.Context(), npmStart)
	defer cancel()
	var err error
	if h.session, err = client.Connect(ctx, &mcp.CommandTransport{Command: h.cmd, TerminateDuration: 20 * time.Second}, nil); err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = h.session.Close() })
	return h
}

func (h *sdkHost) exact() bool { return false }

func (h *sdkHost) tools(t *testing.T) []json.RawMessage {
	t.Helper()
	limit := time.Now().Add(npmStart)
	for {
		list, err := h.session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatalf("tools/list: %v", err)
		}
		var out []json.RawMessage
		for _, tool := range list.Tools {
			raw, _ := json.Marshal(tool)
			out = append(out, raw)
		}
		if h.run.settled(out, h.mode) {
			return out
		}
		if time.Now().After(limit) {
			t.Fatalf("after %s the list has %d tools", npmStart, len(out))
		}
		<-time.After(100 * time.Millisecond) // each list waits for the boot as well
	}
}

func (h *sdkHost) call(t *testing.T, tool, args string) npmResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), npmStart)
	defer cancel()
	result, err := h.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return newNPMResult(t, raw)
}

func (h *sdkHost) close(t *testing.T) {
	t.Helper()
	begin := time.Now()
	if err := h.session.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	npmEnded(t, h.cmd, begin)
}

// rawHost writes and reads lines.
type rawHost struct {
	*mcptest.Host
	run  *npmRun
	mode string
	cmd  *exec.Cmd
}

func npmRaw(t *testing.T, run *npmRun, mode string) npmHost {
	t.Helper()
	cmd := run.command(t, mode)
	h := &rawHost{Host: npmPipes(t, cmd), run: run, mode: mode, cmd: cmd}
	h.Initialize("2025-11-25")
	return h
}

// npmPipes starts cmd with a raw client at its stdin and stdout.
func npmPipes(t *testing.T, cmd *exec.Cmd) *mcptest.Host {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // in a test that passed there is nothing to kill
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return mcptest.NewHost(t, out, in)
}

func (h *rawHost) exact() bool { return true }

func (h *rawHost) tools(t *testing.T) []json.RawMessage {
	t.Helper()
	for changes := 0; ; changes++ {
		list, err := wire.Elements(wire.Member(h.Request("tools/list", "").Result, "tools"))
		if err != nil {
			t.Fatalf("tools/list: %v", err)
		}
		if h.run.settled(list, h.mode) {
			return list
		}
		h.WaitReceived("notifications/tools/list_changed", changes+1)
	}
}

func (h *rawHost) call(t *testing.T, tool, args string) npmResult {
	t.Helper()
	m := h.Call(tool, args)
	if m.Error != nil {
		t.Fatalf("%s %s: %s", tool, args, m.Error)
	}
	return newNPMResult(t, m.Result)
}

func (h *rawHost) close(t *testing.T) {
	t.Helper()
	begin := time.Now()
	h.CloseWrite()
	h.WaitEnded()
	_ = h.cmd.Wait()
	npmEnded(t, h.cmd, begin)
}

// npmEnded wants that heddle ended in good order and in time.
func npmEnded(t *testing.T, cmd *exec.Cmd, begin time.Time) {
	t.Helper()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("after the end of its stdin heddle ended with %v, want exit status 0", cmd.ProcessState)
	}
	if took := time.Since(begin); took > 10*time.Second { // five are promised; others may use this machine too
		t.Errorf("heddle took %s to end", took)
	}
}

// checkNative wants every tool of every server, in order and as its server wrote
// it, and read_result.
func (n *npm) checkNative(t *testing.T, h npmHost) {
	t.Helper()
	listed := map[string]json.RawMessage{}
	var got []string
	for _, d := range h.tools(t) {
		listed[npmName(d)] = d
		got = append(got, npmName(d))
	}
	want := append(n.names(), "read_result")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("tools/list:\n got %q\nwant %q", got, want)
	}
	for _, s := range npmServers {
		for _, d := range n.direct[s] {
			want := npmWithout(d, "outputSchema")
			got := listed[npmName(d)]
			if h.exact() && string(got) != string(want) {
				t.Errorf("%s %s:\n got %s\nwant %s", s, npmName(d), got, want)
			}
			if g, w := npmValue(wire.Member(got, "inputSchema")), npmValue(wire.Member(want, "inputSchema")); g != w {
				t.Errorf("%s %s, inputSchema:\n got %s\nwant %s", s, npmName(d), g, w)
			}
		}
	}
}

// checkCompact wants three tools, every tool of every server behind its exact
// name, and each server behind words.
func (n *npm) checkCompact(t *testing.T, h npmHost) {
	t.Helper()
	var got []string
	for _, d := range h.tools(t) {
		got = append(got, npmName(d))
	}
	if want := []string{"find_tool", "call_tool", "read_result"}; !slices.Equal(got, want) {
		t.Fatalf("tools/list: got %q, want %q", got, want)
	}
	for _, s := range npmServers {
		for _, d := range n.direct[s] {
			found := npmFind(t, h, s+"_"+npmName(d), "")
			if len(found) == 0 || found[0].Name != s+"_"+npmName(d) {
				t.Errorf("find_tool %s_%s: got %v", s, npmName(d), found)
				continue
			}
			if g, w := npmValue(found[0].InputSchema), npmShown(wire.Member(d, "inputSchema")); g != w {
				t.Errorf("find_tool %s_%s, inputSchema:\n got %s\nwant %s", s, npmName(d), g, w)
			}
		}
	}
	for query, want := range map[string]string{
		"add two numbers":                        "everything_get-sum",
		"read text file":                         "filesystem_read_text_file",
		"create entities in the knowledge graph": "memory_create_entities",
		"dynamic and reflective problem-solving": "sequential-thinking_sequentialthinking",
	} {
		found := npmFind(t, h, query, "")
		if !slices.ContainsFunc(found, func(m npmMatch) bool { return m.Name == want }) {
			t.Errorf("find_tool %q: got %v, want %s among them", query, found, want)
		}
	}
	if found := npmFind(t, h, "read", "memory"); len(found) == 0 || !strings.HasPrefix(found[0].Name, "memory_") {
		t.Errorf(`find_tool "read" in memory: got %v`, found)
	}
}

// npmMatch is what find_tool says of a tool.
type npmMatch struct {
	Name        string
	Description string
	InputSchema json.RawMessage
}

func (m npmMatch) String() string { return m.Name }

func npmFind(t *testing.T, h npmHost, query, server string) []npmMatch {
	t.Helper()
	args := map[string]string{"query": query}
	if server != "" {
		args["server"] = server
	}
	raw, _ := json.Marshal(args)
	r := h.call(t, "find_tool", string(raw))
	if r.IsError {
		t.Fatalf("find_tool %s: %s", raw, r.text())
	}
	var out []npmMatch
	for line := range strings.Lines(r.text()) {
		var m npmMatch
		if strings.HasPrefix(line, "{") {
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("find_tool %s: line %q: %v", raw, line, err)
			}
			out = append(out, m)
		}
	}
	return out
}

// npmCall is a call with a known answer.
type npmCall struct {
	server, tool, args string
	// same says that the server itself answers the same, byte for byte.
	same  bool
	check func(npmResult) string // what is wrong, "" for nothing
}

// npmCalls returns calls for every server, in order; files is a directory that
// the filesystem server may use.
func npmCalls(files string) []npmCall {
	path := string(wire.Quote(filepath.Join(files, "note.txt")))
	has := func(part string) func(npmResult) string {
		return func(r npmResult) string {
			if strings.Contains(r.text(), part) {
				return ""
			}
			return fmt.Sprintf("no %q in its text", part)
		}
	}
	const note = "first line\\nsecond: \\u00fcml\\u00e4ut \\ud83e\\uddf5"
	return []npmCall{
		{"everything", "echo", `{"message":"thread and weft"}`, true, has("Echo: thread and weft")},
		{"everything", "get-sum", `{"a":40,"b":2}`, true, has("The sum of 40 and 2 is 42.")},
		{"everything", "get-structured-content", `{"location":"New York"}`, true, func(r npmResult) string {
			if _, ok := r.StructuredContent["temperature"].(float64); !ok {
				return "no number structuredContent.temperature"
			}
			return ""
		}},
		{"everything", "get-tiny-image", `{}`, true, func(r npmResult) string {
			for _, c := range r.Content {
				if c.Type == "image" && c.MimeType == "image/png" && bytes.HasPrefix(c.Data, []byte("\x89PNG")) {
					return ""
				}
			}
			return "no PNG"
		}},
		{"filesystem", "write_file", `{"path":` + path + `,"content":"` + note + `"}`, false, has("Successfully wrote")},
		{"filesystem", "read_text_file", `{"path":` + path + `}`, false, has("first line\nsecond: ümläut 🧵")},
		{"filesystem", "list_directory", `{"path":` + string(wire.Quote(files)) + `}`, false, has("[FILE] note.txt")},
		{"memory", "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["weaves algebra"]}]}`, false, has("Ada")},
		{"memory", "read_graph", `{}`, false, has("weaves algebra")},
		{"sequential-thinking", "sequentialthinking", `{"thought":"one","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":2}`, false, has(`"thoughtNumber": 1`)},
	}
}

// checkCalls runs every call and compares its answer.
func (n *npm) checkCalls(t *testing.T, h npmHost, run *npmRun, mode string) {
	t.Helper()
	for _, c := range npmCalls(run.files) {
		var got npmResult
		if mode == "native" {
			got = h.call(t, c.tool, c.args)
		} else {
			got = h.call(t, "call_tool", fmt.Sprintf(`{"tool":%q,"arguments":%s}`, c.server+"_"+c.tool, c.args))
		}
		if problem := c.check(got); got.IsError || problem != "" {
			t.Errorf("%s %s: %s\ngot %.300s", c.tool, c.args, problem, got.raw)
		}
		if want := n.shown[c.tool]; c.same && h.exact() && string(got.raw) != string(want) {
			t.Errorf("%s %s:\n   got %.300s\ndirect %.300s", c.tool, c.args, got.raw, want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(run.files, "note.txt")); err != nil || string(got) != "first line\nsecond: ümläut 🧵" {
		t.Errorf("the file that write_file wrote: got %q, %v", got, err)
	}
}

func npmName(definition json.RawMessage) string {
	name, _ := wire.Unquote(wire.Member(definition, "name"))
	return name
}

// npmWithout returns an object without one of its members, all else as it is.
func npmWithout(object json.RawMessage, name string) json.RawMessage {
	out := []byte{'{'}
	_ = wire.Members(object, func(key string, value json.RawMessage) bool {
		if key != name {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, wire.Quote(key)...), ':'), value...)
		}
		return true
	})
	return append(out, '}')
}

// npmValue returns JSON with its keys in order and without white space.
func npmValue(raw json.RawMessage) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "not JSON: " + string(raw)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// npmShown is a schema as find_tool shows it: without what says nothing about
// arguments. These servers have that at the top alone.
func npmShown(schema json.RawMessage) string {
	var v map[string]json.RawMessage
	if err := json.Unmarshal(schema, &v); err != nil {
		return "not an object: " + string(schema)
	}
	delete(v, "$schema")
	b, _ := json.Marshal(v)
	return npmValue(b)
}

func npmQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// npmLog gives a process's stderr to the test.
type npmLog struct{ t *testing.T }

// Write implements [io.Writer].
func (l *npmLog) Write(b []byte) (int, error) {
	l.t.Logf("stderr: %s", bytes.TrimSpace(b))
	return len(b), nil
}

package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"heddle/internal/config"
)

// program is a runtime that servers are started by.
type program struct {
	name string
	// version are the arguments that ask for it.
	version []string
	install string
}

func programs() []program {
	version := []string{"--version"}
	return []program{
		{"node", version, "install Node.js, https://nodejs.org"},
		{"npx", version, "install Node.js, https://nodejs.org"},
		{"uv", version, "install uv, https://docs.astral.sh/uv"},
		{"uvx", version, "install uv, https://docs.astral.sh/uv"},
		{"git", version, "install git, https://git-scm.com"},
		// The client alone is of no use: ask for the version of what runs containers.
		{"docker", []string{"version", "--format", "{{.Server.Version}}"}, "install Docker, https://docs.docker.com, and start it"},
	}
}

const (
	versionTime = 5 * time.Second
	// leastNode is the oldest Node.js that the SDK of most servers runs on.
	leastNode = 18
)

// runtimes says of each runtime where it is. Only one that a configured server
// needs is missed.
func runtimes(ctx context.Context, m *Machine) []Finding {
	needed := map[string][]string{}
	for _, s := range m.wanted() {
		for _, name := range needs(&s) {
			needed[name] = append(needed[name], s.Name)
		}
	}
	var all sync.WaitGroup
	found := make([][]Finding, len(programs()))
	var idle []string
	for i, p := range programs() {
		path := look(p.name, m.Path)
		switch {
		case needed[p.name] != nil:
			all.Go(func() { found[i] = []Finding{p.check(ctx, path, needed[p.name])} })
		case path != "":
			idle = append(idle, p.name+" (here)")
		default:
			idle = append(idle, p.name+" (not here)")
		}
	}
	all.Wait()
	out := slices.Concat(found...)
	if len(idle) > 0 {
		out = append(out, Finding{Level: OK, What: "no server needs " + strings.Join(idle, ", ")})
	}
	return out
}

// needs names the runtimes of a server.
func needs(s *config.Server) (out []string) {
	switch name := base(s.Command); name {
	case "npx", "npm", "pnpm", "yarn":
		out = append(out, "node")
		if name == "npx" {
			out = append(out, name)
		}
	case "node", "uv", "uvx", "git", "docker":
		out = append(out, name)
	}
	for _, a := range s.Args {
		if strings.HasPrefix(a, "git+") || strings.HasPrefix(a, "github:") {
			return append(out, "git")
		}
	}
	return out
}

// base returns the name of a program, without directory and suffix.
func base(command string) string {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	return strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
}

// check asks a program for its version.
func (p program) check(ctx context.Context, path string, by []string) Finding {
	f := Finding{Level: Problem, Subject: p.name, Remedy: p.install}
	if path == "" {
		f.What = fmt.Sprintf("%s is not in PATH, and %s it", p.name, need(by))
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, p.version...)
	cmd.WaitDelay = time.Second
	text, err := cmd.Output()
	version, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	switch {
	case err != nil:
		f.What = fmt.Sprintf("%s (%s) does not work: `%s %s` failed: %v", p.name, path, p.name, strings.Join(p.version, " "), err)
	case p.name == "node" && major(version) < leastNode:
		f.Level, f.What = Warning, fmt.Sprintf("node is %s (%s); most servers want %d or newer", version, path, leastNode)
	default:
		f.Level, f.Remedy = OK, ""
		f.What = fmt.Sprintf("%s %s, %s", p.name, strings.TrimPrefix(version, p.name+" "), path)
	}
	return f
}

// need says which servers need something, as "a needs", "a and 2 others need".
func need(servers []string) string {
	switch len(servers) {
	case 1:
		return servers[0] + " needs"
	case 2:
		return servers[0] + " and " + servers[1] + " need"
	}
	return fmt.Sprintf("%s and %d others need", servers[0], len(servers)-1)
}

// major reads the first number of a version such as v22.1.0; what has none is new.
func major(version string) int {
	first, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(first); err == nil {
		return n
	}
	return leastNode
}

// look finds a program in a PATH; "" if it is not there.
func look(name, path string) string {
	if strings.ContainsAny(name, `/\`) {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p
		}
	}
	return ""
}

// windowPath finds the commands that a host does not find that was started from a
// menu: it has the system's PATH, without what a shell's files add.
func windowPath(_ context.Context, m *Machine) []Finding {
	if m.WindowPath == "" || len(m.wanted()) == 0 {
		return nil
	}
	var out []Finding
	servers := map[string][]string{} // by what they need
	for _, s := range m.wanted() {
		if s.Command == "" || s.Env["PATH"] != "" { // which says where to look
			continue
		}
		var hidden []string
		for _, name := range started(s.Command, m.Path) {
			if look(name, m.Path) != "" && look(name, m.WindowPath) == "" { // missing everywhere is for other checks
				hidden = append(hidden, name)
			}
		}
		if hidden == nil {
			continue
		}
		key := strings.Join(hidden, " and ")
		if servers[key] == nil {
			out = append(out, m.hidden(&s, key, hidden[len(hidden)-1]))
		}
		servers[key] = append(servers[key], s.Name)
	}
	for i, f := range out {
		out[i].What += "; " + need(servers[f.Subject]) + " it"
	}
	if out == nil {
		return []Finding{{Level: OK, What: "a host with a window finds every command too"}}
	}
	return out
}

// hidden is the finding of what only a shell finds. The absolute path is enough for
// a command, but not for what it has env look for in turn.
func (m *Machine) hidden(s *config.Server, names, last string) Finding {
	path := look(last, m.Path)
	f := Finding{Level: Warning, Subject: names, Remedy: "write `command: " + path + "`"}
	f.What = fmt.Sprintf("a host with a window does not find %s: %s is in your shell's PATH alone", names, filepath.Dir(path))
	if last != s.Command {
		f.Remedy = fmt.Sprintf("write `env: {PATH: \"%s%c${PATH}\"}`", filepath.Dir(path), filepath.ListSeparator)
	}
	return f
}

// started names a command and what its first line has env look for.
func started(command, path string) []string {
	out := []string{command}
	p := look(command, path)
	if p == "" {
		return out
	}
	f, err := os.Open(p)
	if err != nil {
		return out
	}
	defer f.Close()
	head := make([]byte, 128)
	n, _ := f.Read(head) // what cannot be read has no first line
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	line, script := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if !script || len(words) < 2 || base(words[0]) != "env" {
		return out
	}
	if words = words[1:]; words[0] == "-S" && len(words) > 1 {
		words = words[1:]
	}
	return append(out, words[0])
}

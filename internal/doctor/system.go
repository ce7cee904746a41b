package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/internal/config"
	"heddle/internal/dataset/protocol"
)

// checkTime is more than heddle-sql gives itself.
const checkTime = 25 * time.Second

// sql has heddle-sql check itself.
func sql(ctx context.Context, m *Machine) []Finding {
	const subject = "heddle-sql"
	if m.Worker == "" {
		return []Finding{{Level: Warning, Subject: subject, What: "heddle-sql is neither beside heddle nor in PATH: results are kept, but there is no SQL over them",
			Remedy: "put it beside " + m.Binary}}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.Worker, "-check")
	cmd.WaitDelay = time.Second
	var words strings.Builder
	cmd.Stderr = &words
	text, err := cmd.Output()
	var hello protocol.Hello
	if parsed := json.Unmarshal(text, &hello); parsed != nil || hello.Error != "" || err != nil {
		f := Finding{Level: Warning, Subject: subject, What: m.Worker + " does not work here, so there is no SQL: " + hello.Error, Remedy: "use the heddle-sql that came with this heddle, built with cgo"}
		if hello.Error == "" {
			f.What = strings.TrimSuffix(f.What, ": ")
			f.Details = lines(words.String())
			if err != nil {
				f.What += ": " + err.Error()
			}
		}
		return []Finding{f}
	}
	out := []Finding{{Level: OK, Subject: subject, What: fmt.Sprintf("%s, %s", hello.Engine, m.Worker)}}
	for _, l := range hello.Lacks {
		out = append(out, Finding{Level: Warning, Subject: subject, What: "the seal of heddle-sql is not complete: " + l,
			Remedy: "queries are still checked before they run; a newer system has all of the seal"})
	}
	return out
}

// lines are the first few of a text.
func lines(text string) []string {
	const most = 5
	all := strings.Split(strings.TrimSpace(text), "\n")
	if all[0] == "" {
		return nil
	}
	return all[:min(len(all), most)]
}

// ports says whether the default port of heddle over HTTP is free.
func ports(ctx context.Context, m *Machine) []Finding {
	port := strconv.Itoa(m.Port)
	f := Finding{Level: OK, Subject: port, What: "port " + port + " is free for `heddle sse`"}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	if err == nil {
		_ = l.Close()
		return []Finding{f}
	}
	for _, r := range m.Running {
		if u, err := url.Parse(r.Listen); err == nil && u.Port() == port {
			f.What = fmt.Sprintf("port %s is served by heddle, pid %d", port, r.PID)
			return []Finding{f}
		}
	}
	f.Level, f.What = Warning, "port "+port+" is taken by another program"
	f.Remedy = "give `heddle sse` another --port; a host over stdio needs none"
	return []Finding{f}
}

// leastRoom is what heddle needs for a large result and its ledger.
const leastRoom = 200 << 20

// files says whether heddle can write where it wants to, and others cannot read
// what they should not.
func files(_ context.Context, m *Machine) (out []Finding) {
	if m.Config != nil {
		out = append(out, m.dotEnv()...)
		out = append(out, m.commands()...)
	}
	good := []string{}
	for _, dir := range []struct{ path, holds string }{{m.StateDir, "the ledger"}, {m.CacheDir, "the cache"}, {m.TempDir, "large results"}} {
		if dir.path == "" {
			out = append(out, Finding{Level: Warning, What: "there is no place for " + dir.holds, Remedy: "set HOME"})
			continue
		}
		if f, bad := directory(dir.path, dir.holds, dir.path != m.TempDir); bad {
			out = append(out, f)
		} else {
			good = append(good, dir.path)
		}
	}
	if len(good) > 0 {
		out = append(out, Finding{Level: OK, What: "can be written: " + strings.Join(good, ", ")})
	}
	return out
}

// dotEnv wants the file of secrets for its owner alone: heddle does not read it
// otherwise, which is a warning of the configuration if something was to be in it.
// Windows has no such bits.
func (m *Machine) dotEnv() []Finding {
	path := filepath.Join(m.Config.Dir, ".env")
	info, err := os.Stat(path)
	said := slices.ContainsFunc(m.Config.Warnings, func(p config.Problem) bool { return p.Path == path })
	switch {
	case err != nil || info.IsDir() || said || runtime.GOOS == "windows":
		return nil
	case info.Mode().Perm()&0o077 != 0:
		return []Finding{{Level: Warning, Subject: path, What: fmt.Sprintf("others can read %s (mode %04o), so heddle would not", path, info.Mode().Perm()), Remedy: "chmod 600 " + path}}
	}
	return []Finding{{Level: OK, Subject: path, What: path + " is yours alone"}}
}

// commands wants the configuration for its owner alone to write: heddle runs what is in
// it. Windows has no such bits.
func (m *Machine) commands() []Finding {
	path := m.Config.Path
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o022 == 0 || runtime.GOOS == "windows" {
		return nil
	}
	return []Finding{{
		Level: Warning, Subject: path, What: fmt.Sprintf("others can write to %s (mode %04o), and heddle runs the commands in it", path, info.Mode().Perm()),
		Remedy: "chmod go-w " + path,
	}}
}

// directory says what is wrong with one that heddle writes to. One that is not
// there yet is made, as any heddle would.
func directory(path, holds string, own bool) (Finding, bool) {
	f := Finding{Level: Problem, Subject: path, Remedy: "give yourself access to it, or set " + variable(path, own)}
	if own {
		if err := os.MkdirAll(path, 0o700); err != nil {
			f.What = fmt.Sprintf("%s cannot be made for %s: %v", path, holds, cause(err))
			return f, true
		}
	}
	probe, err := os.CreateTemp(path, ".heddle-doctor-")
	if err != nil {
		f.What = fmt.Sprintf("%s cannot be written, and holds %s: %v", path, holds, cause(err))
		return f, true
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	if info, err := os.Stat(path); err == nil && own && info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows" {
		f.Level, f.What, f.Remedy = Warning, fmt.Sprintf("others can write to %s (mode %04o)", path, info.Mode().Perm()), "chmod 700 "+path
		return f, true
	}
	if free, known := room(path); known && free < leastRoom {
		f.What = fmt.Sprintf("%s has only %d MB left for %s", path, free>>20, holds)
		f.Remedy = "make room: calls go on without, but their rows and results are lost"
		return f, true
	}
	return f, false
}

// variable names what moves a directory elsewhere.
func variable(path string, own bool) string {
	switch {
	case !own:
		return "TMPDIR"
	case strings.Contains(path, "cache"):
		return "XDG_CACHE_HOME"
	}
	return "XDG_STATE_HOME"
}

// cause is an error of the file system without the operation and the path.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// heddles looks at those that run: a host goes on with the program that it
// started, whatever was installed since.
func heddles(_ context.Context, m *Machine) (out []Finding) {
	for _, r := range m.Running {
		name := fmt.Sprintf("pid %d", r.PID)
		switch {
		case r.Version != m.Version:
			out = append(out, Finding{Level: Warning, Subject: name, What: fmt.Sprintf("%s runs heddle %s, and this is %s", name, r.Version, m.Version), Remedy: "restart the host that started it"})
		case r.Degraded:
			out = append(out, Finding{Level: Warning, Subject: name, What: name + " is degraded: a server of " + r.Config + " does not run", Remedy: "`heddle status` has the reason"})
		}
	}
	switch {
	case len(m.Running) == 0:
		return []Finding{{Level: OK, What: "no heddle is running"}}
	case len(out) == 0:
		return []Finding{{Level: OK, What: count(len(m.Running), "heddle") + " running, of this version"}}
	}
	return out
}

package doctor

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/internal/config"
	"heddle/internal/upstream"
)

// slow is a start that a user waits for without need.
const slow = 10 * time.Second

// servers says of each server how its start went.
func servers(ctx context.Context, m *Machine) (out []Finding) {
	if m.Config == nil || len(m.Config.Servers) == 0 {
		return nil
	}
	began := time.Now()
	all, idle, err := m.Servers(ctx)
	if err != nil {
		return []Finding{{Level: Problem, What: "the servers could not be started: " + err.Error(), Remedy: "`heddle validate --log-level debug` says more"}}
	}
	for i := range all {
		out = append(out, m.server(&all[i], time.Since(began))...)
	}
	for _, p := range idle {
		out = append(out, Finding{Level: Warning, Subject: p.List, Code: "idle_pattern", What: p.String(), Remedy: "correct it, or remove it; `heddle validate` lists all tools"})
	}
	return out
}

// server returns first how a server's start went, and then what is odd about it.
func (m *Machine) server(s *Server, waited time.Duration) []Finding {
	f := Finding{Subject: s.Name, Code: s.Code, Details: s.Stderr}
	switch {
	case s.State == upstream.StateReady:
		f = m.ready(s)
	case s.Code == "off":
		f.Level, f.What = OK, s.Name+" is disabled"
	case s.State == upstream.StateWaiting:
		f.Level, f.Code = Problem, "starting"
		f.What = fmt.Sprintf("%s did not have its turn within %s: a few start at a time", s.Name, waited.Round(time.Second))
		f.Remedy = "try again, with a longer --timeout"
	case s.State == upstream.StateStarting:
		f.Level, f.What = Problem, fmt.Sprintf("%s is still starting after %s", s.Name, waited.Round(time.Second))
		if f.Remedy = instead()[s.Code]; f.Remedy != "" {
			f.What += ": " + s.Reason
			break
		}
		f.Code = "starting"
		f.Remedy = "what is downloaded first takes long once: try again, with a longer --timeout"
	default:
		f.Level, f.What = Problem, s.Name+": "+s.Reason
		var searched []string
		f.Remedy, searched = m.remedy(s)
		f.Details = append(f.Details, searched...)
	}
	silent := s.State != upstream.StateReady
	if silent && s.Stray > 0 {
		f.Details = slices.Concat(said("stdout: ", s.StrayFirst), said("stderr: ", s.Stderr))
	}
	out := []Finding{f}
	odd := func(code, what, remedy string, details ...string) {
		out = append(out, Finding{Level: Warning, Subject: s.Name, Code: code, What: what, Remedy: remedy, Details: details})
	}
	if s.Stray > 0 && !silent {
		odd("stdout_noise", fmt.Sprintf("%s writes text to stdout that is no protocol: %s", s.Name, count(int(s.Stray), "line")),
			"have it log to stderr; other clients end the session over this", s.StrayFirst...)
	}
	if s.BadBytes > 0 {
		odd("invalid_utf8", fmt.Sprintf("%s sent bytes that are not UTF-8 and were replaced: %d", s.Name, s.BadBytes),
			"have it write UTF-8; for Python set PYTHONUTF8: \"1\" in its env")
	}
	if n := len(s.Warnings); n > 0 {
		odd("list", s.Name+": "+s.Warnings[0], "update the server, or tell its author; the rest of it works", s.Warnings[1:]...)
	}
	if n := len(s.Odd); n > 0 {
		const most = 3
		shown := s.Odd[:min(n, most)]
		if n > most {
			shown = append(shown[:most:most], fmt.Sprintf("and %d more", n-most))
		}
		odd("definitions", fmt.Sprintf("%s has odd tools: %s", s.Name, count(n, "warning")), "tell its author; the tools work as far as that goes", shown...)
	}
	return out
}

// said marks lines by where they came from.
func said(where string, lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, where+l)
	}
	return out
}

// instead are the remedies for a server that runs, and says something else than an
// answer.
func instead() map[string]string {
	return map[string]string{
		"no_protocol": "if it goes on so, its command starts no MCP server over stdio: give a server that listens on a port as `url`; many others need a flag, such as --stdio",
		"login":       "do as it says, in a terminal where its command runs, then try again; many servers take a token in `env` in place of a login",
	}
}

// ready is the finding of a server that runs.
func (m *Machine) ready(s *Server) Finding {
	f := Finding{Level: OK, Subject: s.Name, What: fmt.Sprintf("%s: %s after %s, protocol %s", s.Name, count(s.Tools, "tool"), took(s.Took), s.Protocol)}
	if s.Took > slow {
		f.Level, f.Code, f.Remedy = Warning, "slow_start", "have it load less before it answers"
		switch base(m.configured(s.Name).Command) {
		case "npx", "uvx":
			f.Remedy = "install its package, and write the program that comes with it as `command`"
		}
	}
	return f
}

func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func (m *Machine) configured(name string) *config.Server {
	for i := range m.Config.Servers {
		if m.Config.Servers[i].Name == name {
			return &m.Config.Servers[i]
		}
	}
	return &config.Server{}
}

// remedies are what to do where a server's reason does not say it, by its code.
func remedies() map[string]string {
	out := map[string]string{
		"unusable":          "set what is missing, in the environment or in a .env (chmod 600) beside the configuration",
		"start_failed":      "check its `command` and `cwd`: the program must be executable, the directory must be there",
		"handshake_timeout": "run its command in a terminal: a server waits without a word; a slow one needs `start_timeout`",
		"exited":            "run its command in a terminal; often a variable, an argument or a package is missing",
		"handshake_failed":  "check that its command is an MCP server over stdio, or its url one over HTTP",
		"protocol_version":  "update the server: it answers with a version of the protocol that does not exist",
		"list_failed":       "update the server, or tell its author: it starts, and fails to list its tools",
		"dns":               "check the name in its `url`; a VPN or a proxy may be needed (HTTPS_PROXY)",
		"tls":               "give the certificate of your company or of the server as `ca_file`; check the clock of this machine",
		"unauthorized":      "set `headers: {Authorization: \"Bearer ${TOKEN}\"}`, and the variable; a token may have expired",
		"http_status":       "check the path of its `url`: most are at /mcp or /sse",
		"unreachable":       "start the server, or check host and port of its `url`",
	}
	maps.Copy(out, instead())
	return out
}

// remedy says what to do about a server that does not run, and where a command was
// looked for that was not found.
func (m *Machine) remedy(s *Server) (remedy string, searched []string) {
	c := m.configured(s.Name)
	if s.Code != "command_not_found" {
		return remedies()[s.Code], nil
	}
	if strings.ContainsAny(c.Command, `/\`) {
		return "correct its `command`: nothing is at that path", nil
	}
	path := c.Env["PATH"]
	if path == "" {
		path = m.Path
	}
	searched = []string{"searched: " + strings.Join(filepath.SplitList(path), " ")}
	for _, p := range programs() {
		if p.name == base(c.Command) {
			return p.install, searched
		}
	}
	return "install it, or write its absolute path as `command`", searched
}

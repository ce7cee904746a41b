package hostfile

import (
	"regexp"
	"slices"
	"strings"
)

// Restriction is something that a host's settings say against tools of a server: its
// tools are then other ones for heddle, and the host does not apply it any more.
type Restriction struct {
	// Tool is as the server calls it, "*" for all of them. Where the host changes
	// characters in names, those are changed.
	Tool string
	// Ask is true if the host asks its user before a call, and false if there is none.
	Ask bool
	// Path is the file that says so.
	Path string
}

// Restrictions returns what the settings of the server's host say about its tools,
// besides its own entry: see Server.Allow and Server.Deny for that. Only hosts are
// looked at whose way to write this is known. A file that cannot be read is an error.
func (s Server) Restrictions() ([]Restriction, error) {
	h := s.File.Host
	if h.restricts == nil {
		return nil, nil
	}
	rules, err := h.restricts(s.File.env)
	if err != nil {
		return nil, err
	}
	var out []Restriction
	for _, r := range rules {
		tool, ok := h.toolOf(s, r.tool)
		if ok && !slices.Contains(out, Restriction{tool, r.ask, r.path}) {
			out = append(out, Restriction{tool, r.ask, r.path})
		}
	}
	return out, nil
}

// rule is a Restriction with the tool as the host names it.
type rule struct {
	path, tool string
	ask        bool
}

var notInTool = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// toolOf returns the tool of a server that a host's name means.
func (h *Host) toolOf(s Server, name string) (string, bool) {
	server := notInTool.ReplaceAllString(s.Name, "_")
	for _, form := range h.toolNames {
		prefix := strings.ReplaceAll(form, "SERVER", server)
		rest, ok := strings.CutPrefix(name, prefix)
		switch {
		case name == strings.TrimRight(prefix, "_"):
			return "*", true
		case ok && rest != "":
			return rest, true
		}
	}
	return "", false
}

// claudeRules are the permissions of Claude Code.
func claudeRules(env Env) ([]rule, error) {
	var out []rule
	for _, path := range claudeSettings(env) {
		root, err := settings(path, jsonFormat)
		if err != nil {
			return nil, err
		}
		for _, t := range stringsOf(root.get("permissions", "deny")) {
			out = append(out, rule{path, t, false})
		}
		for _, t := range stringsOf(root.get("permissions", "ask")) {
			out = append(out, rule{path, t, true})
		}
	}
	return out, nil
}

// geminiRules returns the tools that a host of Gemini CLI's kind leaves out, whose
// directory in the home and in a project is dir.
func geminiRules(dir string) func(Env) ([]rule, error) {
	return func(env Env) ([]rule, error) {
		var out []rule
		for _, base := range []string{env.Home, env.Cwd} {
			path := env.join(base, dir+"/settings.json")
			root, err := settings(path, jsonFormat)
			if err != nil {
				return nil, err
			}
			for _, t := range slices.Concat(stringsOf(root.get("tools", "exclude")), stringsOf(root.get("excludeTools"))) {
				out = append(out, rule{path, t, false})
			}
		}
		return out, nil
	}
}

// opencodeRules are the tools that OpenCode turns off, denies or asks for.
func opencodeRules(env Env) ([]rule, error) {
	h, err := Lookup("opencode")
	if err != nil {
		return nil, err
	}
	var out []rule
	for _, f := range slices.Concat(h.Files(env, User), h.Files(env, Project)) {
		root, err := settings(f.Path, jsonFormat)
		if err != nil {
			return nil, err
		}
		for _, key := range []string{"tools", "permission"} {
			n := root.get(key)
			if n == nil {
				continue
			}
			for _, m := range n.members {
				if m.value.isFalse() || m.value.text == "deny" || m.value.text == "ask" {
					out = append(out, rule{f.Path, m.key, m.value.text == "ask"})
				}
			}
		}
	}
	return out, nil
}

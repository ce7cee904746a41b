package hostfile

import (
	"slices"
	"strings"
)

// approval is what a host wants before it starts a server.
type approval struct {
	// file gets name into its list at path; nil if nothing is to be set.
	file *approvalFile
	// notes are what the user has to do, because it grants more than heddle may
	// decide.
	notes []string
}

type approvalFile struct {
	path string
	list []string
}

// approveClaude sets that the project's server may start. Whether the directory
// is trusted decides on far more, so that stays with the user.
func approveClaude(env Env, scope Scope, name string) (approval, error) {
	var out approval
	state := env.join(override(env, "CLAUDE_CONFIG_DIR", env.Home), ".claude.json")
	root, err := settings(state, jsonFormat)
	if err != nil {
		return out, err
	}
	trusted := false
	for _, dir := range folder(env, env.Cwd) {
		project := root.get("projects", dir)
		trusted = trusted || project.get("hasTrustDialogAccepted").isTrue()
		for _, key := range []string{"disabledMcpServers", "disabledMcpjsonServers"} {
			if slices.Contains(stringsOf(project.get(key)), name) && (scope == Project || key == "disabledMcpServers") {
				out.notes = append(out.notes, state+" has "+name+" under projects, "+dir+", "+key+", so that it is not started there: take it out")
			}
		}
	}
	if scope == User {
		return out, nil
	}
	const enabled = "enabledMcpjsonServers"
	local := env.join(env.Cwd, ".claude/settings.local.json")
	approved := false
	for i, path := range claudeSettings(env) {
		root, err := settings(path, jsonFormat)
		if err != nil {
			return out, err
		}
		if slices.Contains(stringsOf(root.get("disabledMcpjsonServers")), name) {
			out.notes = append(out.notes, path+" has "+name+" under disabledMcpjsonServers: take it out")
		}
		approved = approved || i < projectSettings && (root.get("enableAllProjectMcpServers").isTrue() || slices.Contains(stringsOf(root.get(enabled)), name))
	}
	if !approved {
		out.file = &approvalFile{path: local, list: []string{enabled}}
	}
	if trusted {
		return out, nil
	}
	out.notes = append(out.notes, "Claude Code starts a project's servers only in a directory that you trust: start claude in "+env.Cwd+
		" once and say yes, or set hasTrustDialogAccepted to true for it under projects in "+state)
	return out, nil
}

// projectSettings is how many of claudeSettings are the project's.
const projectSettings = 2

// claudeSettings are the files with Claude Code's settings, those that count most first.
func claudeSettings(env Env) []string {
	return []string{
		env.join(env.Cwd, ".claude/settings.local.json"), env.join(env.Cwd, ".claude/settings.json"),
		env.join(override(env, "CLAUDE_CONFIG_DIR", env.join(env.Home, ".claude")), "settings.json"),
	}
}

// approveCodex says what makes Codex read a project's file.
func approveCodex(env Env, scope Scope, _ string) (approval, error) {
	if scope == User {
		return approval{}, nil
	}
	root, err := settings(codexFile(env), tomlFormat)
	if err != nil {
		return approval{}, err
	}
	if level := root.get("projects", env.Cwd, "trust_level"); level != nil && level.text == "trusted" {
		return approval{}, nil
	}
	return approval{notes: []string{"Codex reads a project's file only in a directory that you trust: start codex in " + env.Cwd +
		" once and say yes, or add to " + codexFile(env) + ": [projects." + tomlString(env.Cwd) + `] trust_level = "trusted"`}}, nil
}

// approveGemini says what makes Gemini CLI start servers: in a folder that is not
// trusted it starts none, not even the user's.
func approveGemini(env Env, scope Scope, name string) (approval, error) {
	out, err := approveFolder(env, "Gemini CLI", env.join(env.Home, ".gemini"), true)
	out.admit(scope, name, env.join(env.Home, ".gemini/settings.json"), env.join(env.Cwd, ".gemini/settings.json"))
	return out, err
}

// approveQwen is for a host that has Gemini CLI's trusted folders, but only for
// those who want them.
func approveQwen(env Env, scope Scope, name string) (approval, error) {
	out, err := approveFolder(env, "Qwen Code", env.join(env.Home, ".qwen"), false)
	out.admit(scope, name, env.join(env.Home, ".qwen/settings.json"), env.join(env.Cwd, ".qwen/settings.json"))
	return out, err
}

// admit looks for name in the lists of servers that a host of Gemini CLI's kind starts,
// and in those that it does not. A project's list stands in place of the user's. That of
// the file which heddle gets into is the install's own matter; in another file it is an
// approval, or a note where that file is not what was asked for.
func (a *approval) admit(scope Scope, name, user, project string) {
	inUser, _ := settings(user, jsonFormat) // the change itself reports it, if it is about this file
	inProject, _ := settings(project, jsonFormat)
	for _, list := range gemini.admits {
		u, p := inUser.get(list...), inProject.get(list...)
		missing := func(n *node) bool { return n != nil && n.kind == array && !slices.Contains(stringsOf(n), name) }
		key := strings.Join(list, ".")
		switch {
		case scope == Project && p == nil && missing(u) && a.file == nil:
			a.file = &approvalFile{path: user, list: list}
		case scope == Project && p == nil && missing(u), scope == User && missing(p) && user != project:
			path := project
			if scope == Project {
				path = user
			}
			a.notes = append(a.notes, path+" has a list "+key+" without "+name+", so that it is not started there: add it")
		}
	}
	for _, f := range []struct {
		path string
		root *node
	}{{user, inUser}, {project, inProject}} {
		for _, list := range gemini.excludes {
			if slices.Contains(stringsOf(f.root.get(list...)), name) {
				a.notes = append(a.notes, f.path+" has "+name+" under "+strings.Join(list, ".")+", so that it is not started: take it out")
			}
		}
	}
}

// approveFolder looks for the working directory among a host's trusted folders.
// usual says whether the host asks where its settings do not say so.
func approveFolder(env Env, title, dir string, usual bool) (approval, error) {
	all, err := settings(env.join(dir, "settings.json"), jsonFormat)
	if err != nil {
		return approval{}, nil // the change itself reports it, if it is about this file
	}
	enabled := all.get("security", "folderTrust", "enabled")
	if enabled.isFalse() || !usual && !enabled.isTrue() {
		return approval{}, nil
	}
	path := env.join(dir, "trustedFolders.json")
	root, err := settings(path, jsonFormat)
	if err != nil {
		return approval{}, err
	}
	if root != nil {
		for _, m := range root.members {
			trusted := m.value.text == "TRUST_FOLDER" && env.within(env.Cwd, m.key)
			parent := m.value.text == "TRUST_PARENT" && env.within(env.Cwd, env.dir(m.key))
			if trusted || parent {
				return approval{}, nil
			}
		}
	}
	return approval{notes: []string{title + " starts servers only in a folder that you trust: start it in " + env.Cwd + " once and say yes, or add to " +
		path + ": {" + quote(env.Cwd) + `: "TRUST_FOLDER"}`}}, nil
}

// settings reads another file of a host; nil if it is not there.
func settings(path string, f format) (*node, error) {
	snap, err := load(path)
	if err != nil || !snap.exists {
		return nil, err
	}
	d, err := parseOr(snap, f)
	if err != nil {
		return nil, err
	}
	return d.root, nil
}

package hostfile

import (
	"path/filepath"
	"strings"
)

// FileAt returns the file at an absolute path, which may be of any host or of
// none. Which host it is for follows from its path, and where that says nothing,
// from its contents; what is left has the most common form, mcpServers in JSON,
// and the host "file".
func FileAt(env Env, path string) (File, error) {
	for _, f := range All(env) {
		if filepath.Clean(path) == filepath.Clean(f.Path) {
			return f, nil
		}
	}
	snap, err := load(path)
	if err != nil {
		return File{}, err
	}
	if !snap.exists {
		return File{}, &Error{Path: path, Message: "does not exist", Hint: "check the path"}
	}
	// What is relative in it counts from its own directory.
	env.Cwd = filepath.Dir(path)
	f := File{Scope: Project, Path: path, env: env, Host: noHost(standard)}
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		f.Host.dialect = codex
		return f, nil
	}
	d, err := parse(path, jsonFormat, snap.data)
	if err != nil {
		return File{}, err
	}
	for _, x := range []*dialect{standard, vscode, zed, opencode} {
		if n := d.root.get(x.key...); n != nil {
			f.Host.dialect = x
			return f, nil
		}
	}
	return File{}, &Error{Path: path, Message: "lists no servers: it has none of mcpServers, servers, context_servers and mcp", Hint: "name the file of a host"}
}

// ReadAs returns the servers of data, which has mcpServers in JSON, as if they
// stood in a file at path that is of no host.
func ReadAs(env Env, path string, data []byte) ([]Server, error) {
	env.Cwd = filepath.Dir(path)
	return readServers(File{Scope: Project, Path: path, env: env, Host: noHost(standard)}, data)
}

// noHost is what a file of no host belongs to.
func noHost(x *dialect) *Host {
	return &Host{Name: "file", Title: "file", Mode: Compact, dialect: x}
}

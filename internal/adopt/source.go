package adopt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"heddle/internal/hostfile"
)

// source is a file that was read.
type source struct {
	path string
	// host is the name of the host that it belongs to; "" for none.
	host    string
	servers []hostfile.Server
	// settings are what it has besides servers; nil for nothing.
	settings *settings
	notes    []string
}

// usual are the files that a project has its servers in.
var usual = []string{".mcp.json", "mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"}

// sources reads what the request names; without a name what there is, which may
// be nothing.
func sources(r Request) ([]source, error) {
	var files []hostfile.File
	switch {
	case r.From == "":
		for _, name := range usual {
			path := filepath.Join(r.Env.Cwd, name)
			if _, err := os.Lstat(path); err != nil {
				continue
			}
			f, err := hostfile.FileAt(r.Env, path)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	case isFile(r.Env, r.From):
		s, err := readFile(r, inCwd(r.Env, r.From))
		return []source{s}, err
	default:
		var err error
		if files, err = filesOf(r); err != nil {
			return nil, err
		}
	}
	var out []source
	for _, f := range files {
		s, err := readHost(f)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// isFile reports whether the user means a file, which need not be there.
func isFile(env hostfile.Env, from string) bool {
	info, err := os.Stat(inCwd(env, from))
	return strings.ContainsAny(from, `./\`) || err == nil && !info.IsDir()
}

func inCwd(env hostfile.Env, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(env.Home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(env.Cwd, path)
}

// filesOf returns the files of a host that are there.
func filesOf(r Request) ([]hostfile.File, error) {
	host, err := hostfile.Lookup(r.From)
	if err != nil {
		return nil, &Error{Message: fmt.Sprintf("--from %s is neither a file nor a host that heddle knows", r.From), Hint: hint(err), Err: err}
	}
	var out []hostfile.File
	var looked []string
	for _, f := range hostfile.All(r.Env) {
		if f.Host.Name != host.Name {
			continue
		}
		looked = append(looked, f.Path)
		if _, err := os.Lstat(f.Path); err == nil {
			out = append(out, f)
		}
	}
	if out == nil {
		return nil, &Error{Message: host.Title + " has no file here; looked for " + strings.Join(looked, ", "), Hint: "name the file with --from FILE"}
	}
	return out, nil
}

func hint(err error) string {
	if e, ok := err.(*hostfile.Error); ok {
		return e.Hint
	}
	return ""
}

func readHost(f hostfile.File) (source, error) {
	servers, err := hostfile.Read(f)
	s := source{path: f.Path, servers: servers}
	if f.Host.Name != "file" {
		s.host = f.Host.Name
	}
	return s, err
}

// readFile reads a file of whatever format.
func readFile(r Request, path string) (source, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return source{}, &Error{Message: fmt.Sprintf("read %s: %v", path, cause(err)), Hint: "check the path", Err: err}
	}
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".yml" || ext == ".yaml":
		return readGuard(r, path, data)
	case ext != ".toml" && isArrayForm(data):
		return readArray(r, path, data)
	}
	f, err := hostfile.FileAt(r.Env, path)
	if err != nil {
		return source{}, err
	}
	return readHost(f)
}

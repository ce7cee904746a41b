package hostfile

import (
	"os"
	"runtime"
	"strings"
)

// Env is the machine that files are looked for on. Tests describe others than
// their own.
type Env struct {
	// OS is a system as runtime.GOOS names it.
	OS string
	// Home is the user's home directory.
	Home string
	// AppData is %APPDATA% on Windows.
	AppData string
	// Cwd is the absolute directory whose project files count.
	Cwd string
	// Getenv returns an environment variable, "" if it is not set; nil means that
	// none is.
	Getenv func(string) string
}

// SystemEnv returns the Env of this process.
func SystemEnv(getenv func(string) string) (Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Env{}, &Error{Message: "the home directory is not known", Hint: "set HOME", Err: err}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return Env{}, &Error{Message: "the working directory is not known", Hint: "change to a directory that exists", Err: err}
	}
	return Env{OS: runtime.GOOS, Home: home, AppData: getenv("APPDATA"), Cwd: cwd, Getenv: getenv}, nil
}

func (e Env) getenv(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

func (e Env) separator() string {
	if e.OS == "windows" {
		return `\`
	}
	return "/"
}

// join puts a path together as the system does that e describes, which need not
// be this one.
func (e Env) join(first string, rest ...string) string {
	sep := e.separator()
	out := strings.TrimRight(first, sep)
	for _, part := range rest {
		out += sep + strings.ReplaceAll(part, "/", sep)
	}
	return out
}

// isAbs reports whether path is absolute on that system.
func (e Env) isAbs(path string) bool {
	if e.OS != "windows" {
		return strings.HasPrefix(path, "/")
	}
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	return drive || strings.HasPrefix(path, `\\`)
}

// config returns the directory for the configuration of programs that follow the
// XDG rules on every system.
func (e Env) config() string {
	if dir := e.getenv("XDG_CONFIG_HOME"); e.isAbs(dir) {
		return dir
	}
	return e.join(e.Home, ".config")
}

// support returns the directory for the configuration of programs with a window.
func (e Env) support() string {
	switch e.OS {
	case "windows":
		if e.AppData != "" {
			return e.AppData
		}
		return e.join(e.Home, "AppData/Roaming")
	case "darwin":
		return e.join(e.Home, "Library/Application Support")
	}
	return e.config()
}

// within reports whether dir is root or below it. Hosts on Windows also write
// slashes.
func (e Env) within(dir, root string) bool {
	if e.OS == "windows" {
		fold := strings.NewReplacer(`\`, "/")
		dir, root = strings.ToLower(fold.Replace(dir)), strings.ToLower(fold.Replace(root))
	}
	root = strings.TrimRight(root, "/")
	return root != "" && (dir == root || strings.HasPrefix(dir, root+"/"))
}

// base returns the last element of a path.
func (e Env) base(path string) string {
	path = strings.TrimRight(path, `/\`)
	if e.OS == "windows" {
		return path[strings.LastIndexAny(path, `/\`)+1:]
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// dir returns the directory that a path is in.
func (e Env) dir(path string) string {
	path = strings.TrimRight(path, `/\`)
	return strings.TrimRight(strings.TrimSuffix(path, e.base(path)), `/\`)
}

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// fileName is what heddle looks for.
const fileName = "heddle.yml"

// NotFoundError says that there is no configuration, where it was looked for,
// and what to do.
type NotFoundError struct {
	// Asked is what named the file ("--config" or "HEDDLE_CONFIG"); "" if nothing did
	// and the usual places were searched.
	Asked string
	// Looked are the absolute paths that were tried, in order.
	Looked []string
	// Near is a file with a similar name that was passed over; may be "".
	Near string
}

// Error lists every place and ends with what to do.
func (e *NotFoundError) Error() string {
	if e.Asked != "" {
		return fmt.Sprintf("%s names %s, which does not exist; correct the path or create the file", e.Asked, strings.Join(e.Looked, ", "))
	}
	s := "no " + fileName + " found; looked for\n  " + strings.Join(e.Looked, "\n  ") + "\n"
	if e.Near != "" {
		s += e.Near + " is there: rename it to " + fileName + ", or name it with --config"
	} else {
		s += "create one of them, or name a file with --config or HEDDLE_CONFIG"
	}
	return s
}

// Find returns the absolute path of the configuration file: explicit if it is
// not "", else the one that HEDDLE_CONFIG names, else heddle.yml in dir or the
// nearest directory above it, else in the user's configuration directory.
// Relative paths are relative to dir. If there is none, the error is a
// [*NotFoundError].
func Find(explicit, dir string, env Env) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find configuration: %w", err)
	}
	if explicit != "" {
		return named("--config", explicit, dir, env)
	}
	if path, _ := env.lookup("HEDDLE_CONFIG"); path != "" {
		return named("HEDDLE_CONFIG", path, dir, env)
	}
	missing := &NotFoundError{}
	for _, d := range append(upward(dir), userDirs(env)...) {
		path := filepath.Join(d, fileName)
		if isFile(path) {
			return path, nil
		}
		missing.Looked = append(missing.Looked, path)
		if near := filepath.Join(d, "heddle.yaml"); missing.Near == "" && isFile(near) {
			missing.Near = near
		}
	}
	return "", missing
}

// named returns the file that by asks for, if there is one.
func named(by, path, dir string, env Env) (string, error) {
	path = absolute(path, dir, env)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &NotFoundError{Asked: by, Looked: []string{path}}
	case err != nil:
		return "", fmt.Errorf("find configuration: %w", err)
	case info.IsDir():
		return "", fmt.Errorf("%s names %s, which is a directory; name the file in it", by, path)
	}
	return path, nil
}

// absolute returns path relative to dir, or to the home directory if it begins
// with "~/".
func absolute(path, dir string, env Env) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && env.Home != "" {
		return filepath.Join(env.Home, rest)
	}
	if path == "~" && env.Home != "" {
		return env.Home
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// upward returns dir and all directories above it.
func upward(dir string) []string {
	dirs := []string{dir}
	for parent := filepath.Dir(dir); parent != dir; parent = filepath.Dir(dir) {
		dirs, dir = append(dirs, parent), parent
	}
	return dirs
}

// userDirs returns where a user's own configuration may be, in order. It follows
// os.UserConfigDir, but takes the variables from env.
func userDirs(env Env) []string {
	if xdg, _ := env.lookup("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		return []string{filepath.Join(xdg, "heddle")}
	}
	var dirs []string
	if appData, _ := env.lookup("AppData"); runtime.GOOS == "windows" && appData != "" {
		dirs = append(dirs, filepath.Join(appData, "heddle"))
	}
	if env.Home != "" && runtime.GOOS != "windows" {
		dirs = append(dirs, filepath.Join(env.Home, ".config", "heddle"))
	}
	if env.Home != "" && runtime.GOOS == "darwin" {
		dirs = append(dirs, filepath.Join(env.Home, "Library", "Application Support", "heddle"))
	}
	return dirs
}

package adopt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readable refuses a name by which heddle would read the file as something else than
// YAML.
func readable(path string) error {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".json", ".jsonc", ".json5", ".toml":
		return &Error{Message: fmt.Sprintf("%s: init writes YAML, which heddle would not look for in a file that ends in %s", path, ext), Hint: "name it heddle.yml, or something else that ends in .yml"}
	}
	return nil
}

// free refuses to overwrite a file.
func (p *Plan) free() error {
	info, err := os.Lstat(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &Error{Message: fmt.Sprintf("%s: %v", p.Path, cause(err)), Err: err}
	case info.IsDir():
		return &Error{Message: p.Path + " is a directory", Hint: "name the file in it"}
	case !p.force:
		return &Error{Message: p.Path + " is there already", Hint: "edit it, or overwrite it with --force"}
	}
	return nil
}

// ignores are lines of a .gitignore that cover .env.
var ignores = []string{".env", "/.env", "**/.env", "*.env", ".env*", ".env.*", "*"}

// gitignore plans the line for .env in the nearest .gitignore up to the top of the
// repository.
func (p *Plan) gitignore() error {
	for dir := filepath.Dir(p.DotEnv); ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ".gitignore")
		data, err := os.ReadFile(path)
		_, top := os.Lstat(filepath.Join(dir, ".git"))
		switch {
		case err == nil && covers(string(data)):
			return nil
		case err == nil:
			p.Gitignore, p.ignore = path, ".env\n"
			if len(data) > 0 && data[len(data)-1] != '\n' {
				p.ignore = "\n.env\n"
			}
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return &Error{Message: fmt.Sprintf("read %s: %v", path, cause(err)), Hint: ".env has to be listed there", Err: err}
		case top == nil:
			p.Notes = append(p.Notes, dir+" is a repository without .gitignore: see to it that "+p.DotEnv+" never gets into it")
			return nil
		case dir == filepath.Dir(dir):
			return nil
		}
	}
}

func covers(text string) bool {
	for line := range strings.Lines(text) {
		if slices.Contains(ignores, strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// Secrets reports whether writing the plan changes .env.
func (p *Plan) Secrets() bool { return p.added != "" }

// Write puts the files on the disk: what they refer to first, heddle.yml last. If
// one fails, those before it are put back.
func (p *Plan) Write() error {
	var done []undo
	for _, w := range []struct {
		path, more string
		private    bool
	}{{p.DotEnv, p.added, true}, {p.Gitignore, p.ignore, false}} {
		if w.more == "" {
			continue
		}
		u, err := extend(w.path, w.more, w.private)
		if err != nil {
			return back(done, err)
		}
		done = append(done, u)
	}
	if _, err := put(p.Path, p.text, 0o644); err != nil {
		return back(done, err)
	}
	return nil
}

// undo brings a file back.
type undo func() error

func back(done []undo, err error) error {
	e := &Error{Message: err.Error(), Hint: "nothing was changed", Err: err}
	for _, u := range slices.Backward(done) {
		if uerr := u(); uerr != nil {
			e.Hint = "what was written before could not be taken back: " + uerr.Error()
		}
	}
	return e
}

// extend adds lines to a file, which a private one is from then on.
func extend(path, more string, private bool) (undo, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if private {
		mode = 0o600
	}
	return put(path, slices.Concat(data, []byte(more)), mode)
}

// put replaces a file as one step; of a link, what it leads to.
func put(path string, data []byte, mode fs.FileMode) (undo, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	old, oldErr := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err := replace(path, data, mode); err != nil {
		return nil, err
	}
	return func() error {
		if oldErr != nil || statErr != nil {
			return os.Remove(path)
		}
		return replace(path, old, info.Mode().Perm())
	}, nil
}

func replace(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".heddle-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// cause returns the reason of a file error without the path.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

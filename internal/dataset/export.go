package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"heddle"
)

// checkExport refuses an export before anything runs.
func (s *Store) checkExport(format, name string) error {
	refuse := func(path, why string) error {
		return &heddle.Error{
			Kind: heddle.KindInvalidArguments, Op: "dataset.export", Public: "Nothing was exported: " + why,
			Violations: []heddle.Violation{{Path: path, Keyword: "pattern", Message: why}},
		}
	}
	switch {
	case s.o.ExportDir == "":
		return refuse("/export", "this heddle has no export directory; results.export_dir of its configuration names one.")
	case format != "csv" && format != "json":
		return refuse("/export", "the format is csv or json.")
	case name == "":
		return nil
	case name != filepath.Base(name) || strings.ContainsAny(name, `/\:`) || strings.HasPrefix(name, ".") || len(name) > 200 || strings.ContainsFunc(name, unicode.IsControl):
		return refuse("/filename", "a file name of at most 200 bytes is expected, without a directory: the export directory is the configuration's choice.")
	}
	return nil
}

// write writes an export, whole or not at all, to a file that did not exist.
func (s *Store) write(format, name string, content []byte, now time.Time) (string, error) {
	fail := func(err error) error {
		return &heddle.Error{
			Kind: heddle.KindUnavailable, Op: "dataset.export", Err: err,
			Public: "The export could not be written: " + because(err) + ". results.export_dir says where it goes.",
		}
	}
	dir, err := filepath.Abs(s.o.ExportDir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", fail(err)
	}
	if name == "" {
		name = "export-" + now.Format("20060102-150405")
	}
	stem := name
	if ext := filepath.Ext(name); strings.EqualFold(ext, "."+format) {
		stem = strings.TrimSuffix(name, ext)
	}
	for n := 1; ; n++ {
		path := filepath.Join(dir, stem+"."+format)
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.%s", stem, n, format))
		}
		err := writeNew(path, content)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return "", fail(err)
		}
		return path, nil
	}
}

// writeNew writes a file that did not exist, whole or not at all.
func writeNew(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".heddle-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint: gone if it was linked
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Link(f.Name(), path) // fails where there is one
	}
	return err
}

// because is the last cause of an error, without paths.
func because(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

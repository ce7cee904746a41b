package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"heddle/internal/ledger"
)

// sticky is stdout, and remembers that something could not be written to it: a
// report that is cut off must not look like a whole one to who asks for the code.
type sticky struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (s *sticky) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

// fileOf returns the file that a command's output is, nil if it is none.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *os.File:
		return w
	case *sticky:
		return fileOf(w.w)
	case *statusLine:
		return fileOf(w.w)
	}
	return nil
}

// emit prints a report: as JSON if that is asked for, else what text writes.
func (a *app) emit(v any, text func()) error {
	if !a.json {
		text()
		return nil
	}
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return unread(enc.Encode(v))
}

// unread makes a failure of its own of a pipe that nobody reads any more: whoever
// did has seen enough, and needs no words for it.
func unread(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return &silent{exitFailure}
	}
	return err
}

// nothingYet is what reports say of a ledger without rows.
const nothingYet = "Nothing has been recorded yet: a host must call a tool through `heddle start` or `heddle serve` first."

// book opens the ledger; nil if nothing has been recorded yet.
func (a *app) book(ctx context.Context) (*ledger.Reader, error) {
	path := a.ledgerPath()
	if path == "" {
		return nil, nil
	}
	r, err := ledger.OpenReader(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &hinted{err, "the ledger is " + path + "; move it away to begin a new one"}
	}
	return r, nil
}

// span is a length of time in the units that people think of reports in.
var span = regexp.MustCompile(`^([0-9]{1,5})(m|h|d|w)$`)

// since reads --since: a length of time before now, or a day. "" is ever.
func since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if m := span.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits, and few
		switch m[2] {
		case "m":
			return now.Add(-time.Duration(n) * time.Minute), nil
		case "h":
			return now.Add(-time.Duration(n) * time.Hour), nil
		case "d":
			return now.AddDate(0, 0, -n), nil
		case "w":
			return now.AddDate(0, 0, -7*n), nil
		}
	}
	day, err := time.ParseInLocation(time.DateOnly, text, now.Location())
	if err != nil {
		return time.Time{}, &usageError{fmt.Errorf("--since %q is no time", text), "write 30m, 12h, 7d, 2w or a day as 2026-01-31"}
	}
	return day, nil
}

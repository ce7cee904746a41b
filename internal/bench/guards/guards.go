// Package guards measures the guards on labelled corpora: what each finds of what it
// should, and what it finds that is none.
//
// It reads files of JSON lines from a directory, as internal/policy/testdata has
// them, so that corpora which the rules were not written with can be measured by the
// same command. It calls the guards as the gateway does and decides nothing itself.
// Start at [Measure].
package guards

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Report is what was measured, guard by guard.
type Report struct {
	Figures []Figure `json:"figures"`
	// Missing are corpora that the directory does not have.
	Missing []string `json:"missing,omitempty"`
}

// Holds reports whether every figure with a bar holds it.
func (r *Report) Holds() bool {
	for i := range r.Figures {
		if r.Figures[i].Bar != "" && !r.Figures[i].Holds {
			return false
		}
	}
	return true
}

// corpus is a file and what measures it.
type corpus struct {
	name    string
	measure func(context.Context, []json.RawMessage) ([]Figure, error)
}

var corpora = []corpus{
	{"ssrf", measureSSRF}, {"authz", measureAuthz}, {"poisoning", measurePoisoning}, {"secrets", measureSecrets}, {"injection", measureInjection},
}

// Measure reads the corpora that a directory has and returns the figures. It fails
// if there is none, or a line is not understood.
func Measure(ctx context.Context, dir string) (*Report, error) {
	out := &Report{}
	for _, c := range corpora {
		rows, err := read(filepath.Join(dir, c.name+".jsonl"))
		if errors.Is(err, fs.ErrNotExist) {
			out.Missing = append(out.Missing, c.name+".jsonl")
			continue
		}
		if err != nil {
			return nil, err
		}
		figures, err := c.measure(ctx, rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		for i := range figures {
			figures[i].Guard = c.name
			figures[i].settle()
		}
		out.Figures = append(out.Figures, figures...)
	}
	if len(out.Missing) == len(corpora) {
		return nil, fmt.Errorf("%s has none of the corpora: %w", dir, fs.ErrNotExist)
	}
	return out, ctx.Err()
}

// mark stands in texts of corpora so that they hold no well-formed secret.
var mark = []byte("§")

// read returns the lines of a file, without marks.
func read(path string) (rows []json.RawMessage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		line = bytes.TrimSpace(bytes.ReplaceAll(bytes.ReplaceAll(line, mark, nil), []byte(`\u00a7`), nil))
		if len(line) > 0 {
			if !json.Valid(line) {
				return nil, fmt.Errorf("%s:%d: not valid JSON", path, n)
			}
			rows = append(rows, line)
		}
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// decode reads all rows of a corpus.
func decode[T any](rows []json.RawMessage) ([]T, error) {
	out := make([]T, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row, &out[i]); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return out, nil
}

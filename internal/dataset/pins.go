package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"heddle"
	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/records"
)

// A pinned dataset is one file in the state directory, below one for its principal:
// compressed, a line with a pin and then the snapshot. It is written once and never
// changed, so that several heddles can have it at once.
const (
	pinDir    = "datasets"
	pinSuffix = ".jsonl.zst"
	pinForm   = 1
)

// pin is the first line of a pinned file.
type pin struct {
	Form       int              `json:"heddle_dataset"`
	Name       string           `json:"name"`
	Created    time.Time        `json:"created"`
	Types      []string         `json:"types"`
	Profile    protocol.Profile `json:"profile"`
	Provenance Provenance       `json:"provenance"`
}

// pinsDir is where the principal's pinned datasets are. Names of principals come
// from outside.
func (o *owner) pinsDir() string {
	sum := sha256.Sum256([]byte(o.principal))
	return filepath.Join(o.store.o.StateDir, pinDir, hex.EncodeToString(sum[:8]))
}

func (o *owner) pinPath(name string) string { return filepath.Join(o.pinsDir(), name+pinSuffix) }

// pin writes the file of a dataset.
func (o *owner) pin(d *Dataset, snapshot []byte) error {
	fail := func(err error) error {
		if errors.Is(err, fs.ErrExist) { // another heddle was faster
			return &heddle.Error{Kind: heddle.KindInvalidArguments, Op: "dataset.save", Public: "There is a dataset of that name. Choose another; nothing is overwritten.", Err: err}
		}
		return &heddle.Error{Kind: heddle.KindUnavailable, Op: "dataset.save", Public: "The dataset could not be saved: " + because(err) + ".", Err: err}
	}
	head, err := json.Marshal(pin{Form: pinForm, Name: d.Ref, Created: d.Created, Types: d.types, Profile: d.Profile, Provenance: d.Provenance})
	if err != nil {
		return fail(err)
	}
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err == nil {
		_, err = z.Write(append(head, '\n'))
	}
	if err == nil {
		_, err = z.Write(snapshot)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.MkdirAll(o.pinsDir(), 0o700)
	}
	if err == nil {
		err = writeNew(o.pinPath(d.Ref), b.Bytes())
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

// pinned is the source of a pinned dataset.
func (o *owner) pinned(name string) source {
	return func() (records.Table, error) {
		_, rest, err := o.openPin(name, true)
		if err != nil {
			return records.Table{}, &heddle.Error{
				Kind: heddle.KindResultExpired, Op: "dataset.load", Err: err,
				Public: fmt.Sprintf("The pinned dataset %s cannot be read any more: %s.", name, because(err)),
			}
		}
		return snapshotTable(rest), nil
	}
}

// openPin reads the first line of a pinned file, and the rest if that is wanted.
func (o *owner) openPin(name string, all bool) (p pin, snapshot []byte, err error) {
	if info, err := os.Lstat(o.pinPath(name)); err != nil || !info.Mode().IsRegular() {
		return p, nil, cmp.Or(err, errors.New("it is no file"))
	}
	f, err := os.Open(o.pinPath(name))
	if err != nil {
		return p, nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(4*protocol.MaxPayload))
	if err != nil {
		return p, nil, err
	}
	defer z.Close()
	r := bufio.NewReaderSize(z, 64<<10)
	if err := protocol.Read(r, &p); err != nil {
		return p, nil, err
	}
	if p.Form != pinForm || p.Name != name {
		return p, nil, fmt.Errorf("it is of another form (%d)", p.Form)
	}
	if all {
		snapshot, err = io.ReadAll(io.LimitReader(r, 2*protocol.MaxPayload))
	}
	return p, snapshot, err
}

// reopen finds pinned datasets of earlier runs and of other heddles. One that cannot
// be read is left alone, and said once.
func (o *owner) reopen(ctx context.Context) {
	if o.store.o.StateDir == "" {
		return
	}
	entries, err := os.ReadDir(o.pinsDir())
	if err != nil {
		return // there are none
	}
	here := map[string]bool{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), pinSuffix)
		if !ok || !goodName.MatchString(name) || !e.Type().IsRegular() { // opening a pipe waits for its writer
			continue
		}
		here[name] = true
		if o.knows(name) {
			continue
		}
		d := &Dataset{Ref: name, Pinned: true, source: o.pinned(name)}
		p, _, err := o.openPin(name, false)
		if err != nil {
			o.store.o.Logger.Warn("a pinned dataset cannot be read", "name", name, "err", because(err))
			d = nil // known, so that it is said once
		} else {
			d.Created, d.types, d.Profile, d.Provenance = p.Created, p.Types, p.Profile, p.Provenance
			d.Profile.Hints = nil // of other datasets then
			d.Table = records.Table{Form: records.FormSnapshot, Source: "query", Count: int(p.Profile.Rows)}
		}
		o.mu.Lock()
		if o.broken == nil {
			o.broken = map[string]bool{}
		}
		if d == nil {
			o.broken[name] = true
		} else if o.sets[name] == nil {
			o.sets[name] = d
		}
		o.mu.Unlock()
	}
	var gone []*Dataset
	for _, d := range o.list() {
		if d.Pinned && !here[d.Ref] { // removed by its user
			gone = append(gone, d)
		}
	}
	o.remove(ctx, gone)
}

// knows reports whether a pinned file was seen before.
func (o *owner) knows(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sets[name] != nil || o.broken[name]
}

//go:build cgo

package worker

import (
	"context"
	"fmt"
	"hash/maphash"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"heddle/internal/dataset/protocol"
	"heddle/internal/dataset/worker/gate"
)

// engine is the database with what is known of its tables.
type engine struct {
	db     *database
	gate   *gate.Gate
	memory int64 // what the engine may use, in bytes
	hash   hasher
	serial atomic.Uint64

	mu     sync.Mutex
	tables map[string]*table // by the name in lower case: the engine ignores case
}

// table is one that was loaded or kept. It does not change.
type table struct {
	name    string
	kept    bool
	columns []column
	rows    int64
	bytes   int64
	notes   []string
	profile *protocol.Profile // without sample and hints; nil before it is asked for
	keys    []*keys           // one a column that may be joined on, else nil
}

// column is a column of a table.
type column struct {
	name   string
	typ    string // SQL
	source string
	note   string
	apart  bool // it has JSON of several kinds, which has no use for bounds or joins
}

// memoryAThread is what the engine wants for each of its threads.
const memoryAThread = 64 << 20

// open starts an engine with one thread. It is of use only once it is locked.
func open(c protocol.Config) (*engine, error) {
	if c.Memory <= 0 || c.TempDir == "" {
		return nil, fmt.Errorf("start: memory and tempDir are not given")
	}
	db, err := openDatabase([]setting{
		// The directory has to come first: without external access none is taken.
		{"temp_directory", c.TempDir},
		{"enable_external_access", "false"},
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"allow_community_extensions", "false"},
		{"memory_limit", strconv.FormatInt(c.Memory, 10) + "B"},
		{"threads", "1"},
		{"max_temp_directory_size", strconv.FormatInt(maxTemp, 10) + "B"},
		{"preserve_insertion_order", "true"},
		{"errors_as_json", "false"},
	})
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	return &engine{db: db, gate: gate.New(db.syntax), memory: c.Memory, hash: hasher{maphash.MakeSeed()}, tables: map[string]*table{}}, nil
}

// maxTemp is what the engine may spill to its directory.
const maxTemp = 1 << 30

// lock lets the engine have its threads, and ends the time of settings.
func (e *engine) lock(ctx context.Context, threads int) error {
	c, err := e.db.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	if threads <= 0 {
		threads = int(max(1, min(int64(runtime.GOMAXPROCS(0)), e.memory/memoryAThread)))
	}
	if err := c.exec(fmt.Sprintf("SET threads = %d; SET TimeZone = 'UTC'; SET lock_configuration = true", threads)); err != nil {
		return fmt.Errorf("lock the settings: %w", err)
	}
	return nil
}

// selfTest tests that the engine works and that its locks hold.
func (e *engine) selfTest(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, selfTestTime)
	defer cancel()
	c, err := e.db.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	for _, t := range []struct{ sql, want string }{
		{"FROM read_csv('/etc/hostname')", "Permission Error"},
		{"FROM read_text('/etc/hostname')", "Permission Error"},
		{"COPY (SELECT 1) TO '/tmp/heddle-sql'", "Permission Error"},
		{"SET enable_external_access = true", ""},
		{"SET threads = 1", ""},
	} {
		err := c.exec(t.sql)
		if err == nil || !strings.HasPrefix(err.Error(), t.want) {
			return fmt.Errorf("self-test: %s: got %v, want a refusal: no SQL is offered", t.sql, err)
		}
	}
	if got, err := c.texts("SELECT (40 + 2)::VARCHAR"); err != nil || len(got) != 1 || *got[0][0] != "42" {
		return fmt.Errorf("self-test: the engine does not answer: %v", err)
	}
	return nil
}

const selfTestTime = 5 * time.Second

// close ends the engine; nothing may use it.
func (e *engine) close() {
	e.db.close()
}

// find returns a table, nil if there is none.
func (e *engine) find(name string) *table {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tables[strings.ToLower(name)]
}

// put makes t known; what had its name is replaced.
func (e *engine) put(t *table) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tables[strings.ToLower(t.name)] = t
}

// others returns the tables that hints may name: all that have a name but t.
func (e *engine) others(t *table) []*table {
	e.mu.Lock()
	defer e.mu.Unlock()
	var others []*table
	for _, o := range e.tables {
		if o != t && !o.kept && !strings.EqualFold(o.name, t.name) {
			others = append(others, o)
		}
	}
	return others
}

// drop removes tables. One that does not exist is no error.
func (e *engine) drop(ctx context.Context, names []string) error {
	c, err := e.db.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	for _, name := range names {
		if err := c.exec("DROP TABLE IF EXISTS main." + ident(name)); err != nil {
			return err
		}
		e.mu.Lock()
		delete(e.tables, strings.ToLower(name))
		e.mu.Unlock()
	}
	return nil
}

// fresh returns a name for a table of ours that no other has.
func (e *engine) fresh(prefix string) string {
	return prefix + strconv.FormatUint(e.serial.Add(1), 10)
}

// syntax is the [gate.Parser]: the engine's function takes the text apart and runs
// nothing of it.
func (d *database) syntax(ctx context.Context, text string) (string, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	defer c.close()
	got, err := c.texts("SELECT json_serialize_sql('" + strings.ReplaceAll(text, "'", "''") + "')::VARCHAR")
	if err != nil {
		return "", err
	}
	return *got[0][0], nil
}

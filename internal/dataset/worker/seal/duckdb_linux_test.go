//go:build cgo && (amd64 || arm64)

package seal

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2"
	"golang.org/x/sys/unix"
)

func init() { children["duckdb"] = tryDuckDB }

// tryDuckDB runs an engine that is not locked, so that only the seal is in the way.
func tryDuckDB(dir string) func() error {
	return func() error {
		db, err := sql.Open("duckdb", "?memory_limit=100MB&threads=2&temp_directory="+dir)
		if err != nil {
			return err
		}
		defer db.Close()
		run := func(query string) (int64, error) {
			var n int64
			err := db.QueryRow(query).Scan(&n)
			return n, err
		}
		// 150 MB of rows do not fit, so they go through the directory.
		n, err := run("SELECT count(*) FROM (SELECT md5(i::VARCHAR) || md5(i::VARCHAR) AS s, i FROM range(1500000) t(i) ORDER BY s DESC OFFSET 1)")
		if err != nil || n != 1_499_999 {
			return fmt.Errorf("sort: %d, %w", n, err)
		}
		if _, err := db.Exec("CREATE TABLE big AS SELECT i, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) AS s FROM range(1500000) t(i)"); err != nil {
			return err
		}
		spilled, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(spilled) == 0 {
			return errors.New("nothing was spilled")
		}
		if _, err := run("SELECT len(list(range)) FROM range(1000000000)"); err == nil || !strings.Contains(err.Error(), "emory") {
			return fmt.Errorf("a list beyond the limit: %v", err)
		}
		if _, err := run("SELECT len(repeat('x', 4000000000))"); err == nil {
			return errors.New("a string beyond the limit was made")
		}
		if n, err := run("SELECT count(DISTINCT s) FROM big"); n != 1_500_000 {
			return fmt.Errorf("after it: %d, %w", n, err)
		}
		for _, query := range []string{
			"SELECT content FROM read_text('/etc/hostname')",
			"SELECT * FROM read_csv('/proc/self/environ')",
			"COPY (SELECT 1) TO '" + filepath.Join(filepath.Dir(dir), "copy") + "'",
			"ATTACH '" + filepath.Join(filepath.Dir(dir), "other.db") + "' AS other",
		} {
			if _, err := db.Exec(query); err == nil {
				return fmt.Errorf("%s: no error", query)
			}
		}
		var zone string
		if err := db.QueryRow("SELECT current_setting('TimeZone')").Scan(&zone); err != nil {
			return err
		}
		var used unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil || used.Maxrss > 800_000 {
			return fmt.Errorf("used %d kB, %w", used.Maxrss, err)
		}
		fmt.Printf("peak %d kB, time zone %s\n", used.Maxrss, zone)
		return nil
	}
}

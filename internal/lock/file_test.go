package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"heddle"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123, time.FixedZone("", 3600))

// home puts the lock of the file into the test's own directory.
func home(t *testing.T) (path string) {
	t.Setenv("TMPDIR", t.TempDir())
	return filepath.Join(t.TempDir(), "heddle.lock")
}

func tool(server, name, definition string) Tool {
	return Tool{Ref: heddle.ToolRef{Server: server, Name: name}, Definition: []byte(definition)}
}

func approve(tools ...Tool) func(*File) error {
	return func(f *File) error {
		for _, t := range tools {
			if err := f.Approve(t, noon); err != nil {
				return err
			}
		}
		return nil
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const golden = `{
  "version": 1,
  "tools": [
    {
      "server": "fs",
      "tool": "read\u202e",
      "approved": "2026-03-01T11:00:00Z",
      "sha256": "ee98c417c81aca67ec758eb67ee2c479b37c12ac1db7981483ace7c7647011bb",
      "definition": {"description":"é\u200b\udb40\udc41","name":"read\u202e"}
    },
    {
      "server": "gh",
      "tool": "a",
      "approved": "2026-03-01T11:00:00Z",
      "sha256": "0b6ab2f1b85f78ddecb32ffd6cab2e9a6235575ab978a5b3d8901c455d8827ef",
      "definition": {"inputSchema":{"maximum":12345678901234567890},"name":"a"}
    }
  ]
}
`

func TestFileIsDeterministic(t *testing.T) {
	path := home(t)
	one := tool("gh", "a", `{"name":"a","inputSchema":{"maximum":12345678901234567890}}`)
	two := tool("fs", "read\u202e", `{"name":"read\u202e","description":"\u00e9\u200b\udb40\udc41"}`)
	if err := Update(path, approve(one, two)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(golden, read(t, path)); diff != "" {
		t.Error(diff)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := f.Entry(two.Ref); !ok || e.Hash != Hash(two.Definition) || !e.Approved.Equal(noon.Truncate(time.Second)) {
		t.Errorf("entry %+v, %v", e, ok)
	}
	// Approved again, later and spelled in another way, it stays as it was.
	one.Definition = []byte(`{"inputSchema":{"maximum":12345678901234567890.0}, "name":"a"}`)
	if err := f.Approve(one, noon.Add(time.Hour)); err != nil || string(f.encode()) != golden {
		t.Errorf("error %v, the file is\n%s", err, f.encode())
	}
	if !f.Remove(one.Ref) || f.Remove(one.Ref) || f.Len() != 1 {
		t.Errorf("%d entries after the removal", f.Len())
	}
	if err := f.Approve(tool("gh", "b", `{"name":`), noon); !errors.Is(err, ErrInvalid) {
		t.Errorf("no JSON: %v", err)
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	path := home(t)
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	replace := func(old, now string) string { return strings.Replace(golden, old, now, 1) }
	for _, c := range []struct{ name, file, want string }{
		{"empty", "\n", ":1: the file is empty"},
		{"cut", golden[:300], ":11: not valid JSON"},
		{"merge", replace("    {\n      \"server\": \"gh\"", "<<<<<<< HEAD\n    {\n      \"server\": \"gh\""), ":11: two versions that were not merged; settle"},
		{"list", "[]", ":1: an object was expected"},
		{"newer", replace(": 1", ": 2"), ":2: version 2 is not known, this heddle reads version 1; update"},
		{"no version", `{"tools":[]}`, ":1: version is missing"},
		{"unknown", replace(`"version": 1`, `"version": 1, "trust": "all"`), `:2: "trust" is not known`},
		{"twice", replace(`"server": "fs"`, `"server": "fs", "server": "gh"`), ":5: server is there twice"},
		{"no text", replace(`"server": "fs"`, `"server": 1`), ":5: server must be a text"},
		{"time", replace("2026-03-01T11:00:00Z", "yesterday"), ":7: approved must be a time"},
		{"hash", replace("maximum", "minimum"), `:15: sha256 is not that of the definition of "gh::a"`},
		{"tool twice", replace(`"server": "gh"`, `"server": "fs"`) + " ", `:11: a second entry`},
		{"tools", `{"version":1,"tools":{}}`, ":1: tools must be a list"},
	} {
		file := c.file
		if c.name == "tool twice" {
			block := golden[strings.Index(golden, "    {") : strings.Index(golden, "    },")+len("    },\n")]
			file = strings.Replace(golden, block, block+block, 1)
		}
		if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Read(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s: %v, want %s%s", c.name, err, path, c.want)
		}
		if f != nil {
			t.Errorf("%s: approves %d", c.name, f.Len())
		}
		// Nor does a change make it a new one.
		if err := Update(path, approve(tool("a", "b", `{}`))); err == nil || read(t, path) != file {
			t.Errorf("%s: written over, error %v", c.name, err)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a directory: %v", err)
	}
}

func TestReadTakesOtherLayouts(t *testing.T) {
	path := home(t)
	layout := strings.NewReplacer("\n", "\r\n", `"name":"a"}`, "\"name\" :\t\"\\u0061\" }").Replace(golden)
	if err := os.WriteFile(path, []byte(layout), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path)
	if err != nil || f.Len() != 2 {
		t.Fatalf("error %v", err)
	}
	if got := string(f.encode()); got != golden {
		t.Errorf("written back:\n%s", got)
	}
}

// TestTwoWriters: nobody's approval is lost.
func TestTwoWriters(t *testing.T) {
	path := home(t)
	const writers, each = 4, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := Update(path, approve(tool(fmt.Sprint("s", w), fmt.Sprint("t", i), `{"name":"x"}`))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 { // who only reads sees a whole file
		if _, err := Read(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	wg.Wait()
	f, err := Read(path)
	if err != nil || f.Len() != writers*each {
		t.Errorf("%d approvals, want %d; error %v", f.Len(), writers*each, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteRefusesWhatItHasNotRead(t *testing.T) {
	path := home(t)
	var a, b File
	if err := errors.Join(approve(tool("a", "a", `{}`))(&a), a.Write(path), approve(tool("b", "b", `{}`))(&b)); err != nil {
		t.Fatal(err)
	}
	if err := b.Write(path); !errors.Is(err, ErrChanged) {
		t.Errorf("over a file that was not there before: %v", err)
	}
	edited := read(t, path) + "\n"
	if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	a.Remove(heddle.ToolRef{Server: "a", Name: "a"})
	if err := a.Write(path); !errors.Is(err, ErrChanged) || read(t, path) != edited {
		t.Errorf("over an edited file: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteKeepsModeAndLink(t *testing.T) {
	link := home(t)
	real := filepath.Join(t.TempDir(), "real.lock")
	if err := Update(real, approve(tool("a", "a", `{}`))); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(real); runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("a new file has mode %v", info.Mode())
	}
	if err := errors.Join(os.Chmod(real, 0o600), os.Symlink(real, link)); err != nil {
		t.Skip(err)
	}
	if err := Update(link, approve(tool("b", "b", `{}`))); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != real {
		t.Errorf("the link is %q, %v", to, err)
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if f, err := Read(link); err != nil || f.Len() != 2 {
		t.Errorf("error %v", err)
	}
	// One change through the link and one without are the same file's.
	a, _ := exclusive(link)
	defer a()
	if one, _ := target(link); one != mustTarget(t, real) {
		t.Errorf("%s is another file than %s", one, real)
	}
	if err := errors.Join(os.Remove(link), os.Symlink("nowhere", link)); err != nil {
		t.Fatal(err)
	}
	if err := Update(link, approve()); err == nil || !strings.Contains(err.Error(), "link that leads nowhere") {
		t.Errorf("a link to nothing: %v", err)
	}
}

func mustTarget(t *testing.T, path string) string {
	t.Helper()
	real, err := target(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func TestWriteWithoutPermission(t *testing.T) {
	path := home(t)
	if err := Update(path, approve(tool("a", "a", `{}`))); err != nil {
		t.Fatal(err)
	}
	was := read(t, path)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := Update(path, approve(tool("b", "b", `{}`))); !errors.Is(err, fs.ErrPermission) || read(t, path) != was {
		t.Errorf("a read-only file: %v", err)
	}
	if err := Update(path, approve(tool("a", "a", `{}`))); err != nil {
		t.Errorf("nothing to change in a read-only file: %v", err)
	}
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	other := filepath.Join(dir, "other.lock")
	if f, err := os.Create(other); err == nil {
		f.Close()
		t.Skip("permissions do not hold here (root)")
	}
	if err := Update(other, approve(tool("b", "b", `{}`))); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "its directory") {
		t.Errorf("a read-only directory: %v", err)
	}
}

func TestUpdateWithAnError(t *testing.T) {
	path := home(t)
	stop := errors.New("stop")
	if err := Update(path, func(*File) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was written: %v", err)
	}
	if err := Update(filepath.Join(path, "no", "such", "place"), approve()); err == nil {
		t.Error("in a directory that is not there: no error")
	}
}

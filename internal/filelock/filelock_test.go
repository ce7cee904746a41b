package filelock

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Try(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Try(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v, want ErrLocked", err)
	}
	if _, err := Within(path, 10*time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("after a wait: %v, want ErrLocked", err)
	}
	time.AfterFunc(20*time.Millisecond, first.Unlock)
	second, err := Within(path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	second.Unlock()
	if _, err := Try(filepath.Join(path, "below", "a", "file")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("where no file can be: %v", err)
	}
}

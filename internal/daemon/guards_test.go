package daemon

import (
	"strings"
	"testing"

	"heddle/internal/config"
)

// A tool may be called by a secret, and hosts know it behind its server's name.
func TestMaskerHidesNames(t *testing.T) {
	mask := masker(&config.Config{})
	key := "sk-" + strings.Repeat("8ba42dbba62b0e6a", 2)
	for _, name := range []string{key, "echo_" + key, "my_echo_" + key, "echo::" + key} {
		if got := mask(name); strings.Contains(got, key) {
			t.Errorf("%s is shown as %s", name, got)
		}
	}
	for _, name := range []string{"github_create_issue", "fs_read_text_file", "a_b_c"} {
		if got := mask(name); got != name {
			t.Errorf("%s is shown as %s", name, got)
		}
	}
}

package hostfile

import (
	"os"
	"strings"
	"testing"
)

// TestPages wants a page for each host that says what was seen of it.
func TestPages(t *testing.T) {
	list, err := os.ReadFile("../../docs/hosts/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range Hosts() {
		page, err := os.ReadFile("../../docs/hosts/" + h.Name + ".md")
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{"# " + h.Title + "\n", "heddle install --host " + h.Name, "\n## Seen", "`" + string(h.Mode) + "` (default)"} {
			if !strings.Contains(string(page), want) {
				t.Errorf("the page of %s does not say %q", h.Name, want)
			}
		}
		if want := "[" + h.Title + "](" + h.Name + ".md) | `" + h.Name + "`"; !strings.Contains(string(list), want) {
			t.Errorf("the list of pages has no %s", want)
		}
	}
}

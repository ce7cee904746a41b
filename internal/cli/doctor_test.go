package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"heddle/internal/config"
	"heddle/internal/doctor"
)

// TestDiagnosisFits keeps the lines of a diagnosis within a terminal, breaks no word
// that may be copied, and lets no server write to the terminal.
func TestDiagnosisFits(t *testing.T) {
	var out bytes.Buffer
	a := &app{out: &out, env: config.Env{Home: "/home/u"}}
	long := "/" + strings.Repeat("x", 100)
	a.printDiagnosis(&diagnosis{Findings: []doctor.Finding{
		{Check: "one", Level: doctor.Problem, What: strings.Repeat("wörter über wörter ", 20), Details: []string{strings.Repeat("d ", 90), "\x1b[31mred\nline"}, Remedy: strings.Repeat("do ", 60)},
		{Check: "one", Level: doctor.Warning, What: "a " + long + " z in /home/u/x", Remedy: "write /home/u/x"},
		{Check: "two", Level: doctor.OK, What: "good"},
	}, Problems: 1, Warnings: 1})
	text := out.String()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(line) - 1; n > diagnosisColumns && strings.TrimSpace(line) != long {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	for _, want := range []string{"one\n  problem  wörter", "\n           | d d", "\n           |  [31mred line\n", "\n           → do do", " z in ~/x\n           → write /home/u/x\n", "two\n  ok       good\n\n1 problem, 1 warning\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") || strings.Count(text, "one\n") != 1 {
		t.Errorf("escapes, or a title twice:\n%s", text)
	}
}

// TestAddress has the spellings of an address that mean this machine.
func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:8000/mcp": "localhost:8000", "http://LOCALHOST:8000/mcp/a": "localhost:8000", "http://[::1]:8000": "localhost:8000",
		"http://0.0.0.0:8000": "localhost:8000", "http://:8000": "localhost:8000", "http://127.8.8.8:1": "localhost:1",
		"http://10.0.0.1:8000": "10.0.0.1:8000", "https://h.example/mcp": "", "": "", "http://${HOST}:1/": "",
	} {
		if got := address(text); got != want {
			t.Errorf("address(%q) = %q, want %q", text, got, want)
		}
	}
}

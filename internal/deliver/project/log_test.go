package project

import (
	"fmt"
	"strings"
	"testing"
)

// stamped writes n lines of a log with a time each, every 20th one what bad makes.
func stamped(n int, good, bad func(i int) string) Input {
	return Input{Text: []byte(repeat(n, func(i int) string {
		text := good(i)
		if i%20 == 19 {
			text = bad(i / 20)
		}
		return strings.ReplaceAll(text, "TS", fmt.Sprintf("2026-11-30T12:%02d:%02d", i/60%60, i%60)) + "\n"
	}))}
}

// ok is a harmless line.
func ok(i int) string { return fmt.Sprintf("TS INFO request %d served", i) }

// TestLevelAfterMessage keeps the message where the level stands behind it.
func TestLevelAfterMessage(t *testing.T) {
	for name, c := range map[string]struct {
		good, bad string
		want      []string
	}{
		"behind":          {"TS served level=info", "TS disk /dev/sda1 failed level=error", []string{"ERROR 20", "disk /dev/sda1 failed"}},
		"logfmt":          {`time=TS msg="served" level=info`, `time=TS msg="disk is gone" level=error`, []string{"ERROR 20", "disk is gone"}},
		"more behind":     {`time=TS msg="served" level=info pid=3`, `time=TS msg="disk is gone" level=error pid=3`, []string{"ERROR 20", "disk is gone"}},
		"quoted":          {`time="TS" level="info" msg="served"`, `time="TS" level="error" msg="disk is gone" n=1`, []string{"ERROR 20", `: msg="disk is gone" n=1`}},
		"a quote first":   {`TS INFO served`, `TS ERROR "disk" is gone`, []string{"ERROR 20", `: "disk" is gone`}},
		"in brackets":     {"TS served [INFO]", "TS the disk is gone [ERROR]", []string{"ERROR 20", "the disk is gone"}},
		"far behind":      {"TS served level=info", "TS " + strings.Repeat("very ", 40) + "late disk level=error", []string{"ERROR 20", "late disk"}},
		"a header before": {"TS host app[1]: INFO served", "TS host app[1]: ERROR disk is gone", []string{"ERROR ×20", ": disk is gone"}},
		"structlog":       {"TS [info     ] served         [api]", "TS [error    ] disk is gone   [api]", []string{"ERROR 20", ": disk is gone"}},
		"padded warning":  {"TS [info     ] served         [api]", "TS [warning  ] disk is full   [api]", []string{"WARN 20", ": disk is full"}},
	} {
		expect(t, name, stamped(400, func(int) string { return c.good }, func(int) string { return c.bad }), KindLog, c.want, nil)
	}
}

// TestFailuresWithoutTime shows what ends a process between lines with a time.
func TestFailuresWithoutTime(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Segmentation fault (core dumped)", "Segmentation fault (core dumped)"},
		{"Killed", ": Killed"},
		{"Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat a.B.c(B.java:1)", "OutOfMemoryError: Java heap space"},
		{"Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\nKeyError: 'x'", "KeyError: 'x'"},
		{"java.io.IOException: broken pipe\n\tat a.B.c(B.java:1)", "java.io.IOException: broken pipe"},
		{"could not open /etc/app.conf", "could not open /etc/app.conf"},
	} {
		p := expect(t, c.text, stamped(400, ok, func(int) string { return c.text }), KindLog, []string{"no level, failing 20", c.want}, nil)
		if strings.Contains(p.Note, "kinds of errors") {
			t.Errorf("%s is more than one kind: %s", c.text, p.Note)
		}
		// Below an error, a stack is part of it.
		if strings.Contains(c.text, "\n") && !crash([]byte(c.text)) {
			expect(t, c.text, stamped(400, ok, func(int) string { return "TS ERROR job failed\n" + c.text }), KindLog, []string{"ERROR 20", "job failed", c.want}, []string{"failing"})
		}
	}
	p := expect(t, "no time at all", Input{Text: []byte(repeat(400, func(i int) string {
		if i%20 == 19 {
			return "INFO step\nTraceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'\n"
		}
		return fmt.Sprintf("INFO request %d served\n", i)
	}))}, KindLog, []string{"no level, failing 20", "KeyError: 'x'"}, nil)
	if !strings.Contains(p.Note, "1 kind of errors") {
		t.Error(p.Note)
	}
}

// TestFailureMembers tells JSON lines apart by what they say went wrong.
func TestFailureMembers(t *testing.T) {
	reasons := []string{"connection reset", "disk full", "no such user"}
	for _, member := range []string{`"error":%q`, `"err":%q`, `"exception":%q`, `"err":{"message":%q,"stack":"x"}`, `"exc_info":%q`} {
		in := Input{Text: []byte(repeat(400, func(i int) string {
			if i%20 == 19 {
				return fmt.Sprintf(`{"level":"error","time":"2026-03-01T12:00:00Z","msg":"request failed",`+member+"}\n", reasons[i/20%3])
			}
			return `{"level":"info","time":"2026-03-01T12:00:00Z","msg":"served"}` + "\n"
		}))}
		expect(t, member, in, KindLog, append(reasons, "ERROR 20", "request failed"), nil)
	}
}

// TestMessageBelowHeader reads what .NET's console writes on two lines.
func TestMessageBelowHeader(t *testing.T) {
	in := Input{Text: []byte(repeat(300, func(i int) string {
		if i%20 == 19 {
			return fmt.Sprintf("fail: My.App.Store[7]\n      %s\n      at once\n", []string{"disk full", "no route"}[i/20%2])
		}
		return fmt.Sprintf("info: My.App.Web[0]\n      served %d\n", i)
	}))}
	expect(t, ".NET", in, KindLog, []string{"ERROR 15", "disk full", "no route", "served *"}, nil)
}

// TestFormats takes the logs of common programs for what they are.
func TestFormats(t *testing.T) {
	for name, c := range map[string]struct{ good, bad, want string }{
		"journald":  {`{"__REALTIME_TIMESTAMP":"1790000000000000","PRIORITY":"6","MESSAGE":"served"}`, `{"__REALTIME_TIMESTAMP":"1790000000000000","PRIORITY":"3","MESSAGE":"disk gone"}`, "ERROR 20"},
		"gcp text":  {`{"severity":"INFO","textPayload":"served","timestamp":"TS"}`, `{"severity":"ERROR","textPayload":"disk gone","timestamp":"TS"}`, "ERROR 20"},
		"gcp json":  {`{"severity":"INFO","jsonPayload":{"message":"served"},"timestamp":"TS"}`, `{"severity":"ERROR","jsonPayload":{"message":"disk gone"},"timestamp":"TS"}`, "ERROR 20"},
		"serilog":   {`{"@t":"TS","@mt":"served {N}","N":1}`, `{"@t":"TS","@l":"Error","@mt":"disk gone {N}","N":1}`, "ERROR 20"},
		"docker":    {`{"log":"INFO served\n","stream":"stdout","time":"TS"}`, `{"log":"ERROR disk gone\n","stream":"stderr","time":"TS"}`, "ERROR 20"},
		"nested":    {`{"log":{"level":"info"},"@timestamp":"TS","event":"served"}`, `{"log":{"level":"error"},"@timestamp":"TS","event":"disk gone"}`, "ERROR 20"},
		"commas":    {"TS,INFO,served", "TS,ERROR,disk gone", "ERROR 20"},
		"dates":     {"2026-11-30;INFO;served", "2026-11-30;ERROR;disk gone", "ERROR 20"},
		"days":      {"30.11.2026 12:00:01;INFO;served", "30.11.2026 12:00:01;ERROR;disk gone", "ERROR 20"},
		"serilog ":  {`{"@t":"TS","@mt":"served"}`, `{"@t":"TS","@l":"Fatal","@mt":"stopped","@x":"System.IO: disk gone\n at A"}`, "FATAL 20"},
		"in docker": {`{"log":"{\"level\":\"info\",\"msg\":\"served\"}\n","stream":"stdout","time":"TS"}`, `{"log":"{\"level\":\"error\",\"msg\":\"disk gone\"}\n","stream":"stdout","time":"TS"}`, "ERROR 20"},
		"small":     {"TS;info;served", "TS;error;disk gone", "ERROR 20"},
		"bars":      {"I|TS|served", "E|TS|disk gone", "ERROR 20"},
		"logcat":    {"11-30 12:00:01.123  1234  5678 I Web: served", "11-30 12:00:01.123  1234  5678 E Web: disk gone", "ERROR 20"},
		"dmesg":     {"[   12.345678] usb 1-1: served", "[   12.345678] usb 1-1: failed: disk gone", "ERROR 20"},
		"redis":     {"1234:M 30 Nov 2026 12:00:01.123 * served", "1234:M 30 Nov 2026 12:00:01.123 # Failed: disk gone", "failing 20"},
	} {
		expect(t, name, stamped(400, func(int) string { return c.good }, func(int) string { return c.bad }), KindLog, []string{c.want, "disk gone"}, nil)
	}
}

// TestFailingLines shows every kind of line that speaks of a failure where a text
// is no log.
func TestFailingLines(t *testing.T) {
	for name, lines := range map[string][2]string{
		"gcc":     {"src/a.c:%d:5: error: 'x' undeclared", "src/b.c:%d:7: fatal error: y.h: No such file"},
		"npm":     {"npm ERR! code E%d", "npm ERR! missing script: build"},
		"ansible": {`fatal: [host%d]: FAILED! => {"msg": "no route"}`, "ERROR! the role was not found"},
		"msbuild": {"A.cs(%d,5): error CS0001: no such type", "B.cs(1,7): error CS0246: no namespace"},
		"words":   {"step %d failed: no route", "could not open the file"},
	} {
		text := repeat(3000, func(i int) string {
			switch {
			case i == 1000 || i == 1500:
				return fmt.Sprintf(lines[0]+"\n", i)
			case i == 2000:
				return lines[1] + "\n"
			}
			return fmt.Sprintf("compiling unit %d of the program with the usual options\n", i)
		})
		text = strings.ReplaceAll(text, "%!(EXTRA int=1000)", "")
		first, _, _ := strings.Cut(lines[0], "%")
		p := expect(t, name, Input{Text: []byte(text)}, KindHeadTail, []string{first, lines[1], "×2 L1001", "×1 L2001", "left out", "all 2 kinds of lines that speak of a failure shown"}, nil)
		if n := counter(t).Count(p.Text); n > 780 {
			t.Errorf("%s: %d tokens", name, n)
		}
	}
}

// TestDistinctlyCut shows many kinds that have most of their words in common so
// that they look different, or does not say that all are shown.
func TestDistinctlyCut(t *testing.T) {
	words := names(90)
	start := strings.Repeat("the provider of the ledger did not accept the entry because of ", 4)
	for name, c := range map[string]struct {
		kinds int
		bad   func(w string, i int) string
	}{
		"start":           {40, func(w string, i int) string { return start + w }},
		"a few starts":    {40, func(w string, i int) string { return []string{"pay: ", "ship: ", "bill: "}[i%3] + start + w }},
		"middle":          {40, func(w string, i int) string { return w + " " + start + "end" }},
		"start and end":   {40, func(w string, i int) string { return start + w + " " + start }},
		"two differences": {36, func(w string, i int) string { return start + words[i/6] + " " + start + words[i%6] }},
		"too many":        {90, func(w string, i int) string { return start + w + " " + start + w }},
	} {
		in := logOf(func(i int) string { i %= c.kinds; return "ERROR " + c.bad(words[i], i) })
		p := expect(t, name, in, KindLog, []string{"kinds of errors"}, nil)
		if n := counter(t).Count(p.Text); n > 780 {
			t.Errorf("%s: %d tokens", name, n)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(p.Text) {
			if strings.HasPrefix(line, "×") || strings.HasPrefix(line, "ERROR ×") {
				_, line, _ = strings.Cut(line, " L")
				_, line, _ = strings.Cut(line, " ")
				if seen[line] && strings.Contains(p.Note, "all ") {
					t.Errorf("%s: %q twice in\n%s-- %s", name, line, p.Text, p.Note)
					break
				}
				seen[line] = true
			}
		}
		if c.kinds <= 40 && len(seen) != c.kinds {
			t.Errorf("%s: %d look different, want %d\n%s-- %s", name, len(seen), c.kinds, p.Text, p.Note)
		}
	}
}

// TestEntriesInJSON reads an answer of a log's service as the log that it holds.
func TestEntriesInJSON(t *testing.T) {
	for name, c := range map[string]struct{ open, item, end string }{
		"CloudWatch": {`{"events":[`, `{"timestamp":1790000000000,"message":"%s disk %d\\n","ingestionTime":1790000000001}`, `],"nextForwardToken":"f/1"}`},
		"GCP":        {`[`, `{"severity":"%s","textPayload":"disk %d","timestamp":"2026-03-01T12:00:00Z"}`, `]`},
	} {
		doc := c.open + strings.Join(strings.Split(strings.TrimSpace(repeat(300, func(i int) string {
			return fmt.Sprintf(c.item, []string{"INFO", "ERROR"}[i%50/49], i) + "\x00"
		})), "\x00")[:300], ",") + c.end
		expect(t, name, Input{JSON: indent(t, []byte(doc))}, KindLog, []string{"array of 300 items", "ERROR 6, INFO 294", "disk 49"}, nil)
	}
	rows := repeat(300, func(i int) string { return fmt.Sprintf(`,{"message":"m%d","severity":"error"}`, i) })
	expect(t, "records", Input{JSON: []byte("[" + rows[1:] + "]")}, KindRecords, nil, nil)
}

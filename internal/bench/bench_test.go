package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "record the figures of this run in floor.json")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2.runClock"), // the engine's clocks end by themselves,
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// taskRun is one run of the tasks, for all tests.
var taskRun = sync.OnceValues(func() (*Report, error) { return Run(context.Background(), NameTask, Options{}) })

func tasksRun(t *testing.T) *Report {
	t.Helper()
	r, err := taskRun()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTaskSet holds what the set of tasks promises.
func TestTaskSet(t *testing.T) {
	r := tasksRun(t)
	sizes, tools := map[string]int{}, map[string]int{}
	for i, x := range tasks() {
		got := r.Task.Tasks[i]
		sizes[x.size]++
		tools[x.tool+" "+got.Language]++
		low, high := map[string]int{small: 0, middle: 2000, large: 10_000}[x.size], map[string]int{small: 2000, middle: 10_000, large: 100_000}[x.size]
		if got.Direct <= low || got.Direct > high {
			t.Errorf("%s: %d tokens are not %s", x.id, got.Direct, x.size)
		}
		form := ""
		if x.goal.form != nil {
			form = x.goal.form.String()
		}
		if strings.Contains(x.question+x.goal.words+form, x.truth) && len(x.truth) > 1 {
			t.Errorf("%s: the reader is told %q", x.id, x.truth)
		}
		if a, b := x.make(), x.make(); string(a) != string(b) {
			t.Errorf("%s: the data differs from call to call", x.id)
		}
		chinese := strings.IndexFunc(x.question, func(r rune) bool { return r > 0x3000 }) >= 0
		if chinese != (got.Language == "zh") {
			t.Errorf("%s: the question is in another language: %s", x.id, x.question)
		}
	}
	if diff := cmp.Diff(map[string]int{small: 4, middle: 10, large: 10}, sizes); diff != "" {
		t.Error(diff)
	}
	if len(tools) != 24 || r.Task.Tools != 12 {
		t.Errorf("%d tools, asked %v", r.Task.Tools, tools)
	}
}

// TestTasks holds the bars: everything answered, and so much saved.
func TestTasks(t *testing.T) {
	r := tasksRun(t)
	for mode, least := range map[string]float64{"native": 80, "compact": 80, "extreme": 85} {
		total := r.Task.Modes[mode]
		if total.Saved < least || total.Answered != 24 {
			t.Errorf("%s: %v %% saved, want %v; %d answered", mode, total.Saved, least, total.Answered)
		}
		for _, x := range r.Task.Tasks {
			if a := x.Modes[mode]; !a.Answered {
				t.Errorf("%s in %s: the answer was %q", x.ID, mode, a.Answer)
			}
		}
	}
	checkText(t, r)
}

// checkText wants lines that fit a terminal.
func checkText(t *testing.T, r *Report) {
	t.Helper()
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(line); n > 101 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	t.Log("\n" + b.String())
}

// TestRecount plays one task again with nothing of this package but the server,
// and counts it with another parser and another way into the tokenizer.
func TestRecount(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	count := func(s string) int {
		ids, _, err := codec.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	s, err := newStage(taskServer(tasks()), discard())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var find, delivery, read int
	err = s.in(t.Context(), "compact", func(ctx context.Context, c *client) error {
		ask := func(params string) (text string, n int) {
			raw, err := c.host.Request(ctx, "tools/call", json.RawMessage(params), nil)
			if err != nil {
				t.Fatal(err)
			}
			var result struct {
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
			}
			if err := json.Unmarshal(raw, &result); err != nil {
				t.Fatal(err)
			}
			for _, b := range result.Content {
				text += b.Text
				n += count(b.Text)
			}
			return text, n + count(string(result.StructuredContent))
		}
		ask(`{"name":"find_tool","arguments":{"query":"read a support ticket"}}`) // the first answer also has the server's own words
		_, find = ask(`{"name":"find_tool","arguments":{"query":"list deployments and alerts of a project"}}`)
		text, n := ask(`{"name":"call_tool","arguments":{"tool":"ops_list_events","arguments":{"project":"shop","limit":300}}}`)
		delivery = n
		_, ref, _ := strings.Cut(text, `"result_ref":"`)
		ref, _, _ = strings.Cut(ref, `"`)
		text, read = ask(`{"name":"read_result","arguments":{"result_ref":"` + ref + `","query":"dep_7f3a90"}}`)
		if !strings.Contains(text, `"approved_by":"Henrike Vogelsang"`) {
			t.Errorf("the answer is not in %s", text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := tasksRun(t)
	i := slices.IndexFunc(r.Task.Tasks, func(x *Task) bool { return x.ID == "events-en" })
	x := r.Task.Tasks[i]
	var raw struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(tasks()[i].make(), &raw); err != nil {
		t.Fatal(err)
	}
	direct := count(raw.Content[0].Text) + count(string(raw.StructuredContent))
	want := &Attempt{
		Find: find, Delivery: delivery, Read: read, Reads: 1, Tokens: find + delivery + read,
		Saved: math.Floor(1e4*float64(direct-find-delivery-read)/float64(direct)) / 100, Answered: true, How: byQuery, Answer: "Henrike Vogelsang",
	}
	if diff := cmp.Diff(want, x.Modes["compact"]); diff != "" || x.Direct != direct {
		t.Errorf("direct %d, want %d; (-want +got):\n%s", x.Direct, direct, diff)
	}
	total := r.Task.Modes["compact"]
	if sum := total.Surface + total.Find + total.Delivery + total.Read; sum != total.Tokens {
		t.Errorf("%+v: the parts are %d", total, sum)
	}
}

// TestWholeQuestion searches with the question as it stands, where the reader takes
// its words: a model may do either.
func TestWholeQuestion(t *testing.T) {
	s, err := newStage(taskServer(tasks()), discard())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	found, missed := 0, []string{}
	err = s.in(t.Context(), "extreme", func(ctx context.Context, c *client) error {
		for _, x := range tasks() {
			_, name, err := c.find(ctx, x.search, x.tool)
			if err != nil {
				return err
			}
			delivery, err := c.call(ctx, name, x.args)
			if err != nil {
				return err
			}
			if len(delivery.refs()) == 0 || x.goal.all || x.goal.lines > 0 {
				continue // nothing to search, or a search is not enough
			}
			a, err := c.read(ctx, delivery.refs()[0], x.question, "")
			if err != nil {
				return err
			}
			if strings.Contains(a.text(), x.truth) {
				found++
			} else {
				missed = append(missed, x.id)
			}
		}
		return nil
	})
	const least = 15
	t.Logf("%d found at once, missed %v", found, missed)
	if err != nil || found < least {
		t.Errorf("%v: only %d of at least %d", err, found, least)
	}
}

// TestFloors compares with floor.json, or writes it with -update.
func TestFloors(t *testing.T) {
	if testing.Short() {
		t.Skip("counts megabytes: not with -short")
	}
	all := floors{map[string]float64{}, map[string]float64{}}
	reports := []*Report{tasksRun(t)}
	for _, mode := range Modes() {
		for _, name := range []string{NameCompression, NameStress} {
			r, err := Run(t.Context(), name, Options{Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, r)
		}
	}
	for _, r := range reports {
		f := r.figures()
		maps.Copy(all.Least, f.Least)
		maps.Copy(all.Most, f.Most)
		checkBars(t, r)
		if *update {
			continue
		}
		worse, err := r.Verify()
		if err != nil || len(worse) > 0 {
			t.Errorf("%v %s", err, strings.Join(worse, "\n"))
		}
	}
	if *update {
		record(t, all)
	}
}

// checkBars holds what no recording may fall below.
func checkBars(t *testing.T, r *Report) {
	t.Helper()
	if c := r.Compression; c != nil {
		if c.Equal != len(c.Results) || c.Ratio > pagedMost {
			t.Errorf("%s: %d of %d came back equal, at up to %v", c.Mode, c.Equal, len(c.Results), c.Ratio)
		}
		for _, one := range c.Results {
			if one.Delivery > one.Raw {
				t.Errorf("%s in %s: the delivery costs %d of %d tokens", one.Name, c.Mode, one.Delivery, one.Raw)
			}
		}
		checkText(t, r)
	}
	if s := r.Stress; s != nil {
		if s.Mode != "native" && s.Saved < stressLeast || s.Calls != 1 || !s.Equal || s.Ratio > pagedMost {
			t.Errorf("%+v", s)
		}
		checkText(t, r)
	}
}

const (
	pagedMost   = 1.05
	stressLeast = 99.7
	// slack is by how many points a part saved may fall before anybody is told.
	slack = 0.5
	// readSlack is how many more reads all tasks together may take.
	readSlack = 2
)

// record writes floors: counts as they are, parts with some slack.
func record(t *testing.T, all floors) {
	t.Helper()
	for name, v := range all.Least {
		bar := 0.0
		switch {
		case !strings.HasSuffix(name, "saved_percent"):
			continue
		case name == "task.extreme.saved_percent":
			bar = 85
		case strings.HasPrefix(name, "task."):
			bar = 80
		case name == "stress.compact.saved_percent", name == "stress.extreme.saved_percent":
			bar = stressLeast
		}
		all.Least[name] = max(bar, math.Floor((v-slack)*10)/10)
	}
	for name := range all.Most {
		switch {
		case strings.HasSuffix(name, "paged_ratio"):
			all.Most[name] = pagedMost
		case strings.HasSuffix(name, "reads"):
			all.Most[name] += readSlack
		}
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("floor.json", append(b, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocument wants that docs/bench.md claims no more than is reached.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/bench.md")
	if err != nil {
		t.Fatal(err)
	}
	claims := regexp.MustCompile(`(?m)^saved +([\d.]+)% +([\d.]+)% +([\d.]+)%$`).FindSubmatch(text)
	if claims == nil {
		t.Fatal("docs/bench.md does not say what is saved")
	}
	for i, mode := range Modes() {
		claim, err := strconv.ParseFloat(string(claims[i+1]), 64)
		if got := tasksRun(t).Task.Modes[mode].Saved; err != nil || claim > got {
			t.Errorf("docs/bench.md claims %s %% for %s, reached are %v", claims[i+1], mode, got)
		}
	}
}

// TestCompare names what is worse, and nothing else.
func TestCompare(t *testing.T) {
	f := floors{Least: map[string]float64{"a": 90, "b": 24}, Most: map[string]float64{"c": 1.05}}
	for _, c := range []struct {
		got  floors
		want []string
	}{
		{floors{Least: map[string]float64{"a": 90, "b": 25}, Most: map[string]float64{"c": 1.05}}, nil},
		{floors{Least: map[string]float64{"a": 89.99, "b": 23}, Most: map[string]float64{"c": 1.051}}, []string{
			"a is 89.99, at least 90 was recorded", "b is 23, at least 24 was recorded", "c is 1.051, at most 1.05 was recorded",
		}},
	} {
		got, err := f.compare(c.got)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%v: %v\n%s", c.got, err, diff)
		}
	}
	if _, err := f.compare(floors{Least: map[string]float64{"new": 1}}); err == nil {
		t.Error("a figure without a floor is no error")
	}
	if _, err := f.compare(floors{Most: map[string]float64{"new": 1}}); err == nil {
		t.Error("a figure without a ceiling is no error")
	}
}

// TestInterrupted ends a run in the middle, and finds nothing left.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	for _, name := range Names() {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("the user has seen enough")
		s, err := newStage(taskServer(tasks()), discard())
		if err != nil {
			t.Fatal(err)
		}
		err = s.in(ctx, "compact", func(ctx context.Context, c *client) error {
			cancel(enough)
			_, err := c.list(ctx)
			return err
		})
		if err == nil {
			t.Error("a session went on after its end")
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if _, err := Run(ctx, name, Options{}); err == nil {
			t.Errorf("%s went on after its end", name)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s left %v", name, left)
		}
	}
	if _, err := Run(t.Context(), "nothing", Options{}); err == nil || !strings.Contains(err.Error(), `no bench "nothing"`) {
		t.Errorf("an unknown bench: %v", err)
	}
}

// TestTextErrors passes on that nobody reads.
func TestTextErrors(t *testing.T) {
	in, out := io.Pipe()
	_ = in.CloseWithError(errors.New("gone"))
	if err := tasksRun(t).Text(out); err == nil || err.Error() != "gone" {
		t.Errorf("got %v", err)
	}
	for n, want := range map[int]string{0: "–", 999: "999", -1234: "-1,234", 1234567: "1,234,567"} {
		if got := orDash(n); got != want {
			t.Errorf("orDash(%d) = %s, want %s", n, got, want)
		}
	}
	for v, want := range map[float64]string{99.99: "99.9%", -3.55: "-3.6%", 0: "0.0%"} {
		if got := percent(v); got != want {
			t.Errorf("percent(%v) = %s, want %s", v, got, want)
		}
	}
	if got := fmt.Sprint(ratio(1001, 1000), ratio(1, 0), saved(0, 1), saved(1000, 999)); got != "1.001 0 0 0.1" {
		t.Error(got)
	}
}

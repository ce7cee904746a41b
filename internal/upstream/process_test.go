package upstream

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"heddle/internal/mcptest"

	"github.com/google/go-cmp/cmp"
)

// shutdown is how long all servers of a daemon may take to end.
const shutdown = 5 * time.Second

func TestStopLeavesNothingBehind(t *testing.T) {
	processTest(t)
	for _, c := range []struct {
		name string
		o    mcptest.Options
		most time.Duration
	}{
		{"well-behaved", mcptest.Options{}, closeWait},
		{"stubborn", mcptest.Options{Stubborn: true}, shutdown},
		{"grandchild in the group", mcptest.Options{Children: []string{"group"}}, shutdown},
		{"grandchild with a session of its own", mcptest.Options{Children: []string{"setsid"}}, shutdown},
		{"all stubborn", mcptest.Options{Stubborn: true, Children: []string{"group", "setsid", "stubborn"}}, shutdown},
		{"never initialized", mcptest.Options{NeverInit: true, Stubborn: true, Children: []string{"stubborn"}}, shutdown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.o.Log = logFile(t)
			r := start(t, processConfig("tree", c.o))
			started := mcptest.WaitEvents(t, c.o.Log, "start", 1)[0]
			if !c.o.NeverInit {
				r.ready().echo("up")
			}
			for _, pid := range started.Children {
				if !mcptest.Alive(pid) {
					t.Fatalf("grandchild %d did not start", pid)
				}
			}
			began := time.Now()
			r.stop()
			if d := time.Since(began); d > c.most {
				t.Errorf("the end took %s, want at most %s", d, c.most)
			}
			mcptest.WaitGone(t, append(started.Children, started.PID)...)
			if st := r.Status(); st.State != StateStopped {
				t.Errorf("state %s", st.State)
			}
		})
	}
}

func TestStopWhileStartingLeavesNoProcess(t *testing.T) {
	processTest(t)
	log := logFile(t)
	r := start(t, processConfig("cold", mcptest.Options{InitDelay: 60_000, Log: log}))
	call := r.async(t.Context(), "echo", `{}`)
	pid := mcptest.WaitEvents(t, log, "initialize", 1)[0].PID
	r.stop()
	mcptest.WaitGone(t, pid)
	if o := receive(t, "the call that waited", call); o.err == nil {
		t.Errorf("the call that waited got %s", o.text)
	}
	if n := mcptest.Count(mcptest.Events(t, log), "start"); n != 1 {
		t.Errorf("%d processes were started", n)
	}
}

func TestGrandchildThatHoldsThePipesDoesNotHideAnExit(t *testing.T) {
	processTest(t)
	log := logFile(t)
	r := start(t, processConfig("wrapper", mcptest.Options{Children: []string{"setsid"}, Log: log})).ready()
	children := mcptest.WaitEvents(t, log, "start", 1)[0].Children
	if _, err := r.do(t.Context(), "crash", `{"code":4}`); err == nil {
		t.Error("the call of an ended server was answered")
	}
	r.until("restarted", func(st Status) bool { return st.State == StateReady && st.Restarts == 1 })
	mcptest.WaitGone(t, children...)
}

func TestStuckServerDoesNotDelayOthersWhileItCloses(t *testing.T) {
	processTest(t)
	deps := testDeps(t)
	log := logFile(t)
	stuck := run(t, processConfig("stuck", mcptest.Options{Stubborn: true, Log: log}), deps).ready()
	other := run(t, processConfig("other", mcptest.Options{}), deps).ready()
	stopped := make(chan struct{})
	go func() { defer close(stopped); stuck.stop() }()
	mcptest.WaitEvents(t, log, "eof", 1) // it is being closed and does not care
	began := time.Now()
	for n := range 5 {
		other.echo(fmt.Sprint(n))
	}
	select {
	case <-stopped:
		t.Errorf("5 calls took %s: they waited for the stuck server", time.Since(began))
	default:
	}
	receive(t, "the end of the stuck server", stopped)
}

// TestFailedStartsLeakNothing is not parallel: it counts what the whole process
// holds.
func TestFailedStartsLeakNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	deps := testDeps(t)
	fail := func(n int) {
		cfg := config(fmt.Sprint("bad", n))
		cfg.Command, cfg.Env, cfg.MaxAttempts, cfg.StartTimeout = "cat", []string{"PATH=" + os.Getenv("PATH")}, 0, 10*time.Millisecond
		if n%3 == 0 {
			cfg.Command = "true"
		}
		if n%7 == 0 {
			cfg.Dir = "/nowhere"
		}
		r := run(t, cfg, deps)
		r.until("failed", func(st Status) bool { return st.State == StateFailed })
		r.stop()
	}
	fail(1)
	fds, children := descriptors(t), processCount(t)
	for n := range 60 {
		fail(n)
	}
	mcptest.Eventually(t, func() bool { return descriptors(t) <= fds && processCount(t) <= children }, "%d descriptors and %d processes again", fds, children)
}

func descriptors(t testing.TB) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd here")
	}
	return len(names)
}

// processCount counts our children.
func processCount(t testing.TB) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip("no /proc/self/task here")
	}
	n := 0
	for _, task := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for _, c := range list {
			if c == ' ' {
				n++
			}
		}
	}
	return n
}

// victimServers are what a daemon runs that is going to be killed.
func victimServers(dir string) map[string]mcptest.Options {
	return map[string]mcptest.Options{
		"plain":    {Log: dir + "/plain"},
		"stubborn": {Log: dir + "/stubborn", Stubborn: true},
		"tree":     {Log: dir + "/tree", Stubborn: true, Children: []string{"group", "setsid", "stubborn"}},
	}
}

// victim is a daemon of three servers with a watchdog. Once they run it says which
// process the watchdog is, and again when another one is, and waits to be killed.
func victim(dir string) {
	ctx := context.Background()
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	spawner := NewSpawner([]string{exe, watchdogArg})
	go func() { _ = spawner.Run(ctx) }()
	deps := Deps{Logger: slog.New(slog.DiscardHandler), Spawner: spawner, Starts: make(chan struct{}, 4), Version: "test"}
	var servers []*Server
	for name, o := range victimServers(dir) {
		s := New(processConfig(name, o), deps)
		go func() { _ = s.Run(ctx) }()
		servers = append(servers, s)
	}
	for _, s := range servers {
		if err := s.Wait(ctx); err != nil {
			panic(err)
		}
	}
	for last := 0; ; time.Sleep(5 * time.Millisecond) {
		if pid := spawner.dog.pid(); pid != last {
			fmt.Println(pid)
			last = pid
		}
	}
}

// pid is the process that runs now, or did last.
func (d *dog) pid() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cmd.Process.Pid
}

func TestWatchdogEndsEverythingOfAKilledDaemon(t *testing.T) {
	processTest(t)
	t.Run("the first", func(t *testing.T) { t.Parallel(); killDaemon(t, 0) })
	t.Run("after it was killed", func(t *testing.T) { t.Parallel(); killDaemon(t, 1) })
	t.Run("after it was killed twice", func(t *testing.T) { t.Parallel(); killDaemon(t, 2) })
}

// killDaemon kills the watchdog of a daemon so many times, then the daemon, and
// checks that nothing is left.
func killDaemon(t *testing.T, dogs int) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), victimVar+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := make(chan string, dogs+1)
	go func() {
		s := bufio.NewScanner(out)
		for range cap(lines) {
			s.Scan()
			lines <- s.Text()
		}
	}()
	next := func() int {
		t.Helper()
		pid, err := strconv.Atoi(receive(t, "a watchdog of the victim", lines))
		if err != nil {
			t.Fatalf("the victim did not start: %v", err)
		}
		return pid
	}
	dog := next()
	for range dogs {
		p, err := os.FindProcess(dog)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
		dog = next()
	}
	pids := []int{dog}
	for name := range victimServers(dir) {
		started := mcptest.WaitEvents(t, dir+"/"+name, "start", 1)[0]
		pids = append(append(pids, started.PID), started.Children...)
	}
	if len(pids) != 7 {
		t.Fatalf("processes %v, want 7", pids)
	}
	for _, pid := range pids {
		if !mcptest.Alive(pid) {
			t.Errorf("process %d is gone too early", pid)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	mcptest.WaitGone(t, pids...)
}

// noteTaker is a spawner whose watchdog writes all that it is told to the file
// that is returned, after a line "start".
func noteTaker(t *testing.T) (*Spawner, func() []string) {
	t.Helper()
	path := logFile(t)
	told := func() []string {
		b, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Fields(string(b))
	}
	return NewSpawner([]string{"/bin/sh", "-c", `echo start >>"$0"; exec /bin/cat >>"$0"`, path}), told
}

func killDog(t *testing.T, d *dog) {
	t.Helper()
	p, err := os.FindProcess(d.pid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNextWatchdogIsToldOfAllGroups(t *testing.T) {
	processTest(t)
	spawner, told := noteTaker(t)
	d := spawner.guard()
	for _, pid := range []int{11, 12, 13} {
		d.watch(pid)
	}
	d.forget(11)
	want := []string{"start", "+11", "+12", "+13", "-11"}
	mcptest.Eventually(t, func() bool { return len(told()) >= len(want) }, "what the first watchdog is told")
	if diff := cmp.Diff(want, told()); diff != "" {
		t.Errorf("the first was told (-want +got):\n%s", diff)
	}
	first := d.pid()
	killDog(t, d)
	d.watch(14) // whether or not it is noticed yet
	d.forget(12)
	mcptest.Eventually(t, func() bool { return d.pid() != first }, "another watchdog")
	d.watch(15)
	var second []string
	mcptest.Eventually(t, func() bool {
		all := told()
		second = all[len(want):]
		return len(second) >= 4
	}, "what the next watchdog is told")
	d.release()
	slices.Sort(second)
	if diff := cmp.Diff([]string{"+13", "+14", "+15", "start"}, second); diff != "" {
		t.Errorf("the next was told (-want +got):\n%s", diff)
	}
	mcptest.WaitGone(t, d.pid())
	d.watch(16) // too late, which must not hurt
	d.forget(16)
}

func TestReleaseOfAKilledWatchdogStartsNoOther(t *testing.T) {
	processTest(t)
	spawner, told := noteTaker(t)
	d := spawner.guard()
	mcptest.Eventually(t, func() bool { return len(told()) == 1 }, "a watchdog")
	killDog(t, d)
	mcptest.WaitGone(t, d.pid())
	d.release()
	if diff := cmp.Diff([]string{"start"}, told()); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
}

// TestReleaseCrossesWithANewStart: the pause after a watchdog's end is over just
// as it is released. It is not parallel: it looks at all goroutines.
func TestReleaseCrossesWithANewStart(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts processes")
	}
	spawner, told := noteTaker(t)
	d := spawner.guard()
	mcptest.Eventually(t, func() bool { return len(told()) == 1 }, "a watchdog")
	killDog(t, d)
	d.mu.Lock() // both wait for it now: the release, then the start
	released := make(chan struct{})
	go func() { defer close(released); d.release() }()
	waits := func(frame string) func() bool {
		return func() bool {
			stacks := make([]byte, 1<<20)
			for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
				if head, _, _ := strings.Cut(g, "\n"); strings.Contains(head, "sync.Mutex.Lock") && strings.Contains(g, frame) {
					return true
				}
			}
			return false
		}
	}
	mcptest.Eventually(t, waits("(*dog).release"), "a release that waits")
	mcptest.Eventually(t, waits("(*dog).mind"), "a start that waits")
	d.mu.Unlock()
	select {
	case <-released:
	case <-time.After(5 * time.Second):
		t.Error("the release waits for a watchdog that was started after it")
		d.mu.Lock()
		_ = d.stdin.Close()
		d.mu.Unlock()
		<-released
	}
	if diff := cmp.Diff([]string{"start"}, told()); diff != "" {
		t.Errorf("started (-want +got):\n%s", diff)
	}
}

func TestOrderlyEndLetsTheWatchdogGo(t *testing.T) {
	processTest(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	deps := testDeps(t)
	deps.Spawner = NewSpawner([]string{exe, watchdogArg})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = deps.Spawner.Run(ctx) }()
	r := run(t, processConfig("guarded", mcptest.Options{}), deps).ready()
	r.echo("up")
	pid := deps.Spawner.dog.pid()
	if !mcptest.Alive(pid) {
		t.Error("there is no watchdog")
	}
	r.stop()
	cancel()
	receive(t, "the end of the spawner", ended)
	mcptest.WaitGone(t, pid)
}

func TestWithoutAWatchdogServersStillRun(t *testing.T) {
	processTest(t)
	ctx, cancel := context.WithCancel(context.Background())
	deps := testDeps(t)
	deps.Spawner = NewSpawner([]string{"/nowhere/heddle"})
	ended := make(chan struct{})
	go func() { defer close(ended); _ = deps.Spawner.Run(ctx) }()
	r := run(t, processConfig("unguarded", mcptest.Options{}), deps).ready()
	r.echo("up")
	r.stop()
	cancel()
	receive(t, "the end of the spawner", ended)
}

func TestCutSign(t *testing.T) {
	for _, c := range []struct {
		in   string
		sign byte
		num  string
		ok   bool
	}{{"+12", '+', "12", true}, {" -7 ", '-', "7", true}, {"", 0, "", false}, {"+", 0, "", false}, {"12", 0, "", false}} {
		sign, num, ok := cutSign(c.in)
		if sign != c.sign || num != c.num || ok != c.ok {
			t.Errorf("cutSign(%q) = %q, %q, %v", c.in, sign, num, ok)
		}
	}
}

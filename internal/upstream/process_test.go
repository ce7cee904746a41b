package upstream

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"heddle/internal/mcptest"
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

// victim is a daemon of three servers with a watchdog. It says when they run
// and waits to be killed.
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
	fmt.Println(spawner.dog.cmd.Process.Pid)
	for {
		time.Sleep(time.Hour)
	}
}

func TestWatchdogEndsEverythingOfAKilledDaemon(t *testing.T) {
	processTest(t)
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
	lines := make(chan string, 1)
	go func() {
		s := bufio.NewScanner(out)
		s.Scan()
		lines <- s.Text()
	}()
	dog, err := strconv.Atoi(receive(t, "the victim", lines))
	if err != nil {
		t.Fatalf("the victim did not start: %v", err)
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
	pid := deps.Spawner.dog.cmd.Process.Pid
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

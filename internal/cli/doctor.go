package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"heddle"
	"heddle/internal/adopt"
	"heddle/internal/catalog"
	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/doctor"
	"heddle/internal/policy/schema"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

// doctorWait is how long servers may take to start. A first start may download
// them.
const doctorWait = time.Minute

func (a *app) doctorCommand() *cobra.Command {
	var wait time.Duration
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find what keeps heddle and its servers from working",
		Long: "Check the configuration, the runtimes of its servers, the PATH that a host with a window has, the files of hosts,\n" +
			"heddle-sql, ports, permissions and the heddles that run, and start every server once, side by side. What is not\n" +
			"as it should be has a remedy. No tool is called, and no configuration is changed.\n\n" +
			"Exit code 0 if there is no problem, 1 if there are problems, 2 if the configuration is broken.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if wait <= 0 {
				return &usageError{fmt.Errorf("--timeout takes a time above 0"), "for example --timeout 2m"}
			}
			if !c.Flags().Changed("log-level") {
				a.logLevel = "error" // the findings say it all
			}
			return a.doctor(c.Context(), wait)
		},
	}
	c.Flags().DurationVar(&wait, "timeout", doctorWait, "how long servers may take to start")
	a.federateFlag(c)
	a.jsonFlag(c)
	return c
}

// diagnosis is what doctor prints.
type diagnosis struct {
	Config   string           `json:"config,omitempty"`
	Findings []doctor.Finding `json:"findings"`
	Problems int              `json:"problems"`
	Warnings int              `json:"warnings"`
}

func (a *app) doctor(ctx context.Context, wait time.Duration) error {
	env, err := a.hostEnv()
	if err != nil {
		return &usageError{err, ""}
	}
	path, _ := a.env.Lookup("PATH")
	exe, _ := os.Executable() // without it the remedy is less exact
	m := &doctor.Machine{
		Version: heddle.Version, Env: env, Path: path, WindowPath: windowPath(runtime.GOOS), Binary: exe,
		StateDir: a.stateDir(), CacheDir: a.cacheDir(), TempDir: os.TempDir(), Worker: worker(), Port: defaultPort,
	}
	m.Config, m.ConfigErr = a.load()
	if m.Config != nil {
		m.Fileless, m.Stands = a.fileless(m.Config), adopt.Taken(m.Config, a.env, env)
	}
	states, err := daemon.ReadStates(a.stateDir())
	if err != nil {
		fmt.Fprintf(a.err, "heddle: warning: which heddles run is not known: %v\n", err)
	}
	for _, s := range states {
		m.Running = append(m.Running, doctor.Running{PID: s.PID, Version: s.Version, Config: s.Config, Listen: s.Listen, Degraded: s.Health == "degraded"})
	}
	var current atomic.Pointer[daemon.Daemon]
	m.Servers = func(ctx context.Context) ([]doctor.Server, []doctor.Idle, error) {
		return a.tryAll(ctx, m.Config, wait, &current)
	}
	done := a.statusLine().show(func() string {
		if d := current.Load(); d != nil {
			return startingServers(d.Pool().Servers(), "checking runtimes, files and ports")
		}
		return "checking runtimes, files and ports"
	})
	out := diagnosis{Findings: doctor.Run(ctx, m)}
	done()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if m.Config != nil && !m.Fileless {
		out.Config = m.Config.Path
	}
	out.Problems, out.Warnings = doctor.Count(out.Findings, doctor.Problem), doctor.Count(out.Findings, doctor.Warning)
	if err := a.emit(out, func() { a.printDiagnosis(&out) }); err != nil {
		return err
	}
	switch {
	case m.ConfigErr != nil:
		return &silent{exitUsage}
	case out.Problems > 0:
		return &silent{exitFailure}
	}
	return nil
}

// windowPath is the PATH of a program that was started from a menu: launchd's on
// macOS, systemd's on Linux. On Windows it is everybody's.
func windowPath(system string) string {
	switch system {
	case "darwin":
		return "/usr/bin:/bin:/usr/sbin:/sbin"
	case "windows":
		return ""
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

// tryAll starts every server once, waits that long at most and ends them again.
func (a *app) tryAll(ctx context.Context, cfg *config.Config, wait time.Duration, current *atomic.Pointer[daemon.Daemon]) (out []doctor.Server, idle []doctor.Idle, err error) {
	once := *cfg
	once.Restart.MaxAttempts = 0 // so that a failure stays one
	d, err := a.daemon(&once, "doctor", options{eager: true})
	if err != nil {
		return nil, nil, err
	}
	err = d.Run(ctx, func(ctx context.Context) error {
		current.Store(d)
		defer current.Store(nil)
		took := bootTimes(ctx, d.Pool(), wait)
		odd := oddTools(d)
		for _, s := range d.Pool().Servers() {
			st := s.Status()
			out = append(out, doctor.Server{Status: st, Took: took[st.Name], Odd: odd[st.Name]})
		}
		idle = idlePatterns(d)
		return nil
	})
	return out, idle, err
}

// idlePatterns returns the patterns of the configuration that match no tool, with
// the names that may have been meant. While any server does not run, it cannot be
// told.
func idlePatterns(d *daemon.Daemon) (out []doctor.Idle) {
	var sources []catalog.Source
	var refs []heddle.ToolRef
	for _, s := range d.Pool().Servers() {
		switch st := s.Status(); {
		case st.State == upstream.StateReady:
			sources = append(sources, catalog.Source{Server: st.Name, Definitions: s.Tools(), Known: true})
		case st.Code != "off":
			return nil
		}
	}
	all := catalog.Build(sources, catalog.Options{}) // those too that are not allowed
	for _, t := range all.Tools() {
		refs = append(refs, t.Ref)
	}
	for _, p := range d.Policy().Idle(refs) {
		near := all.Near(strings.TrimSpace(strings.NewReplacer(":", "_", "/", "_", "*", "").Replace(p.Pattern)), 3, false)
		out = append(out, doctor.Idle{List: p.List, Pattern: p.Pattern, Near: near})
	}
	return out
}

// bootPoll is how exactly starts are timed.
const bootPoll = 10 * time.Millisecond

// bootTimes waits for the first start of every server and returns how long those
// took that are ready. Each one's time begins when its turn comes.
func bootTimes(ctx context.Context, pool *upstream.Pool, wait time.Duration) map[string]time.Duration {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	began, took := map[string]time.Time{}, map[string]time.Duration{}
	look := func() {
		for _, s := range pool.Servers() {
			switch st := s.Status(); {
			case st.State == upstream.StateStarting:
				began[st.Name] = st.Since
			case st.State == upstream.StateReady && took[st.Name] == 0:
				first, seen := began[st.Name]
				if !seen {
					first = st.Since.Add(-bootPoll) // faster than could be seen
				}
				took[st.Name] = st.Since.Sub(first)
			}
		}
	}
	booted := make(chan struct{})
	go func() { defer close(booted); pool.Booted(ctx) }()
	tick := time.NewTicker(bootPoll)
	defer tick.Stop()
	for {
		look()
		select {
		case <-booted:
			look()
			return took
		case <-tick.C:
		}
	}
}

// oddTools says by server what is odd about its definitions.
func oddTools(d *daemon.Daemon) map[string][]string {
	out := map[string][]string{}
	snapshot := d.Gateway().Snapshot(heddle.Local)
	for _, w := range snapshot.Warnings() {
		out[w.Server] = append(out[w.Server], strings.TrimPrefix(w.Tool+": ", ": ")+w.Message)
	}
	throwaway := schema.New(1)
	for _, t := range snapshot.Tools() {
		if err := throwaway.Compile(t); err != nil {
			out[t.Ref.Server] = append(out[t.Ref.Server], t.Ref.Name+": its schema does not compile, so arguments are not checked: "+err.Error())
		}
	}
	return out
}

const (
	// diagnosisColumns fit every terminal.
	diagnosisColumns = 80
	levelColumns     = 9 // "problem", and two spaces
)

func (a *app) printDiagnosis(r *diagnosis) {
	check := ""
	for _, f := range r.Findings {
		if f.Check != check {
			check = f.Check
			fmt.Fprintln(a.out, check)
		}
		level := fmt.Sprintf("  %-*s", levelColumns, f.Level)
		indent := strings.Repeat(" ", len(level))
		a.hang(level, indent, shortHome(f.What, a.env.Home))
		for _, d := range f.Details {
			a.hang(indent+"| ", indent+"| ", d)
		}
		if f.Remedy != "" {
			a.hang(indent+"→ ", indent+"  ", f.Remedy)
		}
	}
	fmt.Fprintf(a.out, "\n%s, %s\n", count(r.Problems, "problem"), count(r.Warnings, "warning"))
}

// hang prints a text in lines that begin with first, and later ones with rest. One
// that fits stays as it is: a caret may stand below it.
func (a *app) hang(first, rest, text string) {
	text = strings.TrimRight(plain(text), " ")
	if utf8.RuneCountInString(first+text) <= diagnosisColumns {
		fmt.Fprintln(a.out, first+text)
		return
	}
	line, begun := first, false
	for word := range strings.FieldsSeq(text) {
		if begun && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > diagnosisColumns {
			fmt.Fprintln(a.out, line)
			line, begun = rest, false
		}
		if begun {
			line += " "
		}
		line, begun = line+word, true
	}
	fmt.Fprintln(a.out, line)
}

// shortHome writes ~ for the home directory.
func shortHome(text, home string) string {
	if len(home) < 2 {
		return text
	}
	return strings.ReplaceAll(text, filepath.Clean(home)+string(filepath.Separator), "~"+string(filepath.Separator))
}

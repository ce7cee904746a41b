// Package cli owns the command line: flags, texts for people and exit codes.
//
// It never holds logic that a call needs; errors become exit codes here and
// nowhere else.
//
// Start reading at [Main]; there is one file a command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"heddle/internal/config"
	"heddle/internal/daemon"
	"heddle/internal/secret"
	"heddle/internal/upstream"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // something failed
	exitUsage   = 2 // wrong use or configuration
)

// app is what the commands share.
type app struct {
	in       *os.File
	out, err io.Writer
	env      config.Env
	config   string // --config
	logLevel string
	json     bool

	federate   bool        // --federate
	federation *federation // what that has found; nil before
	listen     string      // where serve will be found

	subset *string // --profile; nil if it is not given

	own func(string) string // hides the configuration's secrets; nil before it is read
}

// hide takes the configuration's own secrets out of a text.
func (a *app) hide(s string) string {
	if a.own == nil {
		return s
	}
	return a.own(s)
}

// watchdogCommand is the hidden command that runs the watchdog. It is not a
// cobra command: a watchdog should be small.
const watchdogCommand = "internal-watchdog"

// Main runs the command line and returns the exit code.
func Main(args []string, in *os.File, out, errOut io.Writer) int {
	if len(args) == 2 && args[0] == watchdogCommand {
		daemon.Trim()
		upstream.Watchdog(in, args[1])
		return exitOK
	}
	written := &sticky{w: out}
	a := &app{in: in, out: written, err: errOut, env: config.OSEnv()}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE) // a host that closes stderr must not end us; writes report it
	root := a.root()
	root.SetArgs(demoArgs(args))
	root.SetIn(in)
	root.SetOut(written)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil && written.err != nil {
		err = unread(fmt.Errorf("stdout: %w", written.err))
	}
	return a.exit(err)
}

// usageError is a wrong use or configuration.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// hinted is a failure with a hint.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }
func (e *hinted) Unwrap() error { return e.err }

// silent is a failure that was already told.
type silent struct{ code int }

func (e *silent) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exit tells the error and returns the exit code.
func (a *app) exit(err error) int {
	var (
		use      *usageError
		hint     *hinted
		told     *silent
		problems *config.ProblemsError
		missing  *config.NotFoundError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &told):
		return told.code
	case errors.As(err, &problems):
		a.fail(err, "")
		return exitUsage
	case errors.As(err, &missing):
		a.fail(err, "")
		return exitUsage
	case errors.As(err, &use):
		a.fail(err, use.hint)
		return exitUsage
	case errors.As(err, &hint):
		a.fail(err, hint.hint)
		return exitFailure
	}
	a.fail(err, "")
	return exitFailure
}

func (a *app) fail(err error, hint string) {
	fmt.Fprintf(a.err, "heddle: error: %s\n", secret.Mask(a.hide(err.Error())))
	if hint != "" {
		fmt.Fprintf(a.err, "heddle: hint: %s\n", hint)
	}
}

// later are the commands that this build does not have yet.
var later = []string{
	"token", "login",
}

// root builds the command tree.
func (a *app) root() *cobra.Command {
	demo := false
	root := &cobra.Command{
		Use:           "heddle",
		Short:         "One MCP server in front of all of yours",
		Long:          "heddle stands between an MCP host and its MCP servers: the host connects to heddle alone,\nheddle connects to every server.",
		SilenceErrors: true, SilenceUsage: true,
		Args: func(_ *cobra.Command, args []string) error { return unknownCommand(args) },
		RunE: func(c *cobra.Command, _ []string) error {
			if demo {
				return a.demo(c.Context())
			}
			return c.Help()
		},
	}
	root.Flags().BoolVar(&demo, "demo", false, "the same as the command demo")
	root.PersistentFlags().StringVarP(&a.config, "config", "c", "", "configuration file (default: HEDDLE_CONFIG, or heddle.yml found upward from here)")
	root.PersistentFlags().StringVar(&a.logLevel, "log-level", "warn", "what goes to stderr: error, warn, info or debug")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{err, "see `" + c.CommandPath() + " --help`"}
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(a.startCommand(), a.serveCommand(), a.sseCommand(), a.demoCommand(), a.benchCommand(), a.initCommand(), a.planCommand(), a.installCommand(), a.verifyCommand(), a.rollbackCommand(), a.uninstallCommand(), a.validateCommand(), a.lockCommand(), a.approveCommand(), a.quarantineCommand(), a.doctorCommand(), a.statusCommand(), a.callCommand(), a.searchCommand(), a.inspectCommand(), a.analyzeCommand(), a.statsCommand(), a.logCommand(), a.profileCommand(), a.versionCommand())
	for _, name := range later {
		root.AddCommand(laterCommand(name))
	}
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		// Cobra's own shows its help, and succeeds, whatever the shell is called.
		c.Args = exactArgs(0, 0, "the name of a shell: bash, zsh, fish or powershell")
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	}
	return root
}

// laterCommand refuses a command by name, whatever its flags are.
func laterCommand(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{fmt.Errorf("%s: not in this build", name), "see `heddle --help` for the commands of this build"}
		},
	}
}

func unknownCommand(args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &usageError{fmt.Errorf("unknown command %q", args[0]), "see `heddle --help`"}
}

// exactArgs demands n arguments.
func exactArgs(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return &usageError{fmt.Errorf("%s takes %s", c.CommandPath(), what), "see `" + c.CommandPath() + " --help`"}
		}
		return nil
	}
}

// load finds and reads the configuration, with what --federate adds to it.
func (a *app) load() (*config.Config, error) {
	if a.federate {
		return a.chosen(a.loadFederated())
	}
	return a.chosen(a.loadFile())
}

// logger logs to stderr; stdout belongs to the protocol.
func (a *app) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel)); err != nil {
		return nil, &usageError{fmt.Errorf("unknown log level %q", a.logLevel), "use error, warn, info or debug"}
	}
	text := slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level})
	return slog.New(secret.Handler(text, a.hide)), nil
}

// stateDir is where heddle keeps what outlives a process.
func (a *app) stateDir() string {
	if dir, ok := a.env.Lookup("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "heddle")
	}
	if a.env.Home == "" {
		return ""
	}
	return filepath.Join(a.env.Home, ".local", "state", "heddle")
}

// cacheDir is where heddle keeps what it could learn anew.
func (a *app) cacheDir() string {
	if dir, ok := a.env.Lookup("XDG_CACHE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "heddle", "catalog")
	}
	if a.env.Home == "" {
		return ""
	}
	return filepath.Join(a.env.Home, ".cache", "heddle", "catalog")
}

func (a *app) ledgerPath() string {
	if dir := a.stateDir(); dir != "" {
		return filepath.Join(dir, "ledger.db")
	}
	return ""
}

// warn tells the warnings of a configuration.
func (a *app) warn(problems []config.Problem) {
	for _, p := range problems {
		fmt.Fprintf(a.err, "heddle: warning: %s\n", strings.TrimSpace(p.String()))
	}
}

// watchdog is the command that runs this program as the watchdog.
func watchdog() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{exe, watchdogCommand}
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"heddle"
	"heddle/internal/tokens"
)

// Names of the benches.
const (
	NameTask        = "task"
	NameCompression = "compression"
	NameStress      = "stress"
)

// Names returns the names of the benches.
func Names() []string { return []string{NameTask, NameCompression, NameStress} }

// Modes returns the modes that can be measured: those whose hosts have read_result.
func Modes() []string { return []string{"native", "compact", "extreme"} }

// Options say what to run.
type Options struct {
	// Mode is one of [Modes]; "" is all of them for the tasks, else compact.
	Mode   string
	Logger *slog.Logger
}

func (o *Options) modes() []string {
	if o.Mode == "" {
		return Modes()
	}
	return []string{o.Mode}
}

func (o *Options) oneMode() string {
	if o.Mode == "" {
		return "compact"
	}
	return o.Mode
}

// Report is what one run measured. Its JSON form has stable names; only the bench
// that was run is in it.
type Report struct {
	Version string `json:"heddle"`
	Bench   string `json:"bench"`
	// Encoding is the one that all tokens are counted in.
	Encoding    string             `json:"encoding"`
	DurationMS  int64              `json:"duration_ms"`
	Task        *TaskReport        `json:"task,omitempty"`
	Compression *CompressionReport `json:"compression,omitempty"`
	Stress      *StressReport      `json:"stress,omitempty"`
}

// limit is when a run has gone wrong, whatever it waits for.
const limit = 5 * time.Minute

// Run runs one of the benches. An error says what did not go as it should; figures
// are only compared by [Report.Verify]. Nothing is left when it returns, also when
// ctx ends first.
func Run(ctx context.Context, name string, o Options) (r *Report, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("the bench took too long"))
	defer cancel()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r = &Report{Version: heddle.Version, Bench: name, Encoding: tokens.Encoding}
	began := time.Now()
	switch name {
	case NameTask:
		r.Task, err = counted(func(m meter) (*TaskReport, error) { return runTask(ctx, &o, m) })
	case NameCompression:
		r.Compression, err = counted(func(m meter) (*CompressionReport, error) { return runCompression(ctx, &o, m) })
	case NameStress:
		r.Stress, err = runStress(ctx, &o)
	default:
		err = fmt.Errorf("there is no bench %q", name)
	}
	if err != nil {
		return nil, fmt.Errorf("bench %s: %w", name, err)
	}
	r.DurationMS = time.Since(began).Milliseconds()
	return r, nil
}

// counted runs f with a meter.
func counted[R any](f func(meter) (R, error)) (r R, err error) {
	c, err := tokens.New()
	if err != nil {
		return r, err
	}
	return f(meter{c})
}

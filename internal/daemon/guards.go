package daemon

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"heddle"
	"heddle/internal/audit"
	"heddle/internal/config"
	"heddle/internal/gateway"
	"heddle/internal/policy"
	"heddle/internal/quarantine"
	"heddle/internal/secret"
	"heddle/internal/upstream"
)

// resolveWithin is how long a name in an argument may take to resolve.
const resolveWithin = 200 * time.Millisecond

// newAudit returns the log of decisions, which writes nothing unless hosts are
// served and the configuration wants one.
func newAudit(o Options) *audit.Log {
	c := o.Config.Audit
	a := audit.Options{MaxSize: c.MaxSize, MaxFiles: c.MaxFiles, Logger: o.Logger, Mask: masker(o.Config)}
	switch c.Output {
	case "file":
		a.Path = c.Path
	case "stderr":
		a.Output = o.Stderr
	}
	return audit.New(a)
}

// masker hides a configuration's own secrets, and what looks like one.
func masker(c *config.Config) func(string) string {
	own := upstream.Masker(c.Secrets())
	return func(s string) string { return secret.Mask(own(s)) }
}

// maskedJSON hides secrets in a JSON value, which stays one: a configured secret may
// look like anything, and stand anywhere in it.
func maskedJSON(mask func(string) string, raw json.RawMessage) json.RawMessage {
	raw, _ = secret.MaskJSON(raw)
	if masked := json.RawMessage(mask(string(raw))); json.Valid(masked) {
		return masked
	}
	return raw
}

// QuarantineDir is where withheld results are kept, "" if nothing is.
func QuarantineDir(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, "quarantine")
}

// withheld keeps the results that guards withhold.
type withheld struct{ store *quarantine.Store }

// newWithheld returns nil where nothing can be kept.
func newWithheld(o Options) gateway.Quarantine {
	if o.StateDir == "" {
		return nil
	}
	return withheld{quarantine.Open(QuarantineDir(o.StateDir), quarantine.Options{})}
}

// Withhold implements [gateway.Quarantine].
func (w withheld) Withhold(c *heddle.Call, t *heddle.Tool, r heddle.Result, findings []policy.Finding) (string, error) {
	item := quarantine.Item{Principal: c.Principal, Session: c.Session, Server: t.Ref.Server, Tool: t.Ref.Name}
	for _, f := range findings {
		item.Findings = append(item.Findings, quarantine.Finding{Rule: f.Rule, Pointer: f.Pointer, Start: f.Start, End: f.End})
	}
	return w.store.Put(item, r.Raw)
}

// Released implements [gateway.Quarantine].
func (w withheld) Released(p heddle.Principal, id string) (*heddle.Tool, heddle.Result, bool, error) {
	item, raw, err := w.store.GetFor(p, id)
	switch {
	case errors.Is(err, quarantine.ErrNotFound):
		return nil, heddle.Result{}, false, nil
	case err != nil:
		return nil, heddle.Result{}, true, err
	}
	return &heddle.Tool{Ref: heddle.ToolRef{Server: item.Server, Name: item.Tool}}, heddle.Result{Raw: raw}, true, nil
}

package secret

import (
	"testing"

	"heddle/internal/mcptest"
)

// TestRealResults: results of real servers have no secrets but those of Stripe's test
// mode, which are handed out as client_secret.
func TestRealResults(t *testing.T) {
	const archive = "../capture/testdata/results.tar.gz"
	n, flagged := 0, 0
	for name, raw := range mcptest.Archive(t, archive) {
		n++
		found := FindJSON(raw)
		if len(found) > 0 && name != "stripe-list-payment_intent.json" {
			flagged++
			t.Errorf("%s: %d findings, the first %+v", name, len(found), found[0])
		}
	}
	low, high := wilson(flagged, n)
	t.Logf("%d of %d flagged (%.1f–%.1f%%)", flagged, n, 100*low, 100*high)
}

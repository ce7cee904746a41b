package deliver

import (
	"encoding/json"
	"testing"

	"heddle"
)

func TestDeliverIsExact(t *testing.T) {
	for _, raw := range []string{`{"content":[],"structuredContent":{"n":9007199254740993,"z":1.0}}`, `{ }`, `{"isError":true}`} {
		r := heddle.Result{Raw: json.RawMessage(raw)}
		d := Deliver(t.Context(), &heddle.Call{}, r)
		if string(d.Raw) != raw || &d.Raw[0] != &r.Raw[0] || d.Form != heddle.FormExact {
			t.Errorf("Deliver(%s) = %s as %s, want the same bytes", raw, d.Raw, d.Form)
		}
	}
}

package surface

import (
	"fmt"
	"testing"
)

func TestTold(t *testing.T) {
	var d told
	for i, step := range []struct {
		session, server string
		want            bool
	}{{"s", "a", true}, {"s", "a", false}, {"s", "b", true}, {"t", "a", true}, {"t", "a", false}} {
		if got := d.once(step.session, step.server); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
	for i := range 3 * maxTold {
		d.once(fmt.Sprint(i), "a")
		d.once("s", "a") // used again and again, so it stays
	}
	if len(d.sessions) != maxTold || d.order.Len() != maxTold {
		t.Errorf("%d sessions are remembered, want %d", len(d.sessions), maxTold)
	}
	if d.once("s", "a") || !d.once("t", "a") {
		t.Error("the session used last is forgotten, or the one used first is not")
	}
}

package policy

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"heddle"
	"heddle/internal/policy/limit"
)

// everything has each guard on, as heddle init writes them, and more.
func everything() Config {
	return Config{
		Allow: []string{"*"}, Deny: []string{"*_delete_*"}, Confirm: []string{"destructive", "*_merge_*"},
		RateLimit: RateLimit{Default: limit.Rate{N: 1_000_000, Per: time.Millisecond}},
		SSRF:      SSRF{Mode: "block", BlockPrivateIPs: true, Resolver: &net.Resolver{}},
		Injection: &Injection{Sensitivity: "medium", Mode: "block", Results: "warn"},
		Secrets:   "mask",
	}
}

// rows is a result of about that many bytes, as servers write it: JSON in a text.
func rows(bytes int) json.RawMessage {
	var b strings.Builder
	b.WriteByte('[')
	for i := 0; b.Len() < bytes*9/10; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"number":%d,"title":"Checkout fails when the cart has more than %d items","state":"open","labels":["bug","shop"],"user":"dev%d","body":"Steps: open the shop, add items, press the button. The page says that the order was not saved."}`, 9007199254740993+i, i, i%40, i%17)
	}
	b.WriteByte(']')
	text, _ := json.Marshal(b.String())
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`)
}

// BenchmarkChain is the whole chain, before and after a call, with all guards off and
// on: side by side, because only the difference says something.
func BenchmarkChain(b *testing.B) {
	call, tool := callOf(`{"q":"crash in checkout","repo":"acme/shop","ids":[1,2],"page":3}`), toolOf("github", "search", searchSchema)
	for _, size := range []struct {
		name   string
		result json.RawMessage
	}{{"small", rows(500)}, {"1MB", rows(1 << 20)}} {
		for _, on := range []bool{false, true} {
			p := newPolicy(b, Config{})
			if on {
				p = newPolicy(b, everything())
			}
			b.Run(fmt.Sprintf("%s/guards=%t", size.name, on), func(b *testing.B) {
				b.SetBytes(int64(len(size.result)))
				for b.Loop() {
					if v := p.Before(b.Context(), call, tool); v.Action != Allow {
						b.Fatal(v.Err)
					}
					if seen := p.After(b.Context(), call, tool, heddle.Result{Raw: size.result}); seen.Warning != "" || len(seen.Decisions) > 0 {
						b.Fatal(seen.Warning, seen.Decisions)
					}
				}
			})
		}
	}
}

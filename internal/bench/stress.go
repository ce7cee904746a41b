package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"heddle/internal/inproc"
)

// StressReport is what `heddle bench stress` measured.
type StressReport struct {
	Mode  string `json:"mode"`
	Tools int    `json:"tools"`
	Rows  int    `json:"rows"`
	Bytes int    `json:"result_bytes"`
	// Definitions and Result are the tokens of the server's list and of its result.
	Definitions int `json:"definition_tokens"`
	Result      int `json:"result_tokens"`
	// Surface, Find and Delivery are the tokens that heddle puts in their place.
	Surface  int     `json:"surface_tokens"`
	Find     int     `json:"find_tokens"`
	Delivery int     `json:"delivery_tokens"`
	Saved    float64 `json:"saved_percent"`
	// Calls is how often the server was called for all of this.
	Calls int `json:"upstream_calls"`
	recovery
	// CallMS is the time of the call, PagingMS of reading all of it back. Peak is the
	// most memory that this process had until then, in bytes; 0 where the system does
	// not say. The server and its data are in the same process.
	CallMS   float64 `json:"call_ms"`
	PagingMS float64 `json:"paging_ms"`
	Peak     int64   `json:"peak_bytes"`
}

const (
	stressTools = 100
	stressRows  = 8000
)

// stressServer has many tools, one of which returns a large table. It counts the
// calls.
func stressServer() (s *inproc.Server, result json.RawMessage, calls *atomic.Int64) {
	result, calls = orders(40, stressRows, false), &atomic.Int64{}
	var list []any
	for i := range stressTools - 1 {
		list = append(list, manyTool(i))
	}
	list = append(list, object{
		"name": "list_orders", "description": "List all orders of the shop as JSON records, with customer, total, carrier and status.",
		"inputSchema": object{"type": "object", "properties": object{
			"status": object{"type": "string", "enum": []string{"open", "paid", "packed", "shipped", "delivered", "returned"}, "description": "Only orders in this state."},
		}, "additionalProperties": false},
	})
	s = &inproc.Server{
		Name: "shop", Instructions: "The shop's back office.", Definitions: encode(list),
		Run: func(_ context.Context, c *inproc.Call) json.RawMessage {
			calls.Add(1)
			if c.Tool != "list_orders" {
				return errorResult("not in this bench")
			}
			return result
		},
	}
	return s, result, calls
}

// manyTool is the definition of one of the other tools.
func manyTool(i int) object {
	verbs, nouns := []string{"create", "update", "delete", "get", "archive"}, []string{
		"customer", "invoice", "voucher", "supplier", "warehouse", "return", "payment_method", "price_list", "tax_rule", "shipment",
		"campaign", "newsletter", "review", "category", "product", "bundle", "gift_card", "employee", "shift", "report",
	}
	verb, noun := verbs[i%len(verbs)], nouns[i/len(verbs)]
	words := strings.ReplaceAll(noun, "_", " ")
	return object{
		"name": verb + "_" + noun, "description": fmt.Sprintf("%s a %s of the shop by its id. Returns the %s as it is afterwards, with its history. Needs the role of an editor.", strings.ToUpper(verb[:1])+verb[1:], words, words),
		"inputSchema": object{"type": "object", "properties": object{
			"id":      object{"type": "string", "description": "Id of the " + words + ".", "pattern": "^[a-z0-9_]{4,32}$"},
			"fields":  object{"type": "object", "description": "Values to set, by name of the field.", "additionalProperties": object{"type": []string{"string", "number", "boolean", "null"}}},
			"note":    object{"type": "string", "description": "Why, for the history.", "maxLength": 500},
			"dry_run": object{"type": "boolean", "description": "Only say what would be done.", "default": false},
		}, "required": []string{"id"}, "additionalProperties": false},
	}
}

// evidence is what the session of the stress received, kept to be counted after
// the memory was measured: the counter takes more than heddle.
type evidence struct {
	direct, surface []json.RawMessage
	find, delivery  *answer
	pages           []*answer
}

func runStress(ctx context.Context, o *Options) (_ *StressReport, err error) {
	server, result, calls := stressServer()
	s, err := newStage(server, o.Logger)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r, e := &StressReport{Mode: o.oneMode(), Tools: stressTools, Rows: stressRows, Bytes: len(result)}, &evidence{}
	if err := s.alone(ctx, func(ctx context.Context, c *client) (err error) { e.direct, err = c.list(ctx); return err }); err != nil {
		return nil, err
	}
	if err := s.in(ctx, r.Mode, func(ctx context.Context, c *client) error { return r.session(ctx, c, e) }); err != nil {
		return nil, err
	}
	r.Calls, r.Peak = int(calls.Load()), peak()
	return counted(func(m meter) (*StressReport, error) { return r, r.count(m, e, result) })
}

// session finds the tool, calls it once and reads its result back.
func (r *StressReport) session(ctx context.Context, c *client, e *evidence) (err error) {
	if e.surface, err = c.list(ctx); err != nil {
		return err
	}
	tool := "list_orders"
	if c.finds() {
		if e.find, tool, err = c.find(ctx, "list the orders of the shop", tool); err != nil {
			return err
		}
	}
	clock := time.Now()
	if e.delivery, err = c.call(ctx, tool, `{}`); err != nil {
		return err
	}
	r.CallMS = milliseconds(time.Since(clock))
	clock = time.Now()
	for _, ref := range e.delivery.refs() {
		pages, err := c.pages(ctx, ref)
		if err != nil {
			return err
		}
		e.pages = append(e.pages, pages...)
	}
	r.PagingMS = milliseconds(time.Since(clock))
	return nil
}

// count counts what the session received.
func (r *StressReport) count(m meter, e *evidence, result json.RawMessage) error {
	raw, err := parseAnswer(result)
	if err != nil {
		return err
	}
	r.Definitions, r.Result = m.listing(e.direct), m.of(raw)
	r.Surface, r.Delivery = m.listing(e.surface), m.of(e.delivery)
	if e.find != nil {
		r.Find = m.of(e.find)
	}
	r.Saved = saved(r.Definitions+r.Result, r.Surface+r.Find+r.Delivery)
	r.Equal = true
	r.recovery.count(m, e.pages, raw)
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// peak returns the most memory that this process ever had, 0 where the system does
// not say.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(rest)), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kb << 10
		}
	}
	return 0
}

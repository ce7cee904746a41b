package figures

import (
	"encoding/json"
	"fmt"
	"slices"

	"heddle/internal/tokens"
)

// Catalog is what servers list and what a host would list in its place.
type Catalog struct {
	Servers []Server
	// Modes are the definitions that each mode lists.
	Modes []Listing
	// Searches are answers of find_tool, as many as were tried.
	Searches []string
}

// Server is one server and its tools, of which a host without heddle would list
// all. Tools is nil if it did not start.
type Server struct {
	Name, State, Reason string
	Tools               []Definition
}

// Definition is a tool as a host lists it.
type Definition struct {
	Name    string
	Allowed bool // by the configuration
	Raw     json.RawMessage
}

// Listing is what a mode lists.
type Listing struct {
	Mode        string
	Definitions []json.RawMessage
}

// Rates turn tokens into money and time; zero is not asked for.
type Rates struct {
	// Price is of a million tokens, Prefill how many a model reads in a second.
	Price, Prefill float64
}

// Analysis is what a catalog costs a model, in tokens of Encoding.
type Analysis struct {
	Encoding string       `json:"encoding"`
	Servers  []ServerCost `json:"servers"`
	// Now is all that the servers list: what a host without heddle takes.
	Now   Cost       `json:"now"`
	Modes []ModeCost `json:"modes"`
	// Search is the answer of find_tool in the middle of Tried searches, each for
	// another tool by its own description.
	Search Search `json:"search"`
	Advice Advice `json:"advice"`
}

// Cost is the size of definitions and, where asked for, what they cost in each
// request that no cache answers.
type Cost struct {
	Tools   int     `json:"tools"`
	Bytes   int     `json:"bytes"`
	Tokens  int     `json:"tokens"`
	Price   float64 `json:"price,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// ServerCost is what one server's tools cost, the dearest first.
type ServerCost struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Cost
	By []ToolCost `json:"by_tool"`
}

// ToolCost is what one tool costs.
type ToolCost struct {
	Tool    string `json:"tool"`
	Allowed bool   `json:"allowed"`
	Bytes   int    `json:"bytes"`
	Tokens  int    `json:"tokens"`
}

// ModeCost is what a host lists in a mode.
type ModeCost struct {
	Mode string `json:"mode"`
	Cost
	Percent int `json:"saved_percent"` // of now
}

// Search is what a search costs.
type Search struct {
	Tokens int `json:"tokens"`
	Tried  int `json:"tried"`
}

// Advice is what to do.
type Advice struct {
	// Mode is "compact", "native", or "none" for no gateway at all.
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
	// Session is what definitions cost in compact mode in a session of Searches
	// searches, and Until how many searches cost as much as all definitions.
	Session  int `json:"session_tokens"`
	Searches int `json:"session_searches"`
	Until    int `json:"pays_until_searches"`
}

// Counter counts tokens.
type Counter interface{ Count(text string) int }

// Analyze prices a catalog.
func Analyze(c Catalog, count Counter, rates Rates) *Analysis {
	a := &Analysis{Encoding: tokens.Encoding, Servers: []ServerCost{}, Modes: []ModeCost{}}
	for _, s := range c.Servers {
		cost := priceServer(s, count)
		a.Now.add(cost.Cost)
		cost.rate(rates)
		a.Servers = append(a.Servers, cost)
	}
	a.Now.rate(rates)
	for _, m := range c.Modes {
		cost := ModeCost{Mode: m.Mode}
		for _, d := range m.Definitions {
			cost.add(Cost{Tools: 1, Bytes: len(d), Tokens: count.Count(string(d))})
		}
		cost.rate(rates)
		cost.Percent = Percent(int64(a.Now.Tokens-cost.Tokens), int64(a.Now.Tokens))
		a.Modes = append(a.Modes, cost)
	}
	a.Search = priceSearch(c.Searches, count)
	a.Advice = a.advise()
	return a
}

func priceServer(s Server, count Counter) ServerCost {
	out := ServerCost{Name: s.Name, State: s.State, Reason: s.Reason, By: []ToolCost{}}
	for _, d := range s.Tools {
		t := ToolCost{Tool: d.Name, Allowed: d.Allowed, Bytes: len(d.Raw), Tokens: count.Count(string(d.Raw))}
		out.By = append(out.By, t)
		out.add(Cost{Tools: 1, Bytes: t.Bytes, Tokens: t.Tokens})
	}
	slices.SortStableFunc(out.By, func(a, b ToolCost) int { return b.Tokens - a.Tokens })
	return out
}

func priceSearch(answers []string, count Counter) Search {
	var all []int
	for _, text := range answers {
		all = append(all, count.Count(text))
	}
	if len(all) == 0 {
		return Search{}
	}
	slices.Sort(all)
	return Search{Tokens: all[len(all)/2], Tried: len(all)}
}

func (c *Cost) add(o Cost) {
	c.Tools, c.Bytes, c.Tokens = c.Tools+o.Tools, c.Bytes+o.Bytes, c.Tokens+o.Tokens
}

func (c *Cost) rate(r Rates) {
	c.Price = float64(c.Tokens) * r.Price / 1e6
	if r.Prefill > 0 {
		c.Seconds = float64(c.Tokens) / r.Prefill
	}
}

// mode returns what a mode costs.
func (a *Analysis) mode(name string) Cost {
	for _, m := range a.Modes {
		if m.Mode == name {
			return m.Cost
		}
	}
	return Cost{}
}

const (
	// sessionSearches is how many searches a session is taken to need: a task or
	// two, with a tool of one kind and one of another for each.
	sessionSearches = 4
	// worthPercent is how much compact mode must save of the definitions, because a
	// search is also a turn that the model would not have needed.
	worthPercent = 20
)

// advise says whether compact mode pays, and what to do where it does not.
func (a *Analysis) advise() Advice {
	compact, native := a.mode("compact").Tokens, a.mode("native")
	v := Advice{Session: compact + sessionSearches*a.Search.Tokens, Searches: sessionSearches}
	if a.Search.Tokens > 0 {
		v.Until = max(0, (a.Now.Tokens-compact)/a.Search.Tokens)
	}
	number := func(n int) string { return Thousands(int64(n)) }
	small := fmt.Sprintf("%s definitions of tools are %s tokens; compact would take %s in a session of %d searches",
		number(a.Now.Tools), number(a.Now.Tokens), number(v.Session), sessionSearches)
	switch {
	case a.Now.Tools == 0:
		v.Mode, v.Reason = "none", "the servers have no tools"
	case v.Session*100 <= a.Now.Tokens*(100-worthPercent):
		v.Mode = "compact"
		v.Reason = fmt.Sprintf("a session of %d searches takes %s tokens of definitions in place of %s, and one of up to %d searches still saves",
			sessionSearches, number(v.Session), number(a.Now.Tokens), v.Until)
	case native.Tools-1 < a.Now.Tools: // one is heddle's own
		v.Mode, v.Reason = "native", small+"; native keeps your rules, which leave out some of the tools, and shortens large results"
	case len(a.Servers) > 1:
		v.Mode = "native"
		v.Reason = fmt.Sprintf("%s; native keeps one entry for all servers and shortens large results for %s tokens more", small, number(native.Tokens-a.Now.Tokens))
	default:
		v.Mode, v.Reason = "none", small+"; put this one server into the host as it is, unless its results are large"
	}
	return v
}

package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"heddle/internal/inproc"
)

//go:embed tools.json
var toolsJSON []byte

// Task is one task of a run.
type Task struct {
	ID       string `json:"id"`
	Language string `json:"language"`
	Tool     string `json:"tool"`
	Size     string `json:"size"`
	Kind     string `json:"kind"`
	Question string `json:"question"`
	// Direct are the tokens of the result that the server alone delivers.
	Direct int `json:"direct_tokens"`
	// Modes is what each mode took.
	Modes map[string]*Attempt `json:"modes"`
}

// Attempt is a task in one mode. All figures are tokens but Reads.
type Attempt struct {
	Find     int `json:"find_tokens"`
	Delivery int `json:"delivery_tokens"`
	Read     int `json:"read_tokens"`
	Reads    int `json:"reads"`
	Tokens   int `json:"tokens"` // of the three
	// Saved is the part of Direct in percent; it is negative where reading cost more.
	Saved    float64 `json:"saved_percent"`
	Answered bool    `json:"answered"`
	How      string  `json:"how"`
	Answer   string  `json:"answer"`
}

// Total is a session of all tasks in one mode, the definitions that it lists
// included, once.
type Total struct {
	Direct   int     `json:"direct_tokens"`
	Surface  int     `json:"surface_tokens"`
	Find     int     `json:"find_tokens"`
	Delivery int     `json:"delivery_tokens"`
	Read     int     `json:"read_tokens"`
	Reads    int     `json:"reads"`
	Tokens   int     `json:"tokens"`
	Saved    float64 `json:"saved_percent"`
	Answered int     `json:"answered"`
	// Sizes are the tasks with small, middle and large results alone, without what is
	// listed.
	Sizes map[string]*Part `json:"sizes"`
}

// Part is some of the tasks of a session.
type Part struct {
	Direct int     `json:"direct_tokens"`
	Tokens int     `json:"tokens"`
	Saved  float64 `json:"saved_percent"`
}

// TaskReport is what `heddle bench task` measured.
type TaskReport struct {
	// Tools and Definitions are the server's tools and the tokens of their list.
	Tools       int               `json:"tools"`
	Definitions int               `json:"definition_tokens"`
	Tasks       []*Task           `json:"tasks"`
	Modes       map[string]*Total `json:"modes"`
}

// taskServer has the tools of the tasks and answers each call as its task says.
func taskServer(list []*task) *inproc.Server {
	var line bytes.Buffer
	_ = json.Compact(&line, toolsJSON) // a test reads the list
	return &inproc.Server{
		Name: "ops", Instructions: "Tools of the shop's operations team.", Definitions: line.Bytes(),
		Run: func(_ context.Context, c *inproc.Call) json.RawMessage {
			for _, t := range list {
				if t.tool == c.Tool && t.args == string(c.Arguments) {
					return t.make()
				}
			}
			return nil
		},
	}
}

func runTask(ctx context.Context, o *Options, m meter) (_ *TaskReport, err error) {
	list := tasks()
	s, err := newStage(taskServer(list), o.Logger)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r := &TaskReport{Modes: map[string]*Total{}}
	if err := s.alone(ctx, func(ctx context.Context, c *client) error { return r.direct(ctx, c, m, list) }); err != nil {
		return nil, fmt.Errorf("the server alone: %w", err)
	}
	for _, mode := range o.modes() {
		if err := s.in(ctx, mode, func(ctx context.Context, c *client) error { return r.mode(ctx, c, m, list) }); err != nil {
			return nil, fmt.Errorf("%s: %w", mode, err)
		}
	}
	return r, nil
}

// direct runs all tasks at the server alone. That the reader answers there too
// shows that it reads the data, and not what heddle makes of it.
func (r *TaskReport) direct(ctx context.Context, c *client, m meter, list []*task) error {
	defs, err := c.list(ctx)
	if err != nil {
		return err
	}
	r.Tools, r.Definitions = len(defs), m.listing(defs)
	for _, t := range list {
		a, err := c.call(ctx, t.tool, t.args)
		if err != nil {
			return fmt.Errorf("%s: %w", t.id, err)
		}
		rd := reader{client: c, meter: m, goal: &t.goal}
		if got, err := rd.answer(ctx, a); err != nil || got != t.truth {
			return fmt.Errorf("%s: the reader says %q, want %q: %v", t.id, got, t.truth, err)
		}
		r.Tasks = append(r.Tasks, &Task{
			ID: t.id, Language: t.id[len(t.id)-2:], Tool: t.tool, Size: t.size, Kind: t.kind, Question: t.question,
			Direct: m.of(a), Modes: map[string]*Attempt{},
		})
	}
	return nil
}

// mode runs all tasks in a mode.
func (r *TaskReport) mode(ctx context.Context, c *client, m meter, list []*task) error {
	defs, err := c.list(ctx)
	if err != nil {
		return err
	}
	total := &Total{Surface: m.listing(defs), Direct: r.Definitions, Sizes: map[string]*Part{small: {}, middle: {}, large: {}}}
	for i, t := range list {
		a, err := t.attempt(ctx, c, m)
		if err != nil {
			return fmt.Errorf("%s: %w", t.id, err)
		}
		a.Saved = saved(r.Tasks[i].Direct, a.Tokens)
		r.Tasks[i].Modes[c.mode] = a
		total.add(t.size, r.Tasks[i].Direct, a)
	}
	total.Tokens = total.Surface + total.Find + total.Delivery + total.Read
	total.Saved = saved(total.Direct, total.Tokens)
	r.Modes[c.mode] = total
	return nil
}

// add adds a task that would have been so many tokens.
func (t *Total) add(size string, direct int, a *Attempt) {
	t.Direct += direct
	t.Find += a.Find
	t.Delivery += a.Delivery
	t.Read += a.Read
	t.Reads += a.Reads
	if a.Answered {
		t.Answered++
	}
	part := t.Sizes[size]
	part.Direct += direct
	part.Tokens += a.Tokens
	part.Saved = saved(part.Direct, part.Tokens)
}

// attempt does one task as a model would: find, call, read.
func (t *task) attempt(ctx context.Context, c *client, m meter) (*Attempt, error) {
	a := &Attempt{}
	name := t.tool
	if c.finds() {
		found, exposed, err := c.find(ctx, t.search, t.tool)
		if err != nil {
			return nil, err
		}
		a.Find, name = m.of(found), exposed
	}
	delivery, err := c.call(ctx, name, t.args)
	if err != nil {
		return nil, err
	}
	rd := reader{client: c, meter: m, goal: &t.goal}
	if a.Answer, err = rd.answer(ctx, delivery); err != nil {
		return nil, err
	}
	a.Delivery, a.Read, a.Reads, a.How = m.of(delivery), rd.tokens, rd.reads, rd.how
	a.Tokens = a.Find + a.Delivery + a.Read
	a.Answered = a.Answer == t.truth
	return a, nil
}

// saved is how much less with is than without, in percent with two digits, never
// rounded up.
func saved(without, with int) float64 {
	if without == 0 {
		return 0
	}
	return math.Floor(float64(without-with)*1e4/float64(without)) / 100
}

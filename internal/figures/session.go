package figures

import (
	"context"
	"time"

	"heddle"
	"heddle/internal/ledger"
)

// Session is how one session went.
type Session struct {
	Started time.Time `json:"started"`
	Client  string    `json:"client"`
	Card
	Kinds []Kind `json:"kinds"`
	Tools []Tool `json:"by_tool"`
}

// Card is what can be shown of a session to everybody: no name but heddle's own
// words, no path, no argument, no reference.
type Card struct {
	Version string `json:"heddle"`
	Mode    string `json:"mode"`
	// Length is from the first call to the end of the last, in milliseconds.
	Length float64 `json:"length_ms"`
	// ToolsUsed is how many tools of servers were called.
	ToolsUsed int   `json:"tools_used"`
	Calls     int64 `json:"calls"`
	Tokens
	Forms []Form `json:"forms"`
}

// Form is how many calls were delivered in one way, "failed" for those that were
// refused or failed. Times are the mean of a call, in milliseconds.
type Form struct {
	Form      heddle.Form `json:"form"`
	Calls     int64       `json:"calls"`
	Upstream  int64       `json:"upstream_tokens"`
	Delivered int64       `json:"delivered_tokens"`
	Heddle    float64     `json:"heddle_ms"`
	Server    float64     `json:"server_ms"`
}

// formFailed stands for what was not delivered.
const formFailed heddle.Form = "failed"

// Last reports on the last session that called a tool; nil if there was none.
func Last(ctx context.Context, r *ledger.Reader) (*Session, error) {
	row, ok, err := r.LastSession(ctx)
	if err != nil || !ok {
		return nil, err
	}
	f := ledger.Filter{Session: row.ID}
	s := &Session{Started: row.Started, Client: row.Client, Card: Card{Version: heddle.Version, Mode: row.Mode, Forms: []Form{}}}
	if row.ClientVersion != "" {
		s.Client += " " + row.ClientVersion
	}
	if s.Kinds, err = kinds(ctx, r, f); err != nil {
		return nil, err
	}
	if s.Tools, err = tools(ctx, r, f); err != nil {
		return nil, err
	}
	for _, t := range s.Tools {
		if t.Name != "" && t.Server != ownServer {
			s.ToolsUsed++
		}
	}
	return s, s.sum(ctx, r, row)
}

// ownServer stands in for a server where heddle's own tools are reported.
const ownServer = "heddle"

// sum fills in what the session's calls come to.
func (s *Session) sum(ctx context.Context, r *ledger.Reader, row ledger.SessionRow) error {
	f := ledger.Filter{Session: row.ID}
	sums, err := r.Sums(ctx, f)
	if err != nil {
		return err
	}
	sums.Native, sums.Surface = row.Definitions()
	s.Tokens, s.Calls = tokensOf(sums), sums.Calls
	length, err := r.Length(ctx, f)
	if err != nil {
		return err
	}
	s.Length = Milliseconds(length)
	forms, err := r.Forms(ctx, f)
	for _, x := range forms {
		if x.Form == "" {
			x.Form = formFailed
		}
		calls := time.Duration(x.Calls) // the mean is of all of them
		s.Forms = append(s.Forms, Form{x.Form, x.Calls, x.Upstream, x.Delivered, Milliseconds(x.Heddle / calls), Milliseconds(x.Server / calls)})
	}
	return err
}

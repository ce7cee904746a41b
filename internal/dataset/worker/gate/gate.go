package gate

import (
	"context"
	"crypto/rand"
	"fmt"
)

// Parser makes the syntax tree of a text, as the engine's json_serialize_sql writes
// it. It must not run the text.
type Parser func(ctx context.Context, text string) (tree string, err error)

// Gate checks statements. It may be used by several goroutines at once if its parser
// may.
type Gate struct{ parse Parser }

// New returns a gate that lets parser read statements.
func New(parser Parser) *Gate { return &Gate{parser} }

// Check says how to run a statement. The error is an *Error if it may not run, and
// another if it could not be checked.
func (g *Gate) Check(ctx context.Context, sql string) (Verdict, error) {
	s, err := Lexical(sql)
	if err != nil {
		return Verdict{}, err
	}
	ast, err := g.tree(ctx, s.Body)
	if err != nil {
		return Verdict{}, err
	}
	w, added := walker{}, 0
	if ast.Type == notSelect {
		value := rand.Text()
		if body, n := s.filled(value); n > 0 {
			w.fill, added = value, n
			if ast, err = g.tree(ctx, body); err != nil {
				return Verdict{}, err
			}
		}
	}
	return w.judge(s, ast, added)
}

// tree lets the engine parse a text.
func (g *Gate) tree(ctx context.Context, body string) (tree, error) {
	ast, err := g.parse(ctx, body)
	if err != nil {
		return tree{}, fmt.Errorf("parse SQL: %w", err)
	}
	t, refusal := parse(ast)
	if refusal != nil { // a nil *Error would be an error
		return tree{}, refusal
	}
	return t, nil
}

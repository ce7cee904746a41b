// Package tokens counts the tokens of a text exactly, for reports: what a
// catalog, a definition or an answer costs a model.
//
// It never runs on the path of a call: its table takes tens of megabytes and is
// built with the first [Counter], not before.
//
// Start reading at [New].
package tokens

import "github.com/tiktoken-go/tokenizer/codec"

// Encoding is the name of the encoding that all figures are in.
const Encoding = "o200k_base"

// Counter counts in the encoding o200k_base. It may be used by several
// goroutines.
type Counter struct{ codec *codec.Codec }

// New builds the table, which takes a good part of a second.
func New() (*Counter, error) {
	return &Counter{codec.NewO200kBase()}, nil
}

// Count returns how many tokens text has. Text that cannot be encoded counts as
// one token a byte, which is more than it can have.
func (c *Counter) Count(text string) int {
	n, err := c.codec.Count(text)
	if err != nil {
		return len(text)
	}
	return n
}

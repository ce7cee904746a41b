package bench

import (
	"context"
	"strings"
)

// reader answers one question from a delivery, and from read_result where that is
// not enough. It sees what a host sees and follows rules that know no task.
type reader struct {
	client *client
	meter  meter
	goal   *goal

	seen   strings.Builder
	reads  int
	tokens int // of the reads
	how    string
}

// Ways in which a question was answered.
const (
	byDelivery = "delivery"
	byQuery    = "query"
	byPaging   = "paging"
)

// answer looks in the delivery; then in what a search for the question's words
// shows; then pages on from there; then pages from the beginning to the end. A
// question about all rows is paged at once.
func (r *reader) answer(ctx context.Context, delivery *answer) (string, error) {
	text := delivery.text()
	r.seen.WriteString(text + "\n")
	refs := delivery.refs()
	if r.goal.all {
		return r.whole(ctx, text, refs)
	}
	if found, ok := r.goal.look(text, text); ok {
		r.how = byDelivery
		return found, nil
	}
	var cursors []place
	for _, ref := range refs {
		found, ok, at, err := r.search(ctx, ref)
		if err != nil || ok {
			return found, err
		}
		cursors = append(cursors, at...)
	}
	const around = 2 // pages read on from a place that a search showed
	for _, at := range cursors {
		if found, ok, err := r.page(ctx, at, around); err != nil || ok {
			return found, err
		}
	}
	for _, ref := range refs {
		if found, ok, err := r.page(ctx, place{ref: ref}, -1); err != nil || ok {
			return found, err
		}
	}
	return "", nil
}

// place is where reading goes on.
type place struct{ ref, cursor string }

// count counts what was read.
func (r *reader) count(answers ...*answer) {
	for _, a := range answers {
		r.reads++
		r.tokens += r.meter.of(a)
	}
}

// search looks in the fragments of a search, and returns where they are.
func (r *reader) search(ctx context.Context, ref string) (found string, ok bool, at []place, err error) {
	query := strings.ReplaceAll(r.goal.words, ",", " ")
	a, err := r.client.read(ctx, ref, query, "")
	if err != nil {
		return "", false, nil, err
	}
	r.count(a)
	head, fragments, _ := strings.Cut(a.text(), "\n\n")
	for f := range strings.SplitSeq(fragments, "\n\n--- ") {
		line, text, _ := strings.Cut(strings.TrimPrefix(f, "--- "), "\n")
		if found, ok = r.goal.look(text, r.seen.String()+text); ok {
			r.how = byQuery
			return found, true, nil, nil
		}
		if m := cursorIn.FindStringSubmatch(line); m != nil && strings.Contains(text, r.goal.firstWord()) {
			at = append(at, place{ref, m[1]})
		}
	}
	r.seen.WriteString(head + "\n" + fragments)
	return "", false, at, nil
}

// page reads on from a place, at most so many pages, and looks after each.
func (r *reader) page(ctx context.Context, at place, most int) (string, bool, error) {
	var text strings.Builder
	for ; most != 0; most-- {
		a, next, err := r.client.page(ctx, at.ref, at.cursor)
		if err != nil {
			return "", false, err
		}
		r.count(a)
		text.WriteString(a.texts[1])
		if found, ok := r.goal.look(text.String(), r.seen.String()+text.String()); ok {
			r.how = byPaging
			return found, true, nil
		}
		if at.cursor = next; next == "" {
			break
		}
	}
	return "", false, nil
}

// whole answers a question about all rows from all pages, or from the delivery if
// that is whole.
func (r *reader) whole(ctx context.Context, text string, refs []string) (string, error) {
	if len(refs) == 0 {
		r.how = byDelivery
		return r.goal.sum(text), nil
	}
	r.how = byPaging
	var all strings.Builder
	for _, ref := range refs {
		pages, err := r.client.pages(ctx, ref)
		if err != nil {
			return "", err
		}
		r.count(pages...)
		all.WriteString(exact(pages))
	}
	return r.goal.sum(all.String()), nil
}

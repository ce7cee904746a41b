package search

// maxText is how many bytes of one text or query are read.
const maxText = 8 << 10

// New indexes n documents.
func New(signals Signals, n int, document func(i int) Document) *Index {
	b := newBuilder(signals, n, readLexicon(signals))
	for i := range n {
		b.add(i, document(i))
	}
	return b.seal()
}

// Update indexes n documents of which some are in x already: same returns their
// position there, or -1. The others alone are read.
func (x *Index) Update(n int, same func(i int) int, document func(i int) Document) *Index {
	b := newBuilder(x.signals, n, x.words)
	moved := make([]int, x.docs) // by old position: 1 + the new one
	for i := range n {
		if place := same(i); place >= 0 {
			moved[place] = i + 1
		} else {
			b.add(i, document(i))
		}
	}
	b.takeOver(x, moved)
	return b.seal()
}

func newBuilder(signals Signals, docs int, words *lexicon) *builder {
	return &builder{signals: signals, docs: docs, words: words, ids: map[string]int32{}, known: map[written][]int32{}}
}

// builder gathers the postings of an index.
type builder struct {
	signals  Signals
	docs     int
	words    *lexicon
	ids      map[string]int32    // by term
	known    map[written][]int32 // the ids of a run's terms, so that each is stemmed once
	postings [][]posting         // by id
	slots    []int               // by id: 1 + its place in the list of the document being counted
}

// written is a run of characters as it stands in a text.
type written struct {
	run   string
	prose bool
}

// occurrence is how often a term stands in each field of a document.
type occurrence struct {
	id     int32
	counts [fields]float32
}

// takeOver copies the postings of the documents that stay: moved holds 1 + the
// new position of each.
func (b *builder) takeOver(old *Index, moved []int) {
	for i, t := range old.terms {
		id := b.id(t)
		for _, p := range old.of(i) {
			if to := moved[p.doc]; to > 0 {
				p.doc = uint32(to - 1)
				b.postings[id] = append(b.postings[id], p)
			}
		}
	}
}

// add indexes a document.
func (b *builder) add(doc int, d Document) {
	var list []occurrence
	var lengths [fields]float64
	for f, texts := range d.texts() {
		if !b.signals.reads(f) {
			continue
		}
		for _, id := range b.termsOf(texts, fieldOf(f).prose) {
			if b.slots[id] == 0 {
				list = append(list, occurrence{id: id})
				b.slots[id] = len(list)
			}
			list[b.slots[id]-1].counts[f]++
			lengths[f]++
		}
	}
	for _, o := range list {
		b.slots[o.id] = 0
		b.postings[o.id] = append(b.postings[o.id], weigh(doc, &o.counts, &lengths))
	}
}

// termsOf returns the terms of texts in order, as often as they stand there.
func (b *builder) termsOf(texts []string, prose bool) (ids []int32) {
	for _, text := range texts {
		runs(text[:min(len(text), maxText)], func(run string, class int) {
			key := written{run, prose}
			terms, ok := b.known[key]
			if !ok {
				terms = b.read(run, class, prose)
				b.known[key] = terms
			}
			ids = append(ids, terms...)
		})
	}
	return ids
}

// read returns the terms of a run. An identifier is its parts; in prose it may
// as well be a brand, GitHub, that people write as one word. Chinese is also
// what it means in English.
func (b *builder) read(run string, class int, prose bool) (ids []int32) {
	one := func(term string) {
		if term != "" {
			ids = append(ids, b.id(term))
		}
	}
	if class == unspaced {
		bigrams(run, one)
		if b.signals&Chinese != 0 {
			b.words.cut(run, func(_ string, means [][]string) {
				for _, same := range means {
					one(same[0])
				}
			})
		}
		return ids
	}
	parts := parts(run)
	if prose || len(parts) == 0 {
		one(b.signals.term(run))
	}
	for _, p := range parts {
		one(b.signals.term(p))
	}
	return ids
}

func (b *builder) id(term string) int32 {
	id, ok := b.ids[term]
	if !ok {
		id = int32(len(b.postings))
		b.ids[term] = id
		b.postings, b.slots = append(b.postings, nil), append(b.slots, 0)
	}
	return id
}

// dilution is BM25's b: how much a field longer than usual weakens its words.
const dilution = 0.3

func weigh(doc int, counts *[fields]float32, lengths *[fields]float64) posting {
	p := posting{doc: uint32(doc)}
	weight := 0.0
	for f, n := range counts {
		if n == 0 {
			continue
		}
		by := fieldOf(f)
		weight += by.weight * float64(n) / (1 - dilution + dilution*lengths[f]/by.usual)
		p.named = p.named || f == fieldName
	}
	p.weight = uint16(max(1, min(weight/weightUnit, 1<<16-1)))
	return p
}

package catalog

import (
	"sync"
	"sync/atomic"

	"heddle"
	"heddle/internal/catalog/search"
)

// lazyIndex is built when it is first needed: a heddle that nobody asks to
// search keeps none. It starts from the last one that was built, so that after a
// change only the tools that changed are read.
type lazyIndex struct {
	building sync.Mutex
	done     atomic.Pointer[indexed]
	before   *indexed // until done; may be nil
}

// indexed is an index and what it was made of.
type indexed struct {
	index  *search.Index
	tools  []*heddle.Tool
	abouts map[string]string // what a server says of itself
}

// newLazyIndex returns the index to be of the snapshot after old, which may be
// nil.
func newLazyIndex(old *Snapshot) *lazyIndex {
	l := new(lazyIndex)
	if old == nil {
		return l
	}
	if l.before = old.index.done.Load(); l.before == nil {
		old.index.building.Lock() // it may be done and have let go of its own before
		defer old.index.building.Unlock()
		if l.before = old.index.done.Load(); l.before == nil {
			l.before = old.index.before
		}
	}
	return l
}

// of returns the index of the snapshot.
func (l *lazyIndex) of(s *Snapshot) *search.Index {
	if done := l.done.Load(); done != nil {
		return done.index
	}
	l.building.Lock()
	defer l.building.Unlock()
	if done := l.done.Load(); done != nil {
		return done.index
	}
	next := &indexed{tools: s.tools, abouts: abouts(s.servers)}
	next.build(l.before)
	l.done.Store(next)
	l.before = nil
	return next.index
}

func abouts(servers []ServerInfo) map[string]string {
	out := make(map[string]string, len(servers))
	for _, info := range servers {
		out[info.Name] = info.Instructions
	}
	return out
}

func (x *indexed) document(i int) search.Document {
	return document(x.tools[i], x.abouts[x.tools[i].Ref.Server])
}

func (x *indexed) build(old *indexed) {
	if old == nil {
		x.index = search.New(search.All, len(x.tools), x.document)
		return
	}
	places := make(map[heddle.ToolRef]int, len(old.tools))
	for i, t := range old.tools {
		places[t.Ref] = i
	}
	same := func(i int) int {
		t := x.tools[i]
		place, ok := places[t.Ref]
		if !ok || old.tools[place].Fingerprint != t.Fingerprint || old.abouts[t.Ref.Server] != x.abouts[t.Ref.Server] {
			return -1
		}
		return place
	}
	x.index = old.index.Update(len(x.tools), same, x.document)
}

package minify

import (
	"container/list"
	"sync"
	"sync/atomic"

	"heddle"
)

// DefaultSize is how many tools a [Cache] keeps if nothing else is said.
const DefaultSize = 2048

// Cache keeps what was made of tools, by fingerprint, the least recently used
// going first. It may be used by several goroutines.
type Cache[V any] struct {
	make func(*heddle.Tool) V
	size int

	mu    sync.Mutex
	byKey map[string]*list.Element
	order *list.List // of *entry[V], most recent first

	hits, misses atomic.Int64
}

type entry[V any] struct {
	key   string
	value V
}

// NewCache returns a cache of at most size values that make makes, [DefaultSize]
// if size is not positive.
func NewCache[V any](size int, make func(*heddle.Tool) V) *Cache[V] {
	if size <= 0 {
		size = DefaultSize
	}
	return &Cache[V]{make: make, size: size, byKey: map[string]*list.Element{}, order: list.New()}
}

// Get returns what was made of the tool, and whether that was there already. A
// tool without a fingerprint is not kept.
func (c *Cache[V]) Get(t *heddle.Tool) (v V, hit bool) {
	if t.Fingerprint == "" {
		return c.make(t), false
	}
	key := t.Fingerprint + t.Note // which comes and goes with what guards are told
	if v, ok := c.find(key); ok {
		c.hits.Add(1)
		return v, true
	}
	c.misses.Add(1)
	v = c.make(t) // outside the lock: it may take milliseconds, and twice does no harm
	c.keep(key, v)
	return v, false
}

// Stats returns how often a value was there and how often it was not.
func (c *Cache[V]) Stats() (hits, misses int64) { return c.hits.Load(), c.misses.Load() }

func (c *Cache[V]) find(key string) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el := c.byKey[key]
	if el == nil {
		return v, false
	}
	c.order.MoveToFront(el)
	return el.Value.(*entry[V]).value, true
}

func (c *Cache[V]) keep(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.order.PushFront(&entry[V]{key, v})
	if c.order.Len() > c.size {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.byKey, oldest.Value.(*entry[V]).key)
	}
}

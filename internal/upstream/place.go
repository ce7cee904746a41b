package upstream

import (
	"context"
	"sync"
	"time"
)

// place is a server's turn to start. As many servers start at a time as there
// are cores, because cold starts that share a core all miss their deadlines. But
// a start that waits for the network or for nothing at all needs no core, so it
// gives its place up.
type place struct {
	starts chan struct{}
	once   sync.Once
	done   chan struct{}
}

// startPlace waits for a turn. The server's clock has not started yet.
func (s *Server) startPlace(ctx context.Context) (*place, error) {
	select {
	case s.deps.Starts <- struct{}{}:
		return &place{starts: s.deps.Starts, done: make(chan struct{})}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *place) release() {
	p.once.Do(func() {
		close(p.done)
		<-p.starts
	})
}

const (
	lookEvery = 500 * time.Millisecond
	// idleTicks of CPU in one look are a twentieth of a core.
	idleTicks = 3
	// longest is how long a start keeps its place where its CPU use is not known.
	longest = 5 * time.Second
)

// watch releases the place once the starting process stops using the CPU.
func (p *place) watch(proc *process) {
	if proc == nil {
		return
	}
	group := proc.cmd.Process.Pid
	go func() {
		began, before := time.Now(), int64(0)
		t := time.NewTicker(lookEvery)
		defer t.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-t.C:
			}
			now, known := groupCPU(group)
			if known && now-before < idleTicks || !known && time.Since(began) > longest {
				p.release()
				return
			}
			before = now
		}
	}()
}

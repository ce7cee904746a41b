package surface

import "sync"

// workers run jobs, each in a goroutine of its own at once. A worker that is done
// waits for the next job, since its stack has grown to what a call needs: a
// fresh goroutine would grow it anew on every call.
type workers struct {
	jobs chan func()
	idle chan struct{} // a place for each worker that may wait
	quit chan struct{}
	all  sync.WaitGroup
}

// idleWorkers is how many wait for a next job.
const idleWorkers = 32

func newWorkers() *workers {
	return &workers{jobs: make(chan func()), idle: make(chan struct{}, idleWorkers), quit: make(chan struct{})}
}

// run runs job without waiting for it.
func (w *workers) run(job func()) {
	select {
	case w.jobs <- job: // somebody waits
	default:
		w.all.Go(func() { w.work(job) })
	}
}

func (w *workers) work(job func()) {
	for {
		job()
		select {
		case w.idle <- struct{}{}:
		default:
			return // enough are waiting
		}
		select {
		case job = <-w.jobs:
			<-w.idle
		case <-w.quit:
			return
		}
	}
}

// stop ends the workers that wait and waits for those that work.
func (w *workers) stop() {
	close(w.quit)
	w.all.Wait()
}

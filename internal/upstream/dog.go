package upstream

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

// dog is the running watchdog. One that ends before its time is started again.
type dog struct {
	command []string

	mu     sync.Mutex
	stdin  io.WriteCloser
	cmd    *exec.Cmd
	groups map[int]bool
	free   chan struct{} // closed by release
	gone   chan struct{} // closed once no watchdog runs any more
}

// guard returns the watchdog, starting it with the first server; nil if it cannot
// be had. Servers still end with us in every orderly case.
func (s *Spawner) guard() *dog {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dog != nil || s.watchdog == nil {
		return s.dog
	}
	d := &dog{
		command: append(s.watchdog[:len(s.watchdog):len(s.watchdog)], s.run),
		groups:  map[int]bool{}, free: make(chan struct{}), gone: make(chan struct{}),
	}
	if d.start() != nil {
		s.watchdog = nil
		return nil
	}
	go d.mind()
	s.dog = d
	return d
}

// start starts the process and tells it what it must know. It is called with the
// lock held, or before anybody else knows d.
func (d *dog) start() error {
	cmd := exec.Command(d.command[0], d.command[1:]...)
	cmd.Env = []string{"GOMAXPROCS=1"} // it must stay small and carry nobody's owner mark
	cmd.Dir = "/"
	cmd.SysProcAttr = dogAttr()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	d.stdin, d.cmd = in, cmd
	for pid := range d.groups {
		_, _ = fmt.Fprintf(in, "+%d\n", pid) // if it has ended again, mind is told
	}
	return nil
}

// dogRest keeps a watchdog that cannot live from being started without end.
const dogRest = time.Second

// mind starts the watchdog again whenever it ends, until it is released.
func (d *dog) mind() {
	defer close(d.gone)
	for {
		d.mu.Lock()
		cmd := d.cmd
		d.mu.Unlock()
		_ = cmd.Wait() // how it ended does not matter
		rest := time.NewTimer(dogRest)
		select {
		case <-d.free:
			rest.Stop()
			return
		case <-rest.C:
		}
		if !d.again() {
			return
		}
	}
}

// again starts the next watchdog, unless d was released meanwhile or it cannot be
// started.
func (d *dog) again() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.free:
		return false
	default:
		return d.start() == nil
	}
}

// watch tells the watchdog of a process group, forget that it has ended.
func (d *dog) watch(pid int)  { d.tell(pid, true) }
func (d *dog) forget(pid int) { d.tell(pid, false) }

func (d *dog) tell(pid int, watch bool) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	sign := "-"
	if delete(d.groups, pid); watch {
		sign = "+"
		d.groups[pid] = true
	}
	_, _ = fmt.Fprintf(d.stdin, "%s%d\n", sign, pid) // if it has just ended, the next one is told all
}

// release lets the watchdog end; it has nothing left to do.
func (d *dog) release() {
	if d == nil {
		return
	}
	d.mu.Lock()
	close(d.free)
	_, _ = io.WriteString(d.stdin, goodbye+"\n") // if it has just ended, there is nobody to tell
	_ = d.stdin.Close()
	d.mu.Unlock()
	<-d.gone
}

package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

const deadline = 20 * time.Second

// within fails the test if f does not return in time. Give it f's reason to
// hang as what.
func within(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(deadline):
		t.Fatalf("blocked: %s", what)
	}
}

// osPipe returns a pipe of the system, whose write end takes what fits.
func osPipe(t testing.TB) (*os.File, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// kinds runs a test with a file, which the writer writes directly, and with a
// pipe in memory, which always goes through the flusher.
func kinds(t *testing.T, f func(t *testing.T, r io.ReadCloser, w io.WriteCloser)) {
	t.Run("file", func(t *testing.T) { r, w := osPipe(t); f(t, r, w) })
	t.Run("memory", func(t *testing.T) { r, w := io.Pipe(); f(t, r, w) })
}

func TestWriterKeepsTheOrderOfOneCaller(t *testing.T) {
	kinds(t, func(t *testing.T, r io.ReadCloser, dst io.WriteCloser) {
		const n = 5000
		w := NewWriter(dst)
		go func() {
			buf := make([]byte, 0, 200)
			for i := range n { // the frame is reused, as callers may
				buf = fmt.Appendf(buf[:0], "%d %s\n", i, strings.Repeat("x", i%100))
				if err := w.Write(t.Context(), buf); err != nil {
					t.Errorf("Write: %v", err)
				}
			}
			if err := w.Flush(t.Context()); err != nil {
				t.Errorf("Flush: %v", err)
			}
			_ = dst.Close()
		}()
		lines := readAll(t, NewReader(r, 1000))
		if len(lines) != n {
			t.Fatalf("got %d lines, want %d", len(lines), n)
		}
		for i, line := range lines {
			if want := strings.TrimSpace(fmt.Sprintf("%d %s", i, strings.Repeat("x", i%100))); line != want {
				t.Fatalf("line %d is %q, want %q", i, line, want)
			}
		}
	})
}

func TestWriterNeverInterleavesFrames(t *testing.T) {
	kinds(t, func(t *testing.T, r io.ReadCloser, dst io.WriteCloser) {
		const writers, frames = 16, 60
		w := NewWriter(dst)
		var busy sync.WaitGroup
		for id := range writers {
			busy.Go(func() {
				for i := range frames { // from some bytes to twice a pipe's buffer
					body := strings.Repeat(string(rune('a'+id)), 1+(i*i*137)%130_000)
					if err := w.Write(t.Context(), fmt.Appendf(nil, "%d:%d:%s:%d\n", id, i, body, len(body))); err != nil {
						t.Errorf("Write: %v", err)
					}
				}
			})
		}
		go func() { busy.Wait(); _ = w.Flush(t.Context()); _ = dst.Close() }()
		next := make([]int, writers)
		for _, line := range readAll(t, NewReader(r, 1<<20)) {
			var id, i, size int
			parts := strings.Split(line, ":")
			if len(parts) != 4 {
				t.Fatalf("a mixed frame: %.80q", line)
			}
			_, _ = fmt.Sscan(parts[0]+" "+parts[1]+" "+parts[3], &id, &i, &size)
			if i != next[id] || len(parts[2]) != size || strings.Trim(parts[2], string(rune('a'+id))) != "" {
				t.Fatalf("writer %d: frame %d of %d bytes, want frame %d of %d", id, i, len(parts[2]), next[id], size)
			}
			next[id]++
		}
		for id, n := range next {
			if n != frames {
				t.Errorf("writer %d: %d frames arrived, want %d", id, n, frames)
			}
		}
	})
}

// TestWriterPeerThatDoesNotReadBlocksNobody fills the queue and more: writers
// then wait for their context alone.
func TestWriterPeerThatDoesNotReadBlocksNobody(t *testing.T) {
	kinds(t, func(t *testing.T, r io.ReadCloser, dst io.WriteCloser) {
		w := NewWriter(dst)
		mib := bytes.Repeat([]byte("x"), 1<<20)
		mib[len(mib)-1] = '\n'
		within(t, "frames below the limit", func() {
			for range 8 {
				if err := w.Write(t.Context(), mib); err != nil {
					t.Errorf("Write below the limit: %v", err)
				}
			}
		})
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error, 8)
		for range cap(result) {
			go func() {
				for {
					if err := w.Write(ctx, mib); err != nil {
						result <- err
						return
					}
				}
			}()
		}
		within(t, "Offer to a full queue", func() {
			for !errors.Is(w.Offer([]byte("progress\n")), ErrFull) {
			}
		})
		within(t, "WriteWithin to a full queue", func() {
			for { // until the queue is full
				if err := w.WriteWithin(t.Context(), mib, 20*time.Millisecond); err != nil {
					if !errors.Is(err, ErrFull) {
						t.Errorf("WriteWithin: got %v, want %v", err, ErrFull)
					}
					return
				}
			}
		})
		cancel(gone)
		within(t, "writers whose context ended", func() {
			for range cap(result) {
				if err := <-result; err != gone {
					t.Errorf("Write with an ended context: got %v, want its cause", err)
				}
			}
		})
		_ = r.Close()
		_ = dst.Close()
		within(t, "Write after the end", func() {
			for w.Write(t.Context(), mib) == nil {
			}
		})
	})
}

func TestWriterGoesOnWhenThePeerReadsAgain(t *testing.T) {
	r, dst := osPipe(t)
	w := NewWriter(dst)
	mib := bytes.Repeat([]byte("x"), 1<<20)
	mib[len(mib)-1] = '\n'
	const n = 30
	done := make(chan error, 1)
	go func() {
		var err error
		for range n {
			err = errors.Join(err, w.Write(t.Context(), mib))
		}
		err = errors.Join(err, w.Flush(t.Context()), dst.Close())
		done <- err
	}()
	for w.Offer([]byte("o\n")) == nil { // until the queue is behind
	}
	var total int64
	within(t, "reading", func() { total, _ = io.Copy(io.Discard, r) })
	if err := <-done; err != nil {
		t.Error(err)
	}
	if total < n<<20 {
		t.Errorf("got %d bytes, want at least %d", total, n<<20)
	}
}

func TestWriterReportsABrokenStream(t *testing.T) {
	kinds(t, func(t *testing.T, r io.ReadCloser, dst io.WriteCloser) {
		w := NewWriter(dst)
		_ = r.Close()
		within(t, "writing to a closed pipe", func() {
			for w.Write(t.Context(), []byte("x\n")) == nil {
			}
		})
		if err := w.Offer([]byte("x\n")); err == nil || errors.Is(err, ErrFull) {
			t.Errorf("Offer: got %v, want the stream's error", err)
		}
		if err := w.Flush(t.Context()); err == nil {
			t.Error("Flush: no error")
		}
	})
}

func TestWriterFlushWaitsUntilItsContextEnds(t *testing.T) {
	r, dst := io.Pipe()
	w := NewWriter(dst)
	if err := w.Flush(t.Context()); err != nil {
		t.Errorf("Flush of nothing: %v", err)
	}
	_ = w.Write(t.Context(), []byte("x\n"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := w.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Flush while nobody reads: got %v, want the deadline", err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	within(t, "Flush", func() {
		if err := w.Flush(t.Context()); err != nil {
			t.Errorf("Flush: %v", err)
		}
	})
	_ = dst.Close()
}

// TestWriterRoomWaitsWhileTooMuchIsQueued: each way out of the wait.
func TestWriterRoomWaitsWhileTooMuchIsQueued(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(r *io.PipeReader, w *io.PipeWriter, stop func())
		want error
	}{
		{"the peer reads", func(r *io.PipeReader, _ *io.PipeWriter, _ func()) { go func() { _, _ = io.Copy(io.Discard, r) }() }, nil},
		{"the stream fails", func(r *io.PipeReader, _ *io.PipeWriter, _ func()) { _ = r.CloseWithError(io.ErrNoProgress) }, io.ErrNoProgress},
		{"stop is closed", func(_ *io.PipeReader, _ *io.PipeWriter, stop func()) { stop() }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, dst := io.Pipe()
				w := NewWriter(dst)
				stop := make(chan struct{})
				w.Room(stop) // nothing is queued
				full := bytes.Repeat([]byte("x"), fullAt)
				full[len(full)-1] = '\n'
				for _, frame := range [][]byte{[]byte("in the pipe\n"), full[1:]} {
					if err := w.Write(t.Context(), frame); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					w.Room(stop) // a little room is left
				}
				if err := w.Write(t.Context(), []byte("x\n")); err != nil {
					t.Fatal(err)
				}
				free := make(chan struct{})
				go func() { w.Room(stop); close(free) }()
				synctest.Wait()
				select {
				case <-free:
					t.Error("room while too much is queued")
				default:
				}
				c.end(r, dst, sync.OnceFunc(func() { close(stop) }))
				synctest.Wait()
				select {
				case <-free:
				default:
					t.Error("still waiting")
				}
				if err := w.Err(); err != c.want {
					t.Errorf("Err: got %v, want %v", err, c.want)
				}
				_ = r.Close()
				_ = dst.Close()
			})
		})
	}
}

func TestWriterSaysThatItHasFailedAndWhy(t *testing.T) {
	kinds(t, func(t *testing.T, r io.ReadCloser, dst io.WriteCloser) {
		w := NewWriter(dst)
		select {
		case <-w.Failed():
			t.Error("failed before the first write")
		default:
		}
		if err := w.Err(); err != nil {
			t.Errorf("Err before the first write: %v", err)
		}
		_ = r.Close()
		var first error
		within(t, "writing to a closed pipe", func() {
			for first == nil {
				first = w.Write(t.Context(), []byte("x\n"))
			}
			<-w.Failed()
		})
		for range 3 {
			if err := w.Write(t.Context(), []byte("x\n")); err != first {
				t.Errorf("Write: got %v, want the first error again, %v", err, first)
			}
		}
		if err := w.Err(); err != first || !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, syscall.EPIPE) {
			t.Errorf("Err: got %v, want %v, which says that the pipe is closed", err, first)
		}
		within(t, "Room of a stream that failed", func() { w.Room(nil) })
	})
}

func BenchmarkWriter(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 20} {
		line := append(frame(n), '\n')
		for _, parallel := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/parallel=%v", n, parallel), func(b *testing.B) {
				r, dst := osPipe(b)
				go func() { _, _ = io.Copy(io.Discard, r) }()
				w := NewWriter(dst)
				b.SetBytes(int64(len(line)))
				b.ReportAllocs()
				if parallel {
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							_ = w.Write(b.Context(), line)
						}
					})
				} else {
					for b.Loop() {
						_ = w.Write(b.Context(), line)
					}
				}
				_ = w.Flush(b.Context())
			})
		}
	}
}

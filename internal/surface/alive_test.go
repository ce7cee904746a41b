package surface

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A stream that is silent for long has comments in it, between its events and
// not after its end. Any other response has none.
func TestSilentStreamIsKeptAlive(t *testing.T) {
	const comment = ": alive\n\n"
	for _, test := range []struct{ name, kind, want string }{
		{"events", "text/event-stream", "data: 1\n\n" + comment + comment + "data: 2\n\n" + comment},
		{"events with a charset", "text/event-stream; charset=utf-8", "data: 1\n\n" + comment + comment + "data: 2\n\n" + comment},
		{"a message", "application/json", "data: 1\n\ndata: 2\n\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := httptest.NewRecorder()
			a := keepAlive(r)
			a.Header().Set("Content-Type", test.kind)
			write := func(text string, silence time.Duration) {
				if _, err := a.Write([]byte(text)); err != nil {
					t.Error(err)
				}
				a.Flush()
				time.Sleep(silence)
				synctest.Wait()
			}
			write("data: 1\n\n", 2*aliveEvery+aliveEvery/2)
			write("data: 2\n\n", aliveEvery+aliveEvery/2)
			a.stop()
			time.Sleep(10 * aliveEvery)
			if diff := cmp.Diff(test.want, r.Body.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		})
	}
	if aliveEvery > 25*time.Second {
		t.Errorf("every %s is too rare for proxies", aliveEvery)
	}
}

// A response that nothing has been written into is kept alive once its headers
// are known, and only if it is a stream.
func TestResponseThatIsWaitedFor(t *testing.T) {
	for kind, want := range map[string]string{"text/event-stream": ": alive\n\n: alive\n\ndata: 1\n\n", "application/json": "data: 1\n\n"} {
		synctest.Test(t, func(t *testing.T) {
			r := httptest.NewRecorder()
			var w waiting
			a := keepAlive(r)
			name, forget := w.add(a)
			a.Header().Set("Content-Type", kind)
			time.Sleep(10 * aliveEvery)
			header := r.Header().Clone()
			header.Set(aliveHeader, name)
			w.arm(header)
			w.arm(header)
			time.Sleep(2*aliveEvery + aliveEvery/2)
			if _, err := a.Write([]byte("data: 1\n\n")); err != nil {
				t.Error(err)
			}
			a.stop()
			forget()
			w.arm(header)
			time.Sleep(10 * aliveEvery)
			if diff := cmp.Diff(want, r.Body.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", kind, diff)
			}
		})
	}
}

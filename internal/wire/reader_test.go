package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll returns the frames of a stream; an oversized one as "!size id".
func readAll(t testing.TB, r *Reader) []string {
	t.Helper()
	var out []string
	for range 1_000_000 {
		frame, err := r.Next()
		var large *TooLargeError
		switch {
		case errors.As(err, &large):
			out = append(out, fmt.Sprintf("!%d %s", large.Size, large.ID))
		case err == io.EOF:
			return out
		case err != nil:
			t.Fatalf("Next: %v", err)
		default:
			out = append(out, string(frame))
		}
	}
	t.Fatal("the stream does not end")
	return nil
}

func TestReaderSplitsLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}},
		{"blank lines", "\n\r\n  \t\na\n\n\nb\n\n", []string{"a", "b"}},
		{"no final newline", "a\nb", []string{"a", "b"}},
		{"white space around", "  a b \t\r\n", []string{"a b"}},
		{"only blanks", " \n \n ", nil},
		{"multi-byte", "€uro\n𝄞\n", []string{"€uro", "𝄞"}},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "halves": iotest.HalfReader, "end with data": iotest.DataErrReader,
		} {
			got := readAll(t, NewReader(wrap(strings.NewReader(c.in)), 1000))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s, %s (-want +got):\n%s", c.name, name, d)
			}
		}
	}
}

func TestReaderCapIsExactAndTheStreamGoesOn(t *testing.T) {
	const limit = 100
	for _, wrap := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader} {
		for _, n := range []int{limit - 1, limit, limit + 1, limit + 2, 3 * limit, 70_000, 200_000} {
			for _, last := range []string{"\nsmall\n", "\nsmall", "\n", ""} {
				line := strings.Repeat("x", n)
				want := []string{line}
				if n > limit {
					want = []string{fmt.Sprintf("!%d ", n)}
				}
				if strings.Contains(last, "small") {
					want = append(want, "small")
				}
				got := readAll(t, NewReader(wrap(strings.NewReader(line+last)), limit))
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%d bytes and %q (-want +got):\n%.300s", n, last, d)
				}
			}
		}
	}
}

func TestReaderLargeFramesArriveWhole(t *testing.T) {
	for _, n := range []int{handOff - 1, handOff, 64 << 10, 64<<10 + 1, 1 << 20, 3<<20 + 7} {
		line := strings.Repeat("€", n/3) + strings.Repeat("y", n%3)
		in := "first\n" + line + "\nmid\n" + line + "\nlast\n"
		got := readAll(t, NewReader(&chunks{data: []byte(in), size: 4093}, 4<<20))
		want := []string{"first", line, "mid", line, "last"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d bytes: frames differ: %.200s", n, d)
		}
	}
}

func TestReaderFramesAreTheCallersToKeep(t *testing.T) {
	var in bytes.Buffer
	var want []string
	for i := range 200 {
		line := strings.Repeat(string(rune('a'+i%26)), 1+i*331)
		want = append(want, line)
		in.WriteString(line + "\n")
	}
	r := NewReader(&chunks{data: in.Bytes(), size: 60_000}, 1<<20)
	var kept [][]byte
	for {
		frame, err := r.Next()
		if err != nil {
			break
		}
		kept = append(kept, frame)
	}
	for i, frame := range kept {
		_ = append(frame, "overwritten"...) // must not reach another frame
		if string(frame) != want[i] {
			t.Fatalf("frame %d changed after it was returned", i)
		}
	}
	if len(kept) != len(want) {
		t.Errorf("got %d frames, want %d", len(kept), len(want))
	}
}

func TestReaderFindsTheIDOfAnOversizedFrame(t *testing.T) {
	big := `{"content":[{"text":"` + strings.Repeat(`x\"{[,:id`, 20_000) + `","id":"inner"}]}`
	for _, c := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":"h12","result":` + big + `}`, `"h12"`},
		{`{"jsonrpc":"2.0","result":` + big + `,"id":"h12"}`, `"h12"`},
		{`{"result":` + big + `, "id" : 42 , "jsonrpc":"2.0"}`, `42`},
		{`{"result":` + big + `,"id":9007199254740993}`, `9007199254740993`},
		{`{"id":"a\"b","result":` + big + `}`, `"a\"b"`},
		{`{"jsonrpc":"2.0","method":"m","params":` + big + `}`, ``},
		{`{"id":{"id":5},"result":` + big + `}`, ``},
		{`{"id":"` + strings.Repeat("z", 300) + `","result":` + big + `}`, ``},
		{`[{"id":1},` + big + `]`, ``},
		{big[:len(big)/2], ``},
		{strings.Repeat("}", 2000) + big, ``},
	} {
		for _, size := range []int{1, 7, 4093, 1 << 20} {
			r := NewReader(&chunks{data: []byte(c.in + "\nnext\n"), size: size}, 1000)
			_, err := r.Next()
			var large *TooLargeError
			if !errors.As(err, &large) {
				t.Fatalf("%.60s…: got %v, want a TooLargeError", c.in, err)
			}
			if string(large.ID) != c.want || large.Size != int64(len(c.in)) || large.Limit != 1000 {
				t.Errorf("%.60s… in pieces of %d: got id %s, %d bytes, limit %d; want %s, %d, 1000", c.in, size, large.ID, large.Size, large.Limit, c.want, len(c.in))
			}
			if next, err := r.Next(); string(next) != "next" || err != nil {
				t.Errorf("%.60s…: afterwards %q, %v", c.in, next, err)
			}
		}
	}
}

// endless yields n bytes of one line, then the rest.
type endless struct {
	n    int
	rest io.Reader
}

func (e *endless) Read(b []byte) (int, error) {
	if e.n == 0 {
		return e.rest.Read(b)
	}
	k := min(e.n, len(b))
	for i := range k {
		b[i] = 'x'
	}
	e.n -= k
	return k, nil
}

func TestReaderMemoryIsBoundedByTheCap(t *testing.T) {
	const limit = 1 << 20
	r := NewReader(&endless{n: 100 << 20, rest: strings.NewReader("\nsmall\n")}, limit)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := readAll(t, r)
	runtime.ReadMemStats(&after)
	if d := cmp.Diff([]string{fmt.Sprintf("!%d ", 100<<20), "small"}, got); d != "" {
		t.Errorf("frames (-want +got):\n%s", d)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8*limit {
		t.Errorf("a line of 100 MiB allocated %d bytes under a cap of %d", used, limit)
	}
}

func TestReaderGivesBackALargeBuffer(t *testing.T) {
	r := NewReader(&chunks{data: []byte(strings.Repeat("x", 8<<20) + "\nsmall\n"), size: 64 << 10}, 16<<20)
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(r.buf); got > 256<<10 {
		t.Errorf("an idle reader holds %d bytes", got)
	}
}

func TestReaderReturnsTheErrorOfTheStream(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\npart"), iotest.ErrReader(broken)), 100)
	for _, want := range []string{"a", "part"} {
		if got, err := r.Next(); string(got) != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	for range 2 {
		if _, err := r.Next(); err != broken {
			t.Errorf("got %v, want %v", err, broken)
		}
	}
}

// chunks returns at most size bytes a read.
type chunks struct {
	data []byte
	size int
	rng  *rand.Rand // random sizes up to size, if set
}

func (c *chunks) Read(b []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := c.size
	if c.rng != nil {
		n = 1 + c.rng.IntN(c.size)
	}
	n = copy(b[:min(n, len(b))], c.data)
	c.data = c.data[n:]
	return n, nil
}

// FuzzReader compares the frames of a stream read in random pieces with the
// lines that it plainly has.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n c"), uint16(3), uint64(1))
	f.Add([]byte(strings.Repeat("x", 300)+"\n{\"id\":1}\n"), uint16(40), uint64(2))
	f.Add([]byte("€\n€€"), uint16(2), uint64(3))
	f.Fuzz(func(t *testing.T, in []byte, size uint16, seed uint64) {
		const limit = 100
		var want []string
		for line := range bytes.SplitSeq(in, []byte("\n")) {
			if len(line) > limit {
				f := tooLarge(line, limit)
				want = append(want, fmt.Sprintf("!%d %s", f.Size, f.ID))
			} else if line = bytes.TrimSpace(line); len(line) > 0 {
				want = append(want, string(line))
			}
		}
		src := &chunks{data: bytes.Clone(in), size: 1 + int(size), rng: rand.New(rand.NewPCG(seed, 1))}
		if d := cmp.Diff(want, readAll(t, NewReader(src, limit))); d != "" {
			t.Fatalf("frames of %q (-want +got):\n%s", in, d)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 20} {
		line := append(frame(n), '\n')
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			r := NewReader(&repeat{line: line}, 64<<20)
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeat yields a line again and again.
type repeat struct {
	line []byte
	at   int
}

func (r *repeat) Read(b []byte) (int, error) {
	n := copy(b, r.line[r.at:])
	r.at = (r.at + n) % len(r.line)
	return n, nil
}

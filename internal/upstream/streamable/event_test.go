package streamable

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

type seen struct {
	Name, ID, Data string
	HasID          bool
	Retry          time.Duration
}

func readEvents(t *testing.T, src io.Reader, most int) ([]seen, error) {
	t.Helper()
	r := newEvents(src, most)
	defer r.free()
	var out []seen
	for {
		e, err := r.next()
		if errors.Is(err, errOversize) {
			large := r.drop(most)
			out = append(out, seen{Name: "too large", ID: string(large.ID), HasID: large.ID != nil})
			continue
		}
		if err != nil {
			return out, err
		}
		out = append(out, seen{e.name, e.id, string(e.data), e.hasID, e.retry})
	}
}

func TestEvents(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	tests := []struct {
		name, text string
		want       []seen
	}{
		{"plain", "data: a\n\n", []seen{{Data: "a"}}},
		{"all fields", "event: message\nid: 1\nretry: 20\ndata:a\ndata:  b\n\n", []seen{{"message", "1", "a\n b", true, 20 * time.Millisecond}}},
		{"comments", ": x\n\n:\n\n: y\ndata: a\n: z\n\n", []seen{{Data: "a"}}},
		{"every kind of break", "data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\ndata: e\rdata: f\n\n", []seen{{Data: "a"}, {Data: "b"}, {Data: "c"}, {Data: "d\ne\nf"}}},
		{"a mark", "\ufeffdata: a\n\n", []seen{{Data: "a"}}},
		{"names without colon", "data\ndata\nid\n\n", []seen{{Data: "\n", HasID: true}}},
		{"priming", "id: 7\ndata:\n\n", []seen{{ID: "7", HasID: true}}},
		{"id with NUL, bad retry, unknown field", "id: a\x00b\nretry: -1\nretry: 1x\nfoo: bar\n\ndata: a\n\n", []seen{{Data: "a"}}},
		{"end without a blank line", "data: {\"a\":1}", []seen{{Data: `{"a":1}`}}},
		{"end with one break", "data: {\"a\":1}\n", []seen{{Data: `{"a":1}`}}},
		{"broken off at a break", "id: 1\ndata: {\"a\":\n", nil},
		{"broken off after the id", "data: a\n\nid: 1\n", []seen{{Data: "a"}}},
		{"broken off", "data: {\"a\":", nil},
		{"long", "data: " + long + "\ndata: " + long + "\n\n", []seen{{Data: long + "\n" + long}}},
	}
	for _, tt := range tests {
		for how, src := range map[string]io.Reader{"whole": strings.NewReader(tt.text), "by bytes": iotest.OneByteReader(strings.NewReader(tt.text))} {
			got, err := readEvents(t, src, 1<<20)
			if diff := cmp.Diff(append([]seen{}, tt.want...), append([]seen{}, got...)); diff != "" || err != io.EOF {
				t.Errorf("%s, %s: %v (-want +got):\n%.500s", tt.name, how, err, diff)
			}
		}
	}
}

func TestEventsTooLarge(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	tests := []struct{ name, text, id string }{
		{"id first", `data: {"id":"a","result":"` + long + "\"}\n\n", `"a"`},
		{"id last", `data: {"result":"` + long + "\",\"id\":5}\n\n", "5"},
		{"id in a later line", `data: {"result":"` + long + "\"\nid: 9\ndata: ,\"id\":5\n: x\ndata: }\n\n", "5"},
		{"large in a later line", "data: {\"id\":\ndata: 5,\ndata: \"result\":\"" + long + "\"}\n\n", "5"},
		{"large by lines", strings.Repeat("data: 0000000000000000000000000000000000000000000000000000000000000000000000000000000000000\n", 50) + "\n", ""},
		{"no id", "data: {\"x\":\"" + long + "\"}\n\n", ""},
		{"a comment", ": " + long + "\n\n", ""},
	}
	for _, tt := range tests {
		for how, src := range map[string]io.Reader{
			"whole": strings.NewReader(tt.text + "data: next\n\n"), "by bytes": iotest.OneByteReader(strings.NewReader(tt.text + "data: next\n\n")),
		} {
			got, err := readEvents(t, src, 1000)
			want := []seen{{Name: "too large", ID: tt.id, HasID: tt.id != ""}, {Data: "next"}}
			if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
				t.Errorf("%s, %s: %v (-want +got):\n%.500s", tt.name, how, err, diff)
			}
		}
	}
}

// TestEventsBorder: exactly the limit is not too large.
func TestEventsBorder(t *testing.T) {
	for _, n := range []int{999, 1000} {
		got, _ := readEvents(t, strings.NewReader("data: "+strings.Repeat("x", n)+"\n\n"), 1000)
		if len(got) != 1 || len(got[0].Data) != n {
			t.Errorf("%d bytes: %+v", n, got)
		}
	}
	got, _ := readEvents(t, strings.NewReader("data: "+strings.Repeat("x", 1001)+"\n\n"), 1000)
	if len(got) != 1 || got[0].Name != "too large" {
		t.Errorf("1001 bytes: %+v", got)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("data: a\n\nid: 1\rdata: b\r\n\r\n", uint8(3))
	f.Add("data: "+strings.Repeat("x", 100)+"\ndata: y\n\n", uint8(1))
	f.Fuzz(func(t *testing.T, text string, most uint8) {
		whole, _ := readEvents(t, strings.NewReader(text), int(most))
		bytes, _ := readEvents(t, iotest.OneByteReader(strings.NewReader(text)), int(most))
		if diff := cmp.Diff(whole, bytes); diff != "" {
			t.Errorf("%q at %d (-whole +by bytes):\n%s", text, most, diff)
		}
	})
}

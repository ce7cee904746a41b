package tokens

import "testing"

func TestCount(t *testing.T) {
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"":              0,
		"hello world":   2,
		"hello, world!": 4,
		`{"a":1}`:       5,
		"你好，世界":         3,
	} {
		if got := c.Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
	}
}

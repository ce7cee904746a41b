package normal

import "strings"

// Skeleton returns what is left of a name when everything is taken away that the eye
// skips: two names with one skeleton may be taken for each other. It is no name.
func Skeleton(name string) string {
	b := make([]byte, 0, len(name))
	for _, r := range name {
		if latin, ok := confusable(r); ok {
			b = append(b, latin...)
			continue
		}
		if hidden(r) || accent(r) || r < ' ' {
			continue
		}
		b = appendFolded(b, r)
	}
	return twins.Replace(string(b))
}

// twins are characters that look alike within ASCII, and those that part a name.
var twins = strings.NewReplacer(
	"0", "o", "1", "l", "i", "l", "|", "l", "!", "l", "3", "e", "4", "a", "@", "a", "5", "s", "$", "s", "7", "t", "8", "b", "rn", "m", "vv", "w",
	"_", "", "-", "", ".", "", "/", "", " ", "", ":", "",
)

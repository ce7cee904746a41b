package inject

// window is how many bytes of a text are judged together: what is farther apart
// does not add up.
const window = 600

// verdict is the strongest family of a window that reached the threshold.
type verdict struct {
	family     family
	start, end int
	points     int
}

// judge returns what of the firings reaches the threshold.
func judge(f []firing, threshold int) []verdict {
	var out []verdict
	for i := 0; i < len(f); i++ {
		var best [families]firing
		strong, hints := 0, 0
		for j := i; j < len(f) && f[j].start-f[i].start <= window && j-i < maxFirings; j++ {
			if b := &best[f[j].family]; f[j].points > b.points {
				*b = f[j]
			}
		}
		for _, b := range best {
			if b.points > hint {
				strong += b.points
			} else {
				hints += b.points
			}
		}
		sum := strong + min(hints, maxHints)
		if sum < threshold {
			continue
		}
		top := best[0]
		for _, b := range best[1:] {
			if b.points > top.points {
				top = b
			}
		}
		out = append(out, verdict{top.family, top.start, top.end, sum})
		for i+1 < len(f) && f[i+1].start-f[i].start <= window && f[i+1].start < top.end+window {
			i++
		}
	}
	return out
}

const (
	hint       = 20 // points that say nothing by themselves
	maxHints   = 30 // what hints add up to at most
	maxFirings = 64
)

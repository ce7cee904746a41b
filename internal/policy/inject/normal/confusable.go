package normal

import "sync"

// confusable returns the Latin letters that r looks like, in lower case.
func confusable(r rune) (string, bool) {
	if r < firstLookalike {
		return "", false
	}
	t := lookalikes()
	if r < lastCommon {
		c := t.common[r-firstLookalike]
		return latinLetter[c : c+min(c, 1)], c != 0
	}
	c := t.rare[r]
	return latinLetter[c : c+min(c, 1)], c != 0
}

// latinLetter has the letters at their places in the alphabet, from 1 on.
const latinLetter = " abcdefghijklmnopqrstuvwxyz"

const (
	firstLookalike = 0x250
	lastCommon     = 0x590 // Greek, Cyrillic and Armenian end here
)

// lookalikeTable has letters of other alphabets by the Latin ones that they look like.
type lookalikeTable struct {
	common [lastCommon - firstLookalike]uint8
	rare   map[rune]uint8
}

var lookalikes = sync.OnceValue(func() *lookalikeTable {
	t := &lookalikeTable{rare: map[rune]uint8{}}
	for _, row := range [...]struct{ latin, like string }{
		{"a", "аАαΑɑᎪꓮᴀⲀⲁ"}, {"b", "ВвƄЬΒᏴꓐʙᖯ"}, {"c", "сСϲϹᏟᴄꓚⲥⲤ"}, {"d", "ԁԀᎠᴅꓓ"}, {"e", "еЕεΕеҽᎬᴇꓰ"}, {"f", "ϝꓝꜰẝ"},
		{"g", "ɡԌԍᏀɢꓖ"}, {"h", "һНΗᎻʜհꓧҺ"}, {"i", "іІιΙɪɩᎥӀ"}, {"j", "јЈϳᎫᴊꓙ"}, {"k", "кКκΚᏦᴋꓗ"}, {"l", "ⅼӏᏞʟꓡⳐ"}, {"m", "мМΜᎷᴍꓟϺ"},
		{"n", "ոΝɴꓠηпՈ"}, {"o", "оОοΟօՕᴏꓳσⲟ"}, {"p", "рРρΡᏢᴘꓑⲣ"}, {"q", "ԛԚգզ"}, {"r", "гᎡʀꓣᴦ"}, {"s", "ѕЅᏚꜱꓢՏ"}, {"t", "тТτΤᎢᴛꓔ"},
		{"u", "υսՍᴜꓴц"}, {"v", "νѵѴᏙᴠꓦ"}, {"w", "ԝԜωᏔᴡꓪѡ"}, {"x", "хХχΧꓫ"}, {"y", "уУγΥүҮʏꓬỿ"}, {"z", "ΖᏃᴢꓜ"},
	} {
		c := row.latin[0] - 'a' + 1
		for _, r := range row.like {
			if r >= firstLookalike && r < lastCommon {
				t.common[r-firstLookalike] = c
			} else {
				t.rare[r] = c
			}
		}
	}
	return t
})

package normal

import "sync"

// confusable returns the Latin letters that r looks like, in lower case.
func confusable(r rune) (string, bool) {
	if r < 0x250 {
		return "", false
	}
	s, ok := lookalikes()[r]
	return s, ok
}

// lookalikes are letters of other alphabets by the Latin ones that they look like.
var lookalikes = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{}
	for _, row := range [...]struct{ latin, like string }{
		{"a", "аАαΑɑᎪꓮᴀⲀⲁ"}, {"b", "ВвƄЬΒᏴꓐʙᖯ"}, {"c", "сСϲϹᏟᴄꓚⲥⲤ"}, {"d", "ԁԀᎠᴅꓓ"}, {"e", "еЕεΕеҽᎬᴇꓰ"}, {"f", "ϝꓝꜰẝ"},
		{"g", "ɡԌԍᏀɢꓖ"}, {"h", "һНΗᎻʜհꓧҺ"}, {"i", "іІιΙɪɩᎥӀ"}, {"j", "јЈϳᎫᴊꓙ"}, {"k", "кКκΚᏦᴋꓗ"}, {"l", "ⅼӏᏞʟꓡⳐ"}, {"m", "мМΜᎷᴍꓟϺ"},
		{"n", "ոΝɴꓠηпՈ"}, {"o", "оОοΟօՕᴏꓳσⲟ"}, {"p", "рРρΡᏢᴘꓑⲣ"}, {"q", "ԛԚգզ"}, {"r", "гᎡʀꓣᴦ"}, {"s", "ѕЅᏚꜱꓢՏ"}, {"t", "тТτΤᎢᴛꓔ"},
		{"u", "υսՍᴜꓴц"}, {"v", "νѵѴᏙᴠꓦ"}, {"w", "ԝԜωᏔᴡꓪѡ"}, {"x", "хХχΧꓫ"}, {"y", "уУγΥүҮʏꓬỿ"}, {"z", "ΖᏃᴢꓜ"},
	} {
		for _, r := range row.like {
			m[r] = row.latin
		}
	}
	return m
})

package inject

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// bounded reports whether words of r's script are written apart, so that one within
// another is another word.
func bounded(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	}
	return unicode.Is(unicode.Cyrillic, r)
}

// beginsWord reports whether a word can begin at byte i of s: after no letter, or after
// an escape for a line end.
func beginsWord(s string, i int) bool {
	if i == 0 {
		return true
	}
	c := s[i-1]
	if c >= utf8.RuneSelf {
		r, _ := utf8.DecodeLastRuneInString(s[:i])
		return !unicode.Is(unicode.Cyrillic, r)
	}
	if !bounded(rune(c)) {
		return true
	}
	return i > 1 && s[i-2] == '\\' && (c == 'n' || c == 't' || c == 'r')
}

func endsWord(s string, i int) bool {
	if i == len(s) {
		return true
	}
	if s[i] >= utf8.RuneSelf {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return !unicode.Is(unicode.Cyrillic, r)
	}
	return !bounded(rune(s[i]))
}

// beginsLine reports whether nothing but white space and marks of quotes and lists
// stands before byte i of s on its line.
func beginsLine(s string, i int) bool {
	for i > 0 {
		switch s[i-1] {
		case ' ', '\t', '*', '>', '#', '"', '\'', '-', '[', '(', '_', '`':
			i--
		case '\n', '\r', '.':
			return true
		case 'n', 'r':
			return i > 1 && s[i-2] == '\\'
		default:
			return strings.HasSuffix(s[:i], "。") || strings.HasSuffix(s[:i], "】")
		}
	}
	return true
}

// traditional returns w in traditional Chinese characters.
func traditional(w string) string { return toTraditional.Replace(w) }

var toTraditional = strings.NewReplacer(
	"视", "視", "无", "無", "记", "記", "会", "會", "开", "開", "弃", "棄", "丢", "丟", "绕", "繞", "过", "過", "盖", "蓋", "销", "銷", "废", "廢", "执", "執", "违", "違", "边", "邊",
	"请", "請", "击", "擊", "处", "處", "这", "這", "们", "們", "个", "個", "规", "規", "则", "則", "约", "約", "设", "設", "说", "說", "务", "務", "对", "對", "话", "話", "针", "針",
	"审", "審", "训", "訓", "练", "練", "导", "導", "诉", "訴", "页", "頁", "档", "檔", "简", "簡", "历", "歷", "邮", "郵", "码", "碼", "论", "論", "问", "問", "题", "題", "图", "圖",
	"输", "輸", "陈", "陳", "复", "復", "写", "寫", "结", "結", "给", "給", "转", "轉", "现", "現", "语", "語", "机", "機", "亲", "親", "爱", "愛", "阅", "閱", "读", "讀", "总", "總",
	"选", "選", "浏", "瀏", "览", "覽", "应", "應", "当", "當", "该", "該", "须", "須", "将", "將", "从", "從", "后", "後", "来", "來", "马", "馬", "数", "數", "调", "調", "运", "運",
	"访", "訪", "载", "載", "点", "點", "发", "發", "传", "傳", "递", "遞", "贴", "貼", "导", "導", "删", "刪", "关", "關", "闭", "閉", "销", "銷", "毁", "毀", "帐", "帳", "账", "賬",
	"购", "購", "买", "買", "汇", "匯", "款", "款", "预", "預", "单", "單", "钥", "鑰", "证", "證", "环", "環", "变", "變", "录", "錄", "讯", "訊", "联", "聯", "络", "絡", "银", "銀",
	"仓", "倉", "库", "庫", "隐", "隱", "据", "據", "号", "號", "别", "別", "许", "許", "让", "讓", "显", "顯", "询", "詢", "确", "確", "认", "認", "报", "報", "征", "徵", "户", "戶",
	"经", "經", "声", "聲", "张", "張", "统", "統", "词", "詞", "内", "內", "部", "部", "打印", "列印", "权", "權", "级", "級", "员", "員", "调试", "偵錯", "维护", "維護", "扮", "扮",
	"装", "裝", "拟", "擬", "为", "為", "进", "進", "没", "沒", "听", "聽", "获", "獲", "紧", "緊", "关键", "關鍵", "强", "強", "优", "優", "项", "項", "实", "實", "现", "現", "节", "節",
	"攻击", "攻擊", "恶", "惡", "检", "檢", "测", "測", "防", "防", "御", "禦", "胁", "脅", "样", "樣", "举", "舉", "压", "壓", "继", "繼", "续", "續", "动", "動", "场", "場", "态", "態",
	"谷", "谷", "总统", "總統", "资", "資", "网", "網", "过滤器", "過濾器", "脱", "脫", "监", "監", "换", "換", "与", "與", "时", "時", "间", "間", "达", "達", "议", "議", "创", "創",
)

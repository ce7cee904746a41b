package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"heddle/internal/wire"
)

// maker makes data that looks like what such tools return, the same in every run.
type maker struct{ *rand.Rand }

// newMaker returns a maker of its own for a seed, so that no data depends on what was
// made before.
func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 20260301))} }

// pick returns one of some words.
func (m maker) pick(words ...string) string { return words[m.IntN(len(words))] }

// hex returns so many hexadecimal digits.
func (m maker) hex(n int) string { return fmt.Sprintf("%016x%016x", m.Uint64(), m.Uint64())[:n] }

// date returns a day of the first quarter, by number.
func date(day int) string {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, day).Format(time.DateOnly)
}

// stamp returns a time of 1 March 2026, by milliseconds.
func stamp(ms int, layout string) string {
	return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond).Format(layout)
}

// object is a JSON object; its members are written in the order of their names.
type object map[string]any

// encode is JSON as servers write it: on one line and without HTML escapes.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil // no value here has what JSON has not
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// textResult and the others are result objects as servers write them.
func textResult(text string) json.RawMessage {
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, wire.Quote(text))
}

func errorResult(text string) json.RawMessage {
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}],"isError":true}`, wire.Quote(text))
}

// structuredResult has its data as a value, and a sentence about it as text.
func structuredResult(text string, v any) json.RawMessage {
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}],"structuredContent":%s}`, wire.Quote(text), encode(v))
}

// pixel is the smallest PNG that there is. Images are not counted in tokens, so
// that its size does not matter.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

// mixedResult has an image between two texts.
func mixedResult(before, after string) json.RawMessage {
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s},{"type":"image","data":%q,"mimeType":"image/png"},{"type":"text","text":%s}]}`,
		wire.Quote(before), pixel, wire.Quote(after))
}

func ticket(zh bool) json.RawMessage {
	if zh {
		return textResult(string(encode(object{
			"id": "OPS-3108", "title": "退款页面提示“系统繁忙”", "status": "处理中", "priority": "紧急", "assignee": "陈思远",
			"labels": []string{"支付", "退款"}, "created_at": "2026-02-27T03:14:00Z",
			"body": "客户在申请退款时页面一直提示“系统繁忙，请稍后再试”，重试三次仍然失败。涉及订单 48 笔，均为微信支付。",
			"comments": []object{
				{"author": "王磊", "text": "已确认是退款通道证书过期，正在更换。"},
				{"author": "陈思远", "text": "新证书已上传，等待支付平台审核，预计两小时。"},
			},
		})))
	}
	return textResult(string(encode(object{
		"id": "OPS-2417", "title": "Labels are printed twice at the Leipzig warehouse", "status": "waiting", "priority": "high",
		"assignee": "Ingrid Solberg", "labels": []string{"warehouse", "printing"}, "created_at": "2026-02-24T09:41:00Z",
		"body": "Since the update on Monday every shipping label comes out twice at stations 4 to 9. The second one has the same tracking number. Operators throw it away by hand.",
		"comments": []object{
			{"author": "Marek Novotny", "text": "Stations 4 to 9 have the new printer driver, the others do not."},
			{"author": "Ingrid Solberg", "text": "Asked the vendor for the previous driver. Rollback is planned for tonight."},
		},
	})))
}

func contact(zh bool) json.RawMessage {
	if zh {
		return textResult("工号：E20417\n姓名：欧阳雨桐\n部门：供应链风控部\n办公地点：上海 张江 B 座 7 层\n电话：+86 21 5550 7316\n上级：韩志强\n工作时间：周一至周五 9:30–18:30")
	}
	return textResult("Employee: E11862\nName: Priya Raghunathan\nDepartment: Payments platform\nOffice: Dublin, Grand Canal, floor 3\nPhone: +353 1 555 0148\nManager: Tomasz Wieczorek\nHours: Monday to Thursday, 8:00-16:30")
}

package bench

import (
	"encoding/json"
	"fmt"
	"strings"
)

// pods is a table as kubectl prints it. Some of n pods crash.
func pods(seed uint64, n int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	row := func(cells ...any) { fmt.Fprintf(&b, "%-12s  %-34s  %-5s  %-18s  %-8s  %-5s  %-12s  %s\n", cells...) }
	row("NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE")
	apps := []string{"checkout", "catalog", "search-index", "payments-gateway", "inventory-sync", "mailer", "image-resizer", "session-store"}
	for i := range n {
		ready, status, restarts := "1/1", "Running", fmt.Sprint(m.IntN(3))
		if i%9 == 4 {
			ready, status, restarts = "0/1", "CrashLoopBackOff", fmt.Sprint(10+m.IntN(90))
		} else if i%17 == 3 {
			ready, status = "0/1", "Pending"
		}
		name, node := fmt.Sprintf("%s-%s-%s", apps[i%len(apps)], m.hex(9), m.hex(5)), fmt.Sprintf("node-%c%d", 'a'+m.IntN(4), 1+m.IntN(9))
		if i == n*5/8 {
			name, node = "mailer-7c9f5b6d4-x7k2p", "node-e12"
		}
		row(m.pick("shop", "platform", "data", "edge"), name, ready, status, restarts,
			fmt.Sprintf("%dd", 1+m.IntN(40)), fmt.Sprintf("10.42.%d.%d", m.IntN(16), 2+m.IntN(250)), node)
	}
	return textResult(b.String())
}

// orders are records of n orders as one JSON array in the text.
func orders(seed uint64, n int, zh bool) json.RawMessage {
	m := newMaker(seed)
	list := make([]object, 0, n)
	for i := range n {
		o := object{
			"number": fmt.Sprintf("ORD-%d", 58000+i), "placed_at": stamp(i*417_000, "2006-01-02T15:04:05Z"), "items": 1 + m.IntN(6),
			"total_cents": 900 + m.IntN(90_000), "currency": "EUR", "payment": m.pick("card", "paypal", "invoice", "sepa"),
			"status": m.pick("open", "paid", "packed", "shipped", "delivered", "returned"), "tracking": "T" + m.hex(10),
			"customer": m.person(), "city": m.city(), "carrier": m.pick("DHL", "UPS", "GLS", "DPD", "Hermes"),
		}
		if zh {
			o["currency"], o["payment"] = "CNY", m.pick("微信支付", "支付宝", "银联", "货到付款")
			o["status"] = m.pick("待付款", "已付款", "已发货", "已签收", "退款中")
			o["customer"], o["city"], o["carrier"] = m.personZH(), m.cityZH(), m.pick("顺丰", "中通", "圆通", "京东物流", "邮政")
		}
		list = append(list, o)
	}
	if at := n * 5 / 8; zh {
		list[at]["customer"], list[at]["city"] = "欧阳雨桐", "兰州"
	} else {
		list[at]["number"], list[at]["carrier"] = "ORD-71408", "Nordpost"
	}
	return textResult(string(encode(list)))
}

// sales are CSV lines, one a day, store and product.
func sales(seed uint64, days int, zh bool) json.RawMessage {
	m := newMaker(seed)
	stores, products := []string{"Lisbon Chiado", "Gdansk Old Town", "Lyon Part-Dieu", "Graz Sporgasse"}, []string{"SKU-1187", "SKU-2040", "SKU-3315", "SKU-4471"}
	head := "date,store,product,units,revenue,discount\n"
	if zh {
		stores = []string{"成都春熙路店", "上海南京东路店", "北京王府井店", "广州天河城店", "武汉光谷店", "西安钟楼店"}
		products = []string{"扫地机器人", "机械键盘", "有机绿茶", "智能手表"}
		head = "日期,门店,商品,件数,销售额,折扣\n"
	}
	var b strings.Builder
	b.WriteString(head)
	for d := range days {
		for _, s := range stores {
			for _, p := range products {
				units := 1 + m.IntN(40)
				if d == 47 && s == stores[0] && p == "智能手表" {
					units = 173
				}
				fmt.Fprintf(&b, "%s,%s,%s,%d,%d.%02d,%d%%\n", date(d), s, p, units, units*(20+m.IntN(70)), m.IntN(100), 5*m.IntN(5))
			}
		}
	}
	return textResult(b.String())
}

func (m maker) person() string {
	return m.pick("Anna", "Luca", "Marta", "Jens", "Sofia", "Pavel", "Elif", "Noah", "Ines", "Oskar", "Clara", "Tomas") + " " +
		m.pick("Keller", "Rossi", "Nowak", "Larsen", "Moreau", "Silva", "Horvat", "Berg", "Fischer", "Dumont", "Kaya", "Svensson")
}

func (m maker) city() string {
	return m.pick("Berlin", "Porto", "Kraków", "Lyon", "Aarhus", "Graz", "Ghent", "Turin", "Malmö", "Zagreb", "Basel", "Utrecht")
}

func (m maker) personZH() string {
	return m.pick("王", "李", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴") + m.pick("伟", "芳", "娜", "敏", "静", "磊", "洋", "艳", "勇", "军", "思远", "子涵", "雨欣", "志强")
}

func (m maker) cityZH() string {
	return m.pick("北京", "上海", "广州", "深圳", "杭州", "成都", "南京", "武汉", "西安", "重庆", "苏州", "青岛")
}

package bench

import (
	"encoding/json"
	"fmt"
	"strings"
)

// serviceLog are n lines of a service's log. One payment fails for a reason of its
// own.
func serviceLog(seed uint64, n int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	for i := range n {
		level, text := "INFO ", m.logLine()
		switch {
		case i == n*7/10:
			level, text = "ERROR", "payment of order=ORD-61377 failed: card issuer timed out after 30000 ms, not retried"
		case i%41 == 20:
			level, text = "WARN ", fmt.Sprintf("slow query took %d ms on replica-%d: orders_by_customer", 800+m.IntN(4000), 1+m.IntN(4))
		case i%97 == 50:
			level, text = "ERROR", fmt.Sprintf("stock of SKU-%d could not be reserved: lock held by job %s", 1000+m.IntN(9000), m.hex(8))
		case i%211 == 100:
			level, text = "ERROR", "label printer did not answer\n\tat com.acme.labels.Printer.send(Printer.java:118)\n\tat com.acme.labels.Queue.drain(Queue.java:64)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)"
		}
		fmt.Fprintf(&b, "%s %s [worker-%d] %s\n", stamp(i*311+m.IntN(200), "2006-01-02T15:04:05.000Z"), level, m.IntN(8), text)
	}
	return textResult(b.String())
}

func (m maker) logLine() string {
	order := fmt.Sprintf("ORD-%d", 60000+m.IntN(9000))
	switch m.IntN(5) {
	case 0:
		return fmt.Sprintf("GET /api/v2/orders/%s 200 %dms bytes=%d", order, 2+m.IntN(300), 300+m.IntN(9000))
	case 1:
		return fmt.Sprintf("payment of order=%s captured: %d.%02d EUR by card", order, m.IntN(900), m.IntN(100))
	case 2:
		return fmt.Sprintf("reserved %d of SKU-%d for order=%s", 1+m.IntN(5), 1000+m.IntN(9000), order)
	case 3:
		return fmt.Sprintf("label for order=%s printed at station %d in %d ms", order, 1+m.IntN(12), 80+m.IntN(900))
	default:
		return fmt.Sprintf("session %s of user u_%d renewed for 30 min", m.hex(12), 10000+m.IntN(80000))
	}
}

// serviceLogZH is the same in Chinese; the question is about what follows the login
// of one user, some pages of a screen later.
func serviceLogZH(seed uint64, n int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	for i := range n {
		level, text := "INFO ", fmt.Sprintf("用户 u_%d 登录成功，来源 IP 10.%d.%d.%d，设备 %s", 10000+m.IntN(70000), m.IntN(250), m.IntN(250), m.IntN(250), m.pick("安卓", "苹果", "网页"))
		login := n * 7 / 10
		switch {
		case i == login:
			text = "用户 u_88213 登录成功，来源 IP 203.0.113.77，设备 网页"
		case i%61 == 30 && i > login && i < login+61:
			level, text = "ERROR", "扣减库存失败：商品 SP4471 库存不足，订单 DD20260388613 已回滚"
		case i%23 == 11:
			level, text = "WARN ", fmt.Sprintf("接口响应缓慢：/api/order/list 耗时 %d 毫秒", 1000+m.IntN(5000))
		case i%61 == 30:
			level, text = "ERROR", fmt.Sprintf("扣减库存失败：商品 SP%d 库存不足，订单 DD%d 已回滚", 1000+m.IntN(9000), 20260301000+m.IntN(999))
		case i%2 == 0:
			text = fmt.Sprintf("订单 DD%d 创建成功，金额 %d.%02d 元，支付方式 %s", 20260301000+m.IntN(999), 10+m.IntN(900), m.IntN(100), m.pick("微信支付", "支付宝", "银联"))
		}
		fmt.Fprintf(&b, "%s %s [订单服务-%d] %s\n", stamp(i*500+m.IntN(300), "2006-01-02 15:04:05.000"), level, 1+m.IntN(6), text)
	}
	return textResult(b.String())
}

const (
	failed = `=== RUN   %s
    totals_test.go:%d: basket %s: got %s, want %s
        basket: [{sku SKU-%d qty %d price %d.90} {sku SKU-%d qty %d price %d.50}]
`
	panicked = `    panic: runtime error: index out of range [%d] with length %d [recovered]
    goroutine %d [running]:
    testing.tRunner.func1.2({0x%[4]s, 0x%[4]s})
    	/usr/local/go/src/testing/testing.go:1734 +0x21c
    acme/shop/internal/checkout.(*Basket).split(0x%[5]s)
    	/src/internal/checkout/split.go:%[6]d +0x%[7]s
`
)

// testRun is what a test runner writes when n tests fail.
func testRun(seed uint64, n int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	b.WriteString("go test ./internal/checkout/... -count=1\n")
	for i := range n {
		name := fmt.Sprintf("Test%s%s", m.pick("Cart", "Checkout", "Refund", "Voucher", "Shipping", "Tax"), m.pick("Rounds", "Totals", "Splits", "Expires", "Limits", "Currency")) + fmt.Sprint(i)
		got, want := fmt.Sprintf("%d.%02d", m.IntN(200), m.IntN(100)), fmt.Sprintf("%d.%02d", m.IntN(200), m.IntN(100))
		if i == n*3/5 {
			name, got, want = "TestCheckoutRoundingVAT", "118.99", "119.01"
		}
		fmt.Fprintf(&b, failed, name, 40+m.IntN(400), m.hex(8), got, want,
			1000+m.IntN(9000), 1+m.IntN(5), m.IntN(90), 1000+m.IntN(9000), 1+m.IntN(5), m.IntN(90))
		if i%7 == 3 {
			fmt.Fprintf(&b, panicked, 3+m.IntN(4), m.IntN(3), 20+m.IntN(300), m.hex(6), m.hex(10), 30+m.IntN(200), m.hex(2))
		}
		fmt.Fprintf(&b, "--- FAIL: %s (%d.%02ds)\n", name, m.IntN(3), m.IntN(100))
	}
	fmt.Fprintf(&b, "FAIL\nFAIL\tacme/shop/internal/checkout\t%d.%02ds\n", 8+m.IntN(9), m.IntN(100))
	return errorResult(b.String())
}

// buildZH is a build that fails in Chinese, with a cause below many frames.
func buildZH(seed uint64, frames int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	b.WriteString("[INFO] 正在扫描项目…\n[INFO] 正在构建 商城后台 3.8.2\n")
	for i := range frames / 12 {
		fmt.Fprintf(&b, "[INFO] 正在编译模块 com.acme.shop.module%d（%d 个源文件）\n", i, 10+m.IntN(200))
	}
	b.WriteString("[ERROR] 测试失败：应用上下文无法启动\norg.springframework.beans.factory.BeanCreationException: 创建名为“paymentGateway”的 Bean 时出错\n")
	trace := func(n int) {
		for range n {
			fmt.Fprintf(&b, "\tat com.acme.%s.%s.%s(%s.java:%d)\n", m.pick("shop", "pay", "core", "web"), m.pick("service", "config", "gateway", "boot"), m.pick("load", "init", "create", "resolve", "wire"), m.pick("Loader", "Factory", "Context", "Gateway"), 10+m.IntN(900))
		}
	}
	trace(frames / 2)
	b.WriteString("Caused by: com.acme.pay.ConfigException: 支付网关配置不完整\n")
	trace(frames / 4)
	b.WriteString("Caused by: com.acme.core.MissingVariableException: 缺少环境变量 WECHAT_MCH_SERIAL，请在部署配置中设置\n")
	trace(frames / 4)
	b.WriteString("[INFO] ------------------------------------------------------------\n[ERROR] 构建失败，共 1 个错误\n")
	return errorResult(b.String())
}

// snapshot is a web page as a test browser sees it.
func snapshot(seed uint64, n int, zh bool) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	title, item, add := "Checkout", "Product", "Add to basket"
	if zh {
		title, item, add = "订单确认", "商品", "加入购物车"
	}
	fmt.Fprintf(&b, "- Page URL: https://shop.example.com/%s\n- Page Title: %s\n- Page Snapshot:\n- generic [ref=e1]:\n  - banner [ref=e2]:\n    - link %q [ref=e3] [cursor=pointer]\n", m.hex(6), title, title)
	for i := range n {
		name, price := fmt.Sprintf("%s %s %d", item, m.pick("Aurora", "Birch", "Cobalt", "Dune", "Ember"), i), fmt.Sprintf("%d.%02d", 5+m.IntN(300), m.IntN(100))
		ref := 10 + i*6
		fmt.Fprintf(&b, "    - listitem [ref=e%d]:\n      - heading %q [level=3] [ref=e%d]\n      - text: %s\n      - button %q [ref=e%d] [cursor=pointer]\n", ref, name, ref+1, price, add, ref+2)
		if i == n*3/5 && zh {
			fmt.Fprintf(&b, "    - status [ref=e%d]: 应付总额 ¥3,486.50，含运费 ¥12.00\n", ref+3)
		} else if i == n*3/5 {
			fmt.Fprintf(&b, "    - alert [ref=e%d]: \"Delivery to this address is only possible from 14 April\"\n", ref+3)
		}
	}
	return mixedResult(b.String(), fmt.Sprintf("### Console\n[WARNING] Failed to load font Inter-%s.woff2\n[LOG] checkout loaded in %d ms", m.hex(4), 200+m.IntN(900)))
}

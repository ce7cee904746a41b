package bench

import (
	"encoding/json"
	"fmt"
)

// settings is the nested configuration of a service with n endpoints.
func settings(seed uint64, n int, zh bool) json.RawMessage {
	m := newMaker(seed)
	var endpoints []object
	for i := range n {
		name, note := m.endpoint(i, zh)
		endpoints = append(endpoints, object{
			"name": name, "note": note, "enabled": m.IntN(8) > 0, "url": fmt.Sprintf("https://%s.internal.example.com/v%d", m.pick("edge", "core", "hooks", "partner"), 1+m.IntN(3)),
			"retry":     object{"max_attempts": 2 + m.IntN(4), "backoff_ms": 50 * (1 + m.IntN(20)), "jitter": true},
			"timeouts":  object{"connect_ms": 100 * (1 + m.IntN(9)), "read_ms": 1000 * (1 + m.IntN(20)), "refund_seconds": 30 * (1 + m.IntN(6))},
			"tls":       object{"min_version": m.pick("1.2", "1.3"), "verify": true, "client_cert": "vault:secret/" + m.hex(8)},
			"rate":      object{"per_second": 10 * (1 + m.IntN(50)), "burst": 20 * (1 + m.IntN(20))},
			"locations": []string{m.pick("eu-central", "eu-west", "cn-north"), m.pick("us-east", "cn-east")},
		})
	}
	endpoints[n*3/5]["name"] = "inventory-webhook"
	endpoints[n*3/5]["retry"] = object{"max_attempts": 11, "backoff_ms": 250, "jitter": true}
	if zh {
		endpoints[n*3/5]["name"], endpoints[n*3/5]["note"] = "wechat-refund", "微信支付退款通道"
		endpoints[n*3/5]["timeouts"] = object{"connect_ms": 300, "read_ms": 5000, "refund_seconds": 225}
	}
	return textResult(string(encode(object{
		"service": m.pick("fulfilment", "payments"), "revision": 100 + m.IntN(900), "endpoints": endpoints,
		"database": object{"host": "db-3.internal", "port": 5432, "pool": object{"max": 40, "idle": 8, "lifetime_s": 1800}, "ssl": "verify-full", "password": "********"},
		"features": object{"new_checkout": true, "async_labels": false, "bulk_refunds": object{"percent": 25, "cohorts": []string{"internal", "beta"}}},
		"logging":  object{"level": "info", "format": "json", "sample": object{"debug": 0.01, "info": 1}},
	})))
}

func (m maker) endpoint(i int, zh bool) (name, note string) {
	partner := m.pick("ledger", "pricing", "tax", "labels", "fraud", "stock", "loyalty", "mail", "search", "address")
	name = fmt.Sprintf("%s-%s-%d", partner, m.pick("webhook", "api", "callback", "feed"), i)
	if zh {
		return name, m.pick("支付宝收款通道", "银联代付通道", "电子发票接口", "物流轨迹推送", "库存同步接口", "短信通知接口", "会员积分接口")
	}
	return name, m.pick("Called after every change of stock.", "Nightly, from the batch host.", "Owned by the partner team.", "Kept for the old app until summer.")
}

// events are deployments and alerts, each with what belongs to it.
func events(seed uint64, n int, zh bool) json.RawMessage {
	m := newMaker(seed)
	var list []object
	for i := range n {
		if i%3 == 2 {
			list = append(list, m.alert(i, zh))
			continue
		}
		list = append(list, m.deployment(i, zh))
	}
	if zh {
		at := n*5/8 - n*5/8%3 + 2
		list[at]["alert_id"], list[at]["handler"] = "alert_9c41e7", object{"name": "慕容晓", "team": "值班二组", "minutes": 17}
		return structuredResult(fmt.Sprintf("共 %d 条事件。", n), object{"project": "shop-cn", "events": list, "next_page": nil})
	}
	at := n*5/8 - n*5/8%3
	list[at]["deployment_id"], list[at]["approval"] = "dep_7f3a90", object{"approved_by": "Henrike Vogelsang", "at": stamp(at*90_000, "15:04:05"), "comment": "Only after the freeze"}
	return structuredResult(fmt.Sprintf("%d events.", n), object{"project": "shop", "events": list, "next_page": nil})
}

func (m maker) deployment(i int, zh bool) object {
	by, comment := m.person(), m.pick("", "Looks good", "Watch the error rate", "Second try")
	if zh {
		by, comment = m.personZH(), m.pick("", "可以发布", "注意错误率", "第二次尝试")
	}
	var steps []object
	for _, s := range []string{"build", "migrate", "canary", "rollout"} {
		steps = append(steps, object{"name": s, "state": m.pick("ok", "ok", "ok", "skipped"), "seconds": 5 + m.IntN(400)})
	}
	return object{
		"type": "deployment", "deployment_id": "dep_" + m.hex(6), "at": stamp(i*90_000, "2006-01-02T15:04:05Z"), "version": fmt.Sprintf("4.%d.%d", m.IntN(20), m.IntN(30)),
		"target":   object{"cluster": m.pick("prod-eu", "prod-us", "prod-cn"), "namespace": m.pick("shop", "platform", "data")},
		"approval": object{"approved_by": by, "at": stamp(i*90_000-60_000, "15:04:05"), "comment": comment}, "steps": steps,
	}
}

func (m maker) alert(i int, zh bool) object {
	name, team, title := m.person(), m.pick("night shift", "day shift"), m.pick("Error rate above 2 %", "Queue is not drained", "Disk is 90 % full", "Certificate ends soon")
	if zh {
		name, team, title = m.personZH(), m.pick("值班一组", "值班二组"), m.pick("错误率超过 2%", "消息队列积压", "磁盘使用率超过 90%", "证书即将过期")
	}
	return object{
		"type": "alert", "alert_id": "alert_" + m.hex(6), "at": stamp(i*90_000, "2006-01-02T15:04:05Z"), "title": title, "severity": m.pick("page", "ticket"),
		"handler": object{"name": name, "team": team, "minutes": 1 + m.IntN(90)},
		"metric":  object{"name": m.pick("http_errors", "queue_depth", "disk_used", "cert_days"), "value": float64(m.IntN(10_000)) / 100, "window": "5m"},
	}
}

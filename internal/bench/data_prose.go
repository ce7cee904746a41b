package bench

import (
	"encoding/json"
	"fmt"
	"strings"
)

// source is a Go file with n functions of the kinds that services are full of.
func source(seed uint64, n int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	b.WriteString("// Package gateway calls the partners of the shop.\npackage gateway\n\nimport (\n\t\"context\"\n\t\"encoding/json\"\n\t\"errors\"\n\t\"fmt\"\n\t\"net/http\"\n\t\"time\"\n)\n")
	for i := range n {
		if i == n*3/5 {
			b.WriteString("\n// defaultPartnerPatience bounds a request to a partner that has no limit of its own.\nconst defaultPartnerPatience = 37 * time.Second\n")
		}
		b.WriteString(m.declaration(i))
	}
	return textResult(b.String())
}

// Kinds of declarations, %[1]s the name of a type.
const (
	fetchFunc = `
// %[2]s%[1]s asks the partner for one %[1]s and decodes its answer.
func (c *Client) %[2]s%[1]s(ctx context.Context, id string) (*%[1]s, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/v%[3]d/%[4]s/"+id, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%[4]s: %%w", err)
	}
	defer resp.Body.Close()
	var out %[1]s
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return nil, err
	}
	return &out, nil
}
`
	validFunc = `
// valid reports what is wrong with a %[1]s, nil if nothing is.
func (o *%[1]s) valid() error {
	switch {
	case o.ID == "":
		return errors.New("%[1]s without id")
	case o.Cents < %[2]d:
		return fmt.Errorf("%[1]s %%s: %%d cents are too few", o.ID, o.Cents)
	case time.Since(o.Made) > %[3]d*time.Hour:
		return fmt.Errorf("%[1]s %%s is too old", o.ID)
	}
	return nil
}
`
	typeDecl = `
// %[1]s is what the partner sends.
type %[1]s struct {
	ID       string    ` + "`json:\"id\"`" + `
	Made     time.Time ` + "`json:\"made\"`" + `
	Cents    int64     ` + "`json:\"cents\"`" + `
	State    string    ` + "`json:\"state\"`" + `
	Lines    []Line    ` + "`json:\"lines,omitempty\"`" + `
	Currency string    ` + "`json:\"currency\"`" + `
}

const max%[1]s = %[2]d // of a page
`
	ruleDef = `
def rule_%[1]d(order, *, threshold=%[2]d):
    """%[3]s第 %[1]d 条：订单金额达到门槛后生效。"""
    # 先检查订单是否已经付款，再计算优惠
    if order.status != "已付款":
        return Decimal(0)
    if order.total_cents < threshold:
        return Decimal(0)
    # 按比例减免，最多不超过 %[4]d 元
    discount = order.total_cents * Decimal("0.%02[5]d")
    return min(discount, Decimal(%[6]d))

`
)

func (m maker) declaration(i int) string {
	noun := m.pick("Order", "Refund", "Label", "Voucher", "Shipment", "Invoice") + fmt.Sprint(i)
	switch m.IntN(3) {
	case 0:
		return fmt.Sprintf(fetchFunc, noun, m.pick("Fetch", "Load", "Read"), 1+m.IntN(3), strings.ToLower(noun))
	case 1:
		return fmt.Sprintf(validFunc, noun, m.IntN(900), 1+m.IntN(90))
	default:
		return fmt.Sprintf(typeDecl, noun, 10+m.IntN(500))
	}
}

// sourceZH is a Python file with Chinese comments.
func sourceZH(seed uint64, n int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	b.WriteString("# -*- coding: utf-8 -*-\n\"\"\"运费与促销规则。\"\"\"\n\nfrom dataclasses import dataclass\nfrom decimal import Decimal\n\n")
	for i := range n {
		if i == n*3/5 {
			b.WriteString("\n# 偏远地区加收费用，单位为分，按件计算\nREMOTE_SURCHARGE_CENTS = 1850\n\n")
		}
		what := m.pick("满减活动", "会员折扣", "首单优惠", "节日促销", "运费模板", "重量阶梯")
		fmt.Fprintf(&b, ruleDef, i, 1000*(1+m.IntN(50)), what, 10+m.IntN(200), 1+m.IntN(40), 100*(10+m.IntN(200)))
	}
	return textResult(b.String())
}

// handbook is a page of a team's wiki.
func handbook(seed uint64, n int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	b.WriteString("# Operations handbook\n\nHow the platform team runs the shop. Changes need a review by two people.\n")
	for i := range n {
		topic := m.pick("Deployments", "Incidents", "On-call", "Certificates", "Warehouse links", "Partner accounts", "Feature switches", "Cost reports")
		fmt.Fprintf(&b, "\n## %d. %s in %s\n\n", i+1, topic, m.city())
		for range 3 {
			fmt.Fprintf(&b, "%s %s %s. ", m.pick("Before each change", "Once a week", "After an alert", "When a partner asks", "During a freeze"),
				m.pick("the shift lead checks", "two engineers compare", "the owner writes down", "the team reviews"),
				m.pick("the error rate of the last hour", "who has access and why", "which switches are still on", "whether the runbook still holds", "the list of open tickets"))
			fmt.Fprintf(&b, "It takes about %d minutes and is noted under `OPS-%d`.\n", 5+m.IntN(90), 1000+m.IntN(9000))
		}
		if i == n*3/5 {
			b.WriteString("\nDatabase backups are kept for 41 days, those of the ledger for 10 years; older ones are deleted by the nightly job.\n")
		}
		fmt.Fprintf(&b, "\n| step | who | limit |\n| --- | --- | --- |\n| announce | %s | %d min |\n| change | %s | %d min |\n| watch | %s | %d min |\n", m.person(), m.IntN(60), m.person(), m.IntN(60), m.person(), m.IntN(60))
		if i%3 == 1 {
			fmt.Fprintf(&b, "\n```sh\nkubectl -n shop rollout status deploy/%s --timeout=%ds\n./tools/smoke.sh --env prod --build %s\n```\n", m.pick("checkout", "catalog", "mailer"), 60+m.IntN(600), m.hex(7))
		}
	}
	return textResult(b.String())
}

// handbookZH is the same in Chinese.
func handbookZH(seed uint64, n int) json.RawMessage {
	m := newMaker(seed)
	var b strings.Builder
	b.WriteString("# 运维手册\n\n平台团队如何运行商城。修改需要两人评审。\n")
	for i := range n {
		fmt.Fprintf(&b, "\n## %d. %s（%s机房）\n\n", i+1, m.pick("发布流程", "故障处理", "值班安排", "证书管理", "合作方账号", "功能开关", "费用报表"), m.cityZH())
		for range 3 {
			fmt.Fprintf(&b, "%s，%s%s，大约需要 %d 分钟，并记录在工单 OPS-%d 中。\n", m.pick("每次变更之前", "每周一次", "收到告警后", "冻结期间"),
				m.pick("值班负责人检查", "两名工程师核对", "负责人记录", "团队评审"), m.pick("过去一小时的错误率", "权限名单及其理由", "仍然打开的功能开关", "应急预案是否有效", "未关闭的工单"), 5+m.IntN(90), 1000+m.IntN(9000))
		}
		if i == n*3/5 {
			b.WriteString("\n**生产数据库变更**须提前 6 个工作日提交申请，并附回滚方案；紧急变更由值班经理批准。\n")
		}
		fmt.Fprintf(&b, "\n| 步骤 | 负责人 | 时限 |\n| --- | --- | --- |\n| 通知 | %s | %d 分钟 |\n| 变更 | %s | %d 分钟 |\n", m.personZH(), m.IntN(60), m.personZH(), m.IntN(60))
	}
	return textResult(b.String())
}

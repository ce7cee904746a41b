package bench

import (
	"encoding/json"
	"regexp"
	"slices"
)

// task is a question that one call of a tool answers.
type task struct {
	// id is stable; its end says the language of question and data.
	id       string
	tool     string
	args     string
	search   string // what find_tool is asked, in English as it says
	question string
	goal     goal
	truth    string
	size     string // small, middle or large
	kind     string // of the result
	make     func() json.RawMessage
}

// goal is what a reader takes from a question.
type goal struct {
	// words are those of the question by which the place is known, and the query of
	// a search.
	words string
	// The answer is the value of field in a record that has the words, or what form
	// matches near them.
	field string
	form  *regexp.Regexp
	// lines is how many lines after the words may have the answer; 0 is a few.
	lines int
	// all says that every row matters: the answer is how often form matches, or the
	// sum of what its group matches.
	all bool
}

const (
	small  = "small"
	middle = "middle"
	large  = "large"
)

// tasks are the 24 tasks: each tool is asked once about English data and once
// about Chinese. The results of the middle are of 2,000 to 10,000 tokens, the
// large ones of 10,000 to 100,000, spread evenly by their logarithm.
func tasks() []*task {
	return slices.Concat(smallTasks(), middleTasks(), largeTasks())
}

func smallTasks() []*task {
	re := regexp.MustCompile
	return []*task{
		{
			id: "ticket-en", tool: "get_ticket", args: `{"ticket_id":"OPS-2417"}`, search: "read a support ticket", size: small, kind: "json",
			question: "Who is ticket OPS-2417 assigned to?", goal: goal{words: "OPS-2417", field: "assignee"}, truth: "Ingrid Solberg",
			make: func() json.RawMessage { return ticket(false) },
		},
		{
			id: "ticket-zh", tool: "get_ticket", args: `{"ticket_id":"OPS-3108"}`, search: "get the priority of a ticket", size: small, kind: "json",
			question: "工单 OPS-3108 的优先级是什么？", goal: goal{words: "OPS-3108", field: "priority"}, truth: "紧急",
			make: func() json.RawMessage { return ticket(true) },
		},
		{
			id: "contact-en", tool: "get_contact", args: `{"employee":"E11862"}`, search: "look up a person in the company directory", size: small, kind: "text",
			question: "What is the phone number of employee E11862?", goal: goal{words: "E11862", form: re(`Phone: (.+)`)}, truth: "+353 1 555 0148",
			make: func() json.RawMessage { return contact(false) },
		},
		{
			id: "contact-zh", tool: "get_contact", args: `{"employee":"E20417"}`, search: "find an employee's department", size: small, kind: "text",
			question: "工号 E20417 属于哪个部门？", goal: goal{words: "E20417", form: re(`部门：(.+)`)}, truth: "供应链风控部",
			make: func() json.RawMessage { return contact(true) },
		},
	}
}

func middleTasks() []*task {
	re := regexp.MustCompile
	return []*task{
		{
			id: "pods-en", tool: "list_pods", args: `{"cluster":"prod-eu"}`, search: "list pods of a kubernetes cluster", size: middle, kind: "table",
			question: "On which node does pod mailer-7c9f5b6d4-x7k2p run?", goal: goal{words: "mailer-7c9f5b6d4-x7k2p", field: "NODE"}, truth: "node-e12",
			make: func() json.RawMessage { return pods(11, 52) },
		},
		{
			id: "pods-zh", tool: "list_pods", args: `{"cluster":"prod-cn"}`, search: "kubernetes pods status table", size: middle, kind: "table",
			question: "集群 prod-cn 里有几个 Pod 处于 CrashLoopBackOff？", goal: goal{words: "CrashLoopBackOff", form: re(`(?m)^\S+ .*CrashLoopBackOff.*$`), all: true}, truth: "9",
			make: func() json.RawMessage { return pods(12, 84) },
		},
		{
			id: "config-en", tool: "get_config", args: `{"service":"fulfilment","environment":"prod"}`, search: "read the configuration of a service", size: middle, kind: "nested json",
			question: "How many attempts does the inventory-webhook of fulfilment make?", goal: goal{words: "inventory-webhook", field: "max_attempts"}, truth: "11",
			make: func() json.RawMessage { return settings(13, 50, false) },
		},
		{
			id: "config-zh", tool: "get_config", args: `{"service":"payments","environment":"prod-cn"}`, search: "effective configuration in an environment", size: middle, kind: "nested json",
			question: "微信支付退款通道的退款超时是多少秒？", goal: goal{words: "微信支付退款通道", field: "refund_seconds"}, truth: "225",
			make: func() json.RawMessage { return settings(14, 22, true) },
		},
		{
			id: "code-en", tool: "read_file", args: `{"repository":"acme/shop","path":"gateway/client.go"}`, search: "read a source file of a repository", size: middle, kind: "code",
			question: "How many seconds is defaultPartnerPatience?", goal: goal{words: "defaultPartnerPatience", form: re(`defaultPartnerPatience = (\d+)`)}, truth: "37",
			make: func() json.RawMessage { return source(15, 37) },
		},
		{
			id: "code-zh", tool: "read_file", args: `{"repository":"acme/mall","path":"rules/freight.py"}`, search: "file contents at a branch", size: middle, kind: "code",
			question: "偏远地区加收费用是多少分？", goal: goal{words: "偏远地区加收费用", form: re(`_CENTS = (\d+)`)}, truth: "1850",
			make: func() json.RawMessage { return sourceZH(16, 70) },
		},
		{
			id: "page-en", tool: "read_page", args: `{"space":"OPS","page":"Operations handbook"}`, search: "read a wiki page", size: middle, kind: "markdown",
			question: "For how many days are database backups kept?", goal: goal{words: "Database backups", form: re(`kept for (\d+) days`)}, truth: "41",
			make: func() json.RawMessage { return handbook(17, 61) },
		},
		{
			id: "page-zh", tool: "read_page", args: `{"space":"YW","page":"运维手册"}`, search: "handbook page as markdown", size: middle, kind: "markdown",
			question: "生产数据库变更须提前几个工作日申请？", goal: goal{words: "生产数据库变更", form: re(`提前 (\d+) 个工作日`)}, truth: "6",
			make: func() json.RawMessage { return handbookZH(18, 32) },
		},
		{
			id: "snapshot-en", tool: "take_snapshot", args: `{"url":"https://shop.example.com/checkout"}`, search: "snapshot of a web page in the browser", size: middle, kind: "mixed",
			question: "From when on can be delivered, as the alert on the page says?", goal: goal{words: "alert", form: re(`alert .*from ([^"]+)"`)}, truth: "14 April",
			make: func() json.RawMessage { return snapshot(19, 52, false) },
		},
		{
			id: "snapshot-zh", tool: "take_snapshot", args: `{"url":"https://shop.example.com/zh/order"}`, search: "accessibility tree of a page", size: middle, kind: "mixed",
			question: "订单确认页面上的应付总额是多少？", goal: goal{words: "应付总额", form: re(`应付总额 (¥[\d,.]*\d)`)}, truth: "¥3,486.50",
			make: func() json.RawMessage { return snapshot(20, 122, true) },
		},
	}
}

func largeTasks() []*task {
	re := regexp.MustCompile
	return []*task{
		{
			id: "orders-en", tool: "list_orders", args: `{"shop":"eu","from":"2026-01-01","to":"2026-03-01"}`, search: "list the orders of a shop", size: large, kind: "records",
			question: "Which carrier has order ORD-71408?", goal: goal{words: "ORD-71408", field: "carrier"}, truth: "Nordpost",
			make: func() json.RawMessage { return orders(21, 950, false) },
		},
		{
			id: "orders-zh", tool: "list_orders", args: `{"shop":"cn"}`, search: "shop orders with shipping address", size: large, kind: "records",
			question: "客户欧阳雨桐的订单发往哪个城市？", goal: goal{words: "欧阳雨桐", field: "city"}, truth: "兰州",
			make: func() json.RawMessage { return orders(22, 440, true) },
		},
		{
			id: "sales-en", tool: "export_sales", args: `{"region":"europe","from":"2026-01-01","to":"2026-01-31"}`, search: "export daily sales of stores", size: large, kind: "csv",
			question: "How many units of SKU-3315 did the store Graz Sporgasse sell?", goal: goal{words: "Graz Sporgasse,SKU-3315", form: re(`(?m)^[\d-]+,Graz Sporgasse,SKU-3315,(\d+),`), all: true}, truth: "676",
			make: func() json.RawMessage { return sales(23, 31, false) },
		},
		{
			id: "sales-zh", tool: "export_sales", args: `{"region":"china","from":"2026-01-01","to":"2026-03-10"}`, search: "sales by store and product as csv", size: large, kind: "csv",
			question: "2026-02-17 成都春熙路店的智能手表卖了多少件？", goal: goal{words: "2026-02-17,成都春熙路店,智能手表", field: "件数"}, truth: "173",
			make: func() json.RawMessage { return sales(24, 68, true) },
		},
		{
			id: "log-en", tool: "tail_log", args: `{"service":"payments","environment":"prod","lines":2000}`, search: "last lines of a service log", size: large, kind: "log",
			question: "Which order could not be paid because the card issuer timed out?", goal: goal{words: "card issuer timed out", form: re(`order=(\S+) failed: card issuer timed out`)}, truth: "ORD-61377",
			make: func() json.RawMessage { return serviceLog(25, 2260) },
		},
		{
			id: "log-zh", tool: "tail_log", args: `{"service":"orders","environment":"prod-cn","lines":600}`, search: "read the log of a service", size: large, kind: "log",
			question: "用户 u_88213 登录之后，第一个因库存不足被回滚的是哪个订单？", goal: goal{words: "u_88213", form: re(`订单 (\w+) 已回滚`), lines: 100}, truth: "DD20260388613",
			make: func() json.RawMessage { return serviceLogZH(26, 590) },
		},
		{
			id: "tests-en", tool: "run_tests", args: `{"repository":"acme/shop","suite":"./internal/checkout/..."}`, search: "run the tests of a repository", size: large, kind: "error",
			question: "Which total does TestCheckoutRoundingVAT want?", goal: goal{words: "TestCheckoutRoundingVAT", form: re(`want ([\d.]*\d)`)}, truth: "119.01",
			make: func() json.RawMessage { return testRun(27, 208) },
		},
		{
			id: "tests-zh", tool: "run_tests", args: `{"repository":"acme/mall","suite":"backend"}`, search: "run a test suite", size: large, kind: "error",
			question: "构建失败是因为缺少哪个环境变量？", goal: goal{words: "缺少环境变量", form: re(`缺少环境变量 (\w+)`)}, truth: "WECHAT_MCH_SERIAL",
			make: func() json.RawMessage { return buildZH(28, 740) },
		},
		{
			id: "events-en", tool: "list_events", args: `{"project":"shop","limit":300}`, search: "list deployments and alerts of a project", size: large, kind: "structured",
			question: "Who approved deployment dep_7f3a90?", goal: goal{words: "dep_7f3a90", field: "approved_by"}, truth: "Henrike Vogelsang",
			make: func() json.RawMessage { return events(29, 480, false) },
		},
		{
			id: "events-zh", tool: "list_events", args: `{"project":"shop-cn"}`, search: "timeline of deployments and alerts", size: large, kind: "structured",
			question: "告警 alert_9c41e7 由谁处理？", goal: goal{words: "alert_9c41e7", field: "name"}, truth: "慕容晓",
			make: func() json.RawMessage { return events(30, 142, true) },
		},
	}
}

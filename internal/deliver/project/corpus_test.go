package project

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// texts are the texts of real results, by name. The file and its licences are
// those of the estimate's tests.
func texts(t testing.TB) (names []string, byName map[string][]byte) {
	t.Helper()
	f, err := os.Open("../estimate/testdata/results.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 8<<20)
	byName = map[string][]byte{}
	for lines.Scan() {
		var s struct {
			Name string
			Raw  struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range s.Raw.Content {
			all = append(all, c.Text)
		}
		names = append(names, s.Name)
		byName[s.Name] = []byte(strings.Join(all, "\n"))
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return names, byName
}

// rand is splitmix64.
type rand struct{ s uint64 }

func newRand(seed uint64) *rand { return &rand{seed*0x9E3779B97F4A7C15 + 0x1234567} }

func (r *rand) next() uint64 {
	r.s += 0x9E3779B97F4A7C15
	z := r.s
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

func (r *rand) n(n int) int { return int(r.next() % uint64(n)) }

// benchLog is the log of at least n bytes that public gateways were measured
// with: 99k tokens at 200 kB.
func benchLog(n int) []byte {
	r := newRand(99)
	var b bytes.Buffer
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := 0; b.Len() < n; i++ {
		ts := base.Add(time.Duration(i*137) * time.Millisecond).Format("2006-01-02T15:04:05.000Z")
		switch {
		case i%307 == 306:
			fmt.Fprintf(&b, "%s ERROR worker-%d job %08x failed: connection to db-%d refused after %d ms (attempt %d)\n", ts, r.n(8), uint32(r.next()), r.n(4), 100+r.n(5000), 1+r.n(5))
		case i%53 == 52:
			fmt.Fprintf(&b, "%s WARN  cache miss ratio %.2f above 0.40 on shard %d\n", ts, 0.4+float64(r.n(50))/100, r.n(16))
		default:
			fmt.Fprintf(&b, "%s INFO  GET /api/v1/items/%d 200 %dms bytes=%d\n", ts, r.n(9999), 1+r.n(90), 200+r.n(9000))
		}
	}
	return b.Bytes()
}

// faults are the errors and warnings of faultyLog: the words that tell them apart.
var faults = []struct{ level, text, tell string }{
	{"ERROR", "payment %d declined by gateway: code=%d", "declined by gateway"},
	{"ERROR", "connection to db-%d refused after %d ms", "connection to db-"},
	{"ERROR", "disk /dev/sda%d is %d%% full", "full"},
	{"ERROR", "cannot parse config /etc/app/conf.d/%d.yml: line %d", "cannot parse config"},
	{"ERROR", "user %d: permission denied on bucket-%d", "permission denied"},
	{"ERROR", "TLS handshake with 10.0.%d.%d failed: certificate expired", "certificate expired"},
	{"ERROR", "queue orders-%d overflow, %d messages dropped", "overflow"},
	{"ERROR", "unhandled exception in worker %d after %d jobs", "unhandled exception"},
	{"FATAL", "out of memory in region %d: wanted %d bytes", "out of memory"},
	{"WARN", "cache miss ratio 0.%d above 0.40 on shard %d", "cache miss ratio"},
	{"WARN", "slow query took %d ms on replica-%d", "slow query"},
	{"WARN", "retry %d of job %d", "retry"},
	{"WARN", "deprecated endpoint /v1/users/%d called by client %d", "deprecated endpoint"},
	{"WARN", "clock skew of %d ms against node-%d", "clock skew"},
	{"WARN", "token for tenant %d expires in %d s", "expires in"},
	{"WARN", "certificate of host-%d ends in %d days", "certificate of host"},
	{"WARN", "rate limit %d reached for key %d", "rate limit"},
	{"WARN", "dropped %d packets on eth%d", "packets on"},
}

// faultyLog is a log of about n bytes with all faults far apart, stacks below some
// of them, among many kinds of other lines.
func faultyLog(n int) []byte {
	r := newRand(5)
	var b bytes.Buffer
	info := []string{"GET /api/v1/items/%d 200 %dms", "POST /api/v1/orders 201 %dms order=%d", "job %d done in %dms", "session %d opened from 10.1.2.%d", "flushed %d rows to table events_%d", "heartbeat from node-%d seq=%d", "loaded %d plugins in %d ms", "gc pause %dus heap=%dMB"}
	base := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := 0; b.Len() < n; i++ {
		ts := base.Add(time.Duration(i*137) * time.Millisecond).Format("2006-01-02 15:04:05,000")
		if i%71 == 70 {
			f := faults[i/71%len(faults)]
			fmt.Fprintf(&b, "%s %-5s [worker-%d] "+f.text+"\n", ts, f.level, r.n(8), r.n(99), r.n(9999))
			if strings.HasPrefix(f.text, "unhandled") {
				b.WriteString("java.lang.IllegalStateException: no session\n\tat com.example.Worker.run(Worker.java:42)\n\tat java.lang.Thread.run(Thread.java:750)\nCaused by: java.io.IOException: broken pipe\n\t... 12 more\n")
			}
			continue
		}
		fmt.Fprintf(&b, "%s INFO  [worker-%d] "+info[r.n(len(info))]+"\n", ts, r.n(8), r.n(9999), 1+r.n(900))
	}
	return b.Bytes()
}

// nested is a JSON document of about 600 kB: objects, arrays, maps of ids and big
// numbers, six levels deep.
func nested() []byte {
	r := newRand(3)
	var b bytes.Buffer
	b.WriteString(`{"apiVersion":"v2","generatedAt":"2026-03-01T12:00:00Z","cluster":{"name":"prod-eu-1","id":9007199254740993,"limits":{"cpu":512,"memory":"2Ti","pods":11000},"features":["autoscale","mesh","audit"],"owner":null},"services":[`)
	for i := range 400 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"svc-%04d","name":"service %d","replicas":%d,"status":{"phase":"%s","ready":%t,"conditions":[{"type":"Available","at":"2026-02-%02dT10:00:00Z","reason":"MinimumReplicas"},{"type":"Progressing","at":"2026-02-%02dT10:00:00Z","reason":"NewReplicaSet"}]},"ports":[%d,%d],"env":{"LOG_LEVEL":"info","REGION":"eu-%d"}`,
			i, i, 1+r.n(9), []string{"Running", "Pending", "Failed"}[r.n(3)], r.n(2) == 0, 1+r.n(28), 1+r.n(28), 8000+r.n(1000), 9000+r.n(1000), r.n(4))
		if i%3 == 0 {
			fmt.Fprintf(&b, `,"labels":{"team":"team-%d","tier":"gold"}`, r.n(12))
		}
		b.WriteByte('}')
	}
	b.WriteString(`],"nodes":{`)
	for i := range 900 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"node-%05x":{"zone":"eu-%d","cpu":{"used":%d.%d,"total":64},"taints":[],"pods":["p%d","p%d"],"serial":%d%d}`,
			r.n(1<<20), r.n(4), r.n(64), r.n(10), r.n(9999), r.n(9999), 9007199254740993+r.n(99999), r.n(1000))
	}
	b.WriteString(`},"policies":{"network":{"default":"deny","rules":[`)
	for i := range 300 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"from":"ns-%d","to":"ns-%d","ports":[{"port":%d,"protocol":"TCP"}],"note":"%s"}`, r.n(50), r.n(50), 1+r.n(65535), strings.Repeat("allow traffic between namespaces ", 1+r.n(12)))
	}
	b.WriteString(`]},"quota":{"hard":{"pods":500,"secrets":100},"scopes":["BestEffort"]}},"next_cursor":"eyJvZmZzZXQiOjEwMH0="}`)
	return b.Bytes()
}

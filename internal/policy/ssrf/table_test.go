package ssrf

import (
	"encoding/json"
	"strings"
	"testing"
)

// names is what the resolver of the tables knows.
var names = stub{
	"example.com": {"93.184.216.34"}, "www.example.com": {"93.184.216.34"}, "api.example.com": {"203.0.113.7", "2606:4700::1111"},
	"github.com": {"140.82.121.4"}, "docs.example.org": {"104.18.2.3"}, "xn--mnchen-3ya.example": {"104.18.2.4"},
	"intern.example": {"10.1.2.3"}, "both.example": {"93.184.216.34", "192.168.0.9"}, "six.example": {"fe80::1"}, "meta.example": {"169.254.169.254"},
	"none.example": {}, "mapped.example": {"::ffff:10.0.0.1"}, "nat64.example": {"64:ff9b::a00:1"},
}

func tableGuard(t testing.TB) *Guard {
	t.Helper()
	g, err := New(Config{BlockPrivateIPs: true, Resolver: names})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// refused are arguments that reach something that they must not.
const refused = `
{"url":"http://127.255.255.254/"}
{"url":"http://198.18.0.1/"}
{"url":"http://192.88.99.1/"}
{"url":"http://192.0.2.7/"}
{"url":"http://0.0.0.0:8080/"}
{"url":"http://0x0a.0.0.1"}
{"url":"http://017700000001/"}
{"url":"http://010.1.2.3/"}
{"url":"http://0XC0A80001/"}
{"url":"http://192.168.1"}
{"url":"http://127.0.0.1./"}
{"url":"http://256.256.256.256/"}
{"url":"http://1.2.3.4.5/"}
{"url":"http://127.0.0.1:0/"}
{"url":"http://[::]:80/"}
{"url":"http://[::1]"}
{"url":"http://[0:0::1]/"}
{"url":"http://[::ffff:10.0.0.1]/"}
{"url":"http://[fe80::1%25eth0]/"}
{"url":"http://[fe80::1%eth0]/"}
{"url":"http://[ff02::1]/"}
{"url":"http://[fec0::1]/"}
{"url":"http://[64:ff9b::10.1.2.3]/"}
{"url":"http://[::1/"}
{"url":"http://::1/"}
{"url":"http://[v1.fe]/"}
{"url":"http://[::127.0.0.1]:8080/x"}
{"url":"http://intern.example/"}
{"url":"http://INTERN.example./"}
{"url":"http://both.example/"}
{"url":"http://six.example/"}
{"url":"http://meta.example/"}
{"url":"http://mapped.example/"}
{"url":"http://nat64.example/"}
{"url":"http://none.example/"}
{"url":"https://dead.example/"}
{"url":"http://metadata.google.internal./computeMetadata/v1/"}
{"url":"http://instance-data/latest/"}
{"url":"http://metadata.goog/"}
{"url":"http://router.lan/"}
{"url":"http://wiki.corp/"}
{"url":"http://grafana.monitoring.svc.cluster.local:3000"}
{"url":"http://api.prod.svc/"}
{"url":"http://host.docker.internal:11434/api/tags"}
{"url":"http://redis:6379/"}
{"url":"http:/127.0.0.1/"}
{"url":"http:///127.0.0.1/"}
{"url":"http:\\/\\/127.0.0.1"}
{"url":"/\\127.0.0.1/x"}
{"url":"\\\\10.0.0.1\\share"}
{"url":"//localhost:9200/_cat"}
{"url":" http://127.0.0.1/ "}
{"url":"\u0000http://127.0.0.1/"}
{"url":"ht\ntp://127.0.0.1/"}
{"url":"http://127.0.\n0.1/"}
{"url":"http://loc\talhost/"}
{"url":"http://example.com\\@127.0.0.1/"}
{"url":"http://example.com#@10.0.0.1/"}
{"url":"http://example.com?@10.0.0.1/"}
{"url":"http://example.com:80@10.0.0.1/"}
{"url":"http://user:p%40ss@10.0.0.1/"}
{"url":"http://a@127.0.0.1@example.com/"}
{"url":"http://example.com@localhost"}
{"url":"http://example.com%2f@127.0.0.1/"}
{"url":"http://127.0.0.1%2523.example.com/"}
{"url":"http://127.0.0.1%0d%0aHost:x/"}
{"url":"http://127.0.0.1;example.com/"}
{"url":"http://example.com&@127.0.0.1#@example.com/"}
{"url":"http://a b@127.0.0.1/"}
{"url":"http://%31%32%37.0.0.1/"}
{"url":"http://%6c%6f%63%61%6c%68%6f%73%74/"}
{"url":"http://127%2e0%2e0%2e1/"}
{"url":"http://127．0．0．1/"}
{"url":"http://127｡0｡0｡1/"}
{"url":"http://ⓛocalhost/"}
{"url":"http://l\u200bocalhost/"}
{"url":"http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/"}
{"url":"http://１０.0.0.1/"}
{"url":"http：//127.0.0.1/"}
{"url":"ＨＴＴＰ：／／127.0.0.1／"}
{"url":"http://metadata。google。internal/"}
{"url":"file:///etc/passwd"}
{"url":"FILE:/etc/passwd"}
{"url":"file:\\\\\\etc"}
{"uri":"file://127.0.0.1/c$/x"}
{"u":"file:///proc/self/environ"}
{"url":"gopher://example.com:70/_x"}
{"url":"dict://example.com:2628/d:x"}
{"url":"jar:http://example.com/a.jar!/b"}
{"url":"jar:file:///a.jar!/b"}
{"url":"php://filter/resource=/etc/passwd"}
{"url":"unix:/var/run/docker.sock"}
{"host":"unix:///var/run/docker.sock"}
{"url":"https+unix://x/y"}
{"url":"ftp://10.0.0.1/"}
{"url":"ftp://intern.example/x"}
{"url":"ldaps://192.168.1.1:636"}
{"url":"ws://localhost:9222/devtools"}
{"url":"redis://127.0.0.1:6379/0"}
{"url":"weird-thing://10.0.0.1/"}
{"url":"git+ssh://git@192.168.0.2/r.git"}
{"url":"view-source:file:///etc/passwd"}
{"url":"blob:https://localhost/1"}
{"url":"filesystem:http://10.0.0.2/t"}
{"url":"feed:http://127.0.0.1/rss"}
{"url":"jdbc:postgresql://10.0.0.3:5432/x"}
{"url":"jdbc:oracle:thin:@10.0.0.3:1521:xe"}
{"database_url":"postgres://u:p@10.0.0.5/db"}
{"databaseUrl":"mysql://root@localhost/x"}
{"dsn":"user:pw@tcp(127.0.0.1:3306)/db"}
{"dsn":"host=10.0.0.5 port=5432 user=x"}
{"connection_string":"Server=tcp:10.0.0.5,1433;Database=x;"}
{"connectionString":"Data Source=localhost;Initial Catalog=x"}
{"dsn":"postgresql:///db?host=10.0.0.5"}
{"dsn":"mongodb://example.com:27017,10.0.0.9:27017/x"}
{"url":"https://example.com/redirect?to=http://169.254.169.254/"}
{"url":"https://example.com/?u=http%3A%2F%2F10.0.0.1%2F"}
{"url":"aHR0cDovLzEwLjAuMC4xLw=="}
{"data":"aHR0cDovL2xvY2FsaG9zdDo4MDgwL2FkbWlu"}
{"host":"localhost"}
{"hostname":"10.0.0.5"}
{"hosts":["example.com","192.168.1.1"]}
{"HOST":"LOCALHOST."}
{"db_host":"db"}
{"redisHost":"127.0.0.1"}
{"ip":"169.254.169.254"}
{"ip_address":"10.20.30.40"}
{"ip":2130706433}
{"host":"2130706433"}
{"host":"0x7f.1"}
{"host":"::1"}
{"host":"[::1]:80"}
{"host":"intern.example"}
{"host":"dead.example"}
{"host":"root@10.0.0.1"}
{"hosts":"example.com, 10.0.0.1:9092"}
{"bootstrap_servers":"10.0.0.1:9092,10.0.0.2:9092"}
{"brokers":["127.0.0.1:9092"]}
{"proxy":"127.0.0.1:3128"}
{"httpProxy":"http://user:pw@10.0.0.1:3128"}
{"url":"localhost:3000/admin"}
{"url":"127.1/x"}
{"url":"intern.example/path"}
{"base_url":"10.0.0.7"}
{"image_url":"//169.254.169.254/x.png"}
{"webhookUrl":"localhost"}
{"uri":"intern.example"}
{"endpoint":"localhost:8080"}
{"endpoint":"http://localhost:8080/v1"}
{"endpoint":"10.0.0.1"}
{"endpoint":"intern.example:443"}
{"server":"192.168.1.10"}
{"server_address":"[fd00::1]:80"}
{"upstream":"intern.example"}
{"target":"192.168.1.1"}
{"target":"localhost"}
{"destination":"10.0.0.1:22"}
{"callback":"http://127.1/cb"}
{"config":{"remote":{"addr":"10.0.0.2:80"}}}
{"a":[[{"b":"http://localhost/"}]]}
{"text":"see http://127.0.0.1:8000/x for more"}
{"text":"(http://localhost)"}
{"text":"first https://example.com/, then http://10.0.0.1, ok"}
{"md":"![a](http://169.254.169.254/latest/meta-data/)"}
{"md":"<http://[::1]:8080/>"}
{"html":"<img src=\"//127.0.0.1/x\">"}
{"html":"<a href='http&#58;//127.0.0.1/'>x</a>"}
{"html":"<a href=\"http&colon;&sol;&sol;10.0.0.1/\">x</a>"}
{"text":"打开http://127.0.0.1/查看"}
{"text":"打开http://10.0.0.1，谢谢"}
{"code":"requests.get('http://169.254.169.254/latest')"}
{"code":"fetch(\"http:\\u002f\\u002f10.0.0.1\")"}
{"code":"x = f'http://localhost:{port}/'"}
{"body":"{\"a\":{\"url\":\"http:\\/\\/10.0.0.1\\/\"}}"}
{"body":"[\"file:///etc/passwd\"]"}
{"body":"{\"b\":\"{\\\"c\\\":\\\"http://10.0.0.1\\\"}\"}"}
{"body":"a=1&url=http%3a%2f%2f10.0.0.1%2f&b=2"}
{"xml":"<!ENTITY x SYSTEM \"http://127.0.0.1/x\">"}
{"cmd":"curl 169.254.169.254/latest/meta-data/"}
{"cmd":"wget -qO- localhost:8080"}
{"command":"ssh root@10.0.0.5 uptime"}
{"command":"nc -vz 192.168.1.1 22"}
{"command":"curl file:///etc/passwd"}
{"command":"curl https://dead.example/x"}
{"command":"bash -c 'cat < /dev/tcp/10.0.0.1/80'"}
{"args":["-s","http://10.0.0.1/"]}
{"args":["--url=http://10.0.0.1/"]}
{"cmd":"HTTP_PROXY=http://10.0.0.1:3128 make"}
{"http://10.0.0.1/":1}
{"a":{"see http://localhost/":true}}
{"text":"http:127.0.0.1/x and more"}
{"text":"Http:\\\\localhost\\x here"}
{"image":"https://u:p@192.168.0.1/x.png"}
{"ref":"http://10.0.0.1:99999/"}
{"url":"0://127.0.0.1:80;http://example.com/"}
{"url":"http%253A%252F%252F127.0.0.1"}
{"text":"http://local\u200dhost/ here"}
{"url":"http:@127.0.0.1/"}
{"url":"http:/\\10.0.0.1"}
{"url":"http://127.0.0.1:80:80/"}
{"remote":"git@10.0.0.5:repo.git"}
{"headers":{"X-Forwarded-Host":"localhost"}}
{"env":{"HTTP_PROXY":"127.0.0.1:3128"}}
{"host":"kubernetes.default.svc"}
{"url":"http://metadata/"}
{"hosts":["a.internal"]}
{"smtp_host":"mailhog"}
{"vpnHost":"10.0.0.1"}
`

// passes are arguments that users send every day.
const passes = `
{"url":"https://example.com"}
{"url":"https://EXAMPLE.com./a?b=c#d"}
{"url":"https://user:pw@example.com:8443/x"}
{"url":"https://example.com/?to=bob@dead.example"}
{"url":"https://example.com/a@b/c"}
{"url":"https://example.com#me@dead.example"}
{"url":"https://münchen.example/"}
{"url":"https://example.com/?ip=127.0.0.1&h=localhost"}
{"url":"https://example.com/localhost:8080"}
{"url":"https://api.example.com/v1/10.0.0.1"}
{"url":"https://1.1.1.1/dns-query"}
{"url":"https://[2606:4700::1111]/"}
{"url":"http://134744072/"}
{"url":"http://[::ffff:8.8.8.8]/"}
{"url":"http://[64:ff9b::808:808]/"}
{"url":"ftp://example.com/pub"}
{"url":"sftp://example.com/x"}
{"url":"git+https://github.com/a/b.git"}
{"url":"git@github.com:owner/repo.git"}
{"url":"data:text/html,<a href=x>"}
{"url":"data:image/png;base64,iVBORw0KGgo="}
{"url":"mailto:admin@localhost"}
{"url":"tel:+4912345"}
{"url":"about:blank"}
{"url":"javascript:void(0)"}
{"url":"magnet:?xt=urn:btih:abc"}
{"url":"/relative/path"}
{"url":"./x.html"}
{"url":"?page=2"}
{"url":"#top"}
{"url":""}
{"url":"example.com/path"}
{"url":"www.example.com"}
{"uri":"test://static/resource/1"}
{"uri":"resource://localfiles/7"}
{"uri":"heddle://files/notes"}
{"uri":"s3://bucket/key"}
{"uri":"gs://bucket.with.dots/key"}
{"uri":"memo://insights"}
{"uri":"vscode://file/home/x.go"}
{"uri":"app://settings"}
{"uri":"slack://channel?id=1"}
{"uri":"docker://alpine:3.20"}
{"uri":"ipfs://QmX"}
{"uri":"spotify:track:123"}
{"uri":"urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}
{"uri":"main.go"}
{"uri":"users/5"}
{"host":"example.com:443"}
{"host":"8.8.8.8"}
{"hosts":["example.com","github.com"]}
{"host":""}
{"host":"https://example.com"}
{"host_id":12}
{"host":3}
{"port":8080}
{"proxy":""}
{"proxy":"http://api.example.com:3128"}
{"endpoint":"/v1/users"}
{"endpoint":"repos/list"}
{"endpoint":"chat.postMessage"}
{"endpoint":"v1.2"}
{"endpoint":"users"}
{"server":"github"}
{"server":"my-server"}
{"server":"127.1"}
{"server_name":"files"}
{"server":"nginx/1.25.3"}
{"target":"es2022"}
{"target":"main"}
{"target":"x86_64-linux"}
{"target":"//div[@class='a']"}
{"target":"build:prod"}
{"target":"//pkg/server:main"}
{"source":"main.go"}
{"source":"src/lib.rs:12"}
{"destination":"backup/report.txt"}
{"src":"10.5"}
{"dst":"C:\\Users\\me\\x"}
{"from":"2024-01-01T10:00:00Z"}
{"to":"bob@corp.example"}
{"to":"0x0000000000000000000000000000000000000000"}
{"address":"0x742d35Cc6634C0532925a3b844Bc454e4438f44e"}
{"address":"10 Downing Street, London"}
{"address":"Hauptstr. 5; 10115 Berlin"}
{"email_address":"me@localhost"}
{"mac_address":"fe:80:00:12:34:56"}
{"bind_address":"127.0.0.1"}
{"allowed_hosts":["localhost","127.0.0.1"]}
{"listen_addr":"0.0.0.0:80"}
{"no_proxy":"localhost,127.0.0.1"}
{"domain":"marketing"}
{"page":1}
{"node":"18.17.0"}
{"node_version":"20.0.0.1"}
{"version":"10.0.0.1"}
{"version":"127.0.0.1"}
{"tag":"v10.0.0.1"}
{"name":"localhost"}
{"query":"what is 169.254.169.254?"}
{"query":"site:example.com localhost"}
{"query":"host:localhost AND port:80"}
{"q":"error at 10.0.0.1:8080"}
{"sql":"SELECT * FROM hosts WHERE ip = '10.0.0.1'"}
{"sql":"SELECT '::1'::inet, a::text"}
{"code":"// localhost is 127.0.0.1\nint main() { std::cout << 1; }"}
{"code":"if (host === '127.0.0.1') {}"}
{"code":"//localhost:8080\nfoo()"}
{"code":"url = f\"https://{host}/x\""}
{"code":"const u = ` + "`https://${process.env.HOST}/`" + `"}
{"code":"a = b // c\nd = x//y"}
{"code":"re.compile(r'https?://[^/]+/')"}
{"code":"import \"example.com/x/http:util\""}
{"url_template":"https://{tenant}.example.com/x"}
{"url":"https://<your-domain>/x"}
{"regex":"^http://localhost:\\d+/"}
{"pattern":"https://*.corp/**"}
{"glob":"//srv/**"}
{"selector":"//input[@name='q']"}
{"xpath":"//a/@href"}
{"path":"//server/share"}
{"path":"/home/me/http:/x"}
{"path":"C:\\Program Files\\x"}
{"path":"C:\\\\dir\\\\x"}
{"file":"notes:today.md"}
{"label":"file:main.go"}
{"dependencies":{"x":"file:../x","y":"npm:z@1.0.0"}}
{"time":"10:30:00"}
{"ratio":"4:3"}
{"ports":["80:80","8080:127"]}
{"text":"Score 10:0, odds 3//4, see a//b."}
{"text":"Read https://dead.example/old-post before it is gone."}
{"text":"Docs: https://docs.example.org/a_(b), https://github.com/x."}
{"md":"[a](https://example.com) and ![b](https://www.example.com/b.png \"t\")"}
{"md":"**https://example.com** _https://github.com_"}
{"text":"请看https://example.com/文档，谢谢"}
{"text":"见https://example.com，然后"}
{"text":"use http:// or https://, then the host"}
{"text":"protocol http: is old; HTTP: 1.1"}
{"text":"the service at 127.0.0.1:8080 is called http:8080"}
{"text":"note:http:80 is the port of the service"}
{"text":"Open the file:///tmp/x.html in a browser, gopher://old.example too"}
{"text":"key: value, a::b, C::D, x:/y, d:/z"}
{"html":"<p xmlns:x=\"http://www.w3.org/1999/xlink\">hi</p>"}
{"html":"<script src=\"//cdn.dead.example/x.js\"></script>"}
{"body":"{\"host\":\"localhost\",\"port\":80}"}
{"content":"{\"name\":\"x\",\"homepage\":\"https://dead.example/\"}"}
{"content":"server {\n  listen 127.0.0.1:80;\n  server_name localhost;\n}"}
{"content":"127.0.0.1 localhost\n::1 localhost"}
{"content":"services:\n  db:\n    image: postgres:16\n    ports: ['5432:5432']"}
{"cmd":"git clone https://github.com/a/b.git"}
{"cmd":"git clone git@github.com:a/b.git"}
{"cmd":"npm start -- --host 0.0.0.0 --port 3000"}
{"cmd":"docker run -p 127.0.0.1:80:80 nginx:1.25"}
{"cmd":"pip install foo==1.2.3.4"}
{"cmd":"curl -s https://example.com/x | jq .a"}
{"cmd":"curl -o out-1.2.3.tar.gz https://example.com/a.tar.gz"}
{"cmd":"echo 10.0.0.1 localhost >> notes.txt"}
{"cmd":"python -m http.server --bind 127.0.0.1"}
{"cmd":"ls -la /dev/tcp"}
{"args":["-y","@scope/pkg@1.2.3"]}
{"args":["build","//cmd/server:image"]}
{"commit":"deadbeef00000000000000000000000000000000"}
{"id":2130706433}
{"amount":3232235777}
{"lat":127.1,"lng":10.5}
{"ids":[2130706433,16843009]}
{"hash":"sha256:0a000001"}
{"image":"registry.example.com/app:1.2"}
{"image":"nginx:latest"}
{"image":"ghcr.io/a/b@sha256:00"}
{"email":"root@[10.0.0.1]"}
{"isbn":"urn:isbn:0131103628"}
{"color":"#7f0001"}
{"oid":"1.3.6.1.4.1"}
{"range":"10.0.0.0-10.0.0.255"}
{"cidr":"192.168.0.0/16"}
{"css":"a{background:url(x.png)}"}
{"$schema":"https://example.com/schema"}
{"time":"http"}
{"token":"aHR0cHM6Ly9leGFtcGxlLmNvbS8="}
{"token":"aHR0cHM6"}
{"blob":"SGVsbG8gd29ybGQsIHRoaXMgaXMgdGV4dA=="}
{"text":"100% of http%20 is %zz"}
{"a":"\\u0041\\x","b":"&#x41;"}
{"dsn":"host=example.com port=5432 dbname=x"}
{"dsn":"user:pw@tcp(example.com:3306)/db"}
{"dsn":"sqlite:///data/x.db"}
{"connection_string":"Server=tcp:example.com,1433;Database=x"}
{"connection":"slow"}
{"code":"print(\"http:\\n\")"}
{"url":"s3://bucket/x"}
{"text":"regex (http|https)://localhost matches"}
{"host":"example.com,1433"}
{"hostname_pattern":"*.localhost"}
{"azureComputeHost":"containerapp"}
{"hosts":"web-1,web-2"}
{"destinations":["40.7,-73.9"],"origin":"10.5,1.2"}
{"remote":"origin","upstream":"main"}
{}
[]
null
"text"
`

func TestTable(t *testing.T) {
	g := tableGuard(t)
	check := func(lines string, want bool) {
		n := 0
		for line := range strings.Lines(strings.TrimSpace(lines)) {
			line = strings.TrimSpace(line)
			if !json.Valid([]byte(line)) {
				t.Fatalf("not JSON: %s", line)
			}
			n++
			if got := g.Check(t.Context(), json.RawMessage(line), nil); len(got) > 0 != want {
				t.Errorf("Check(%s) = %+v, want refused: %v", line, got, want)
			}
		}
		t.Logf("%d rows", n)
	}
	check(refused, true)
	check(passes, false)
}

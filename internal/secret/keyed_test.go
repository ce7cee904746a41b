package secret

import (
	"strings"
	"testing"
)

// Values are put together here, so that none is well formed in this file.
var (
	human   = "Tr0ub4dor" + "&3x!"
	machine = "q7Zk2LmX9" + "vRt4Bn8Wc1Yd6Hs3Pf5J"
	hexes   = "9f86d081884c7d65" + "9a2feaa0c55ad015"

	filled = strings.NewReplacer("¶", human, "†", machine, "‡", hexes)
)

// TestKeyed has the ways in which a name stands before a value. ¶ is a password, † a
// token, ‡ one of hexadecimal digits.
func TestKeyed(t *testing.T) {
	for _, text := range []string{
		`password=¶`, `password: ¶`, `Password: ¶`, `PASSWORD=¶`, `db_password = "¶"`, `dbPassword: '¶',`, `"password": "¶"`, `'password' => '¶',`,
		`const apiKey = "†";`, `apiKey := "†"`, `API_KEY=†`, `export API_KEY=†`, `export API_KEY="†"`, `set API_KEY=†`, `$env:API_KEY = "†"`, `ENV API_KEY †`,
		`api-key: †`, `X-Api-Key: †`, `x-auth-token: †`, `API key: †`, `Access Token: †`, `the api key is †.`, `the password is ¶`, `Your password: ¶`,
		`--password ¶`, `--password=¶`, `--token † --verbose`, `--api-key '†'`, `tool --secret="†"`,
		`Authorization: Bearer †`, `authorization: token ‡`, `curl -H "Authorization: Bearer †" https://x.test`, `Authorization: ApiKey †`, `Bearer †`,
		`curl -u admin:¶ https://x.test/`, `mysql -u root -p¶ shop`, `sshpass -p '¶' ssh a@b`, `redis-cli -h x -a ¶ ping`, `PGPASSWORD=¶ psql -h db`,
		"machine api.test\n  login ann\n  password ¶\n", `machine api.test login ann password ¶`,
		`postgres://app:¶@db:5432/x`, `https://ann:¶@x.test/p`, `redis://:¶@cache:6379/0`, `mongodb+srv://a:¶@c.mongodb.net`, `amqps://a:¶@mq/v`, `ftp://ann:¶@x.test`, `smtp://a%40b.test:¶@mx:587`,
		`Server=db;Database=x;User Id=sa;Password=¶;Encrypt=true`, `Server=db;Pwd=¶`, `jdbc:sqlserver://h:1433;user=sa;password=¶;`, `jdbc:mysql://h/x?user=a&password=¶`, `jdbc:oracle:thin:scott/¶@//h:1521/x`,
		`https://x.test/api?token=†&x=1`, `https://x.test/?a=1&api_key=‡`, `https://x.test/cb#access_token=†&state=1`, `https://b.test/o?sv=2022&sig=†%3D`, `https://s3.test/o?X-Amz-Signature=‡‡`,
		`Cookie: theme=dark; session=†; lang=en`, `Set-Cookie: sid=†; Path=/; HttpOnly`, `connect.sid=†`,
		`<password>¶</password>`, `<add key="ApiKey" value="†" />`, `<entry key="password">¶</entry>`, `<setting name="token" value="†"/>`,
		"| user | password |\n| --- | --- |\n| password | ¶ |", `**Password:** ¶`, "`token`: `†`", `password: "¶" # of the old host`,
		`config["password"] = "¶"`, `os.environ["API_KEY"] = "†"`, `password: str = "¶"`, `let token: &str = "†";`, `set("password", "¶")`, `API_TOKEN: SecretStr = SecretStr("†")`,
		`CREATE USER a IDENTIFIED BY '¶'`, `ALTER USER a WITH PASSWORD '¶'`, `requirepass ¶`,
		`密码：¶`, `密码: ¶`, `数据库密码是¶`, `口令=¶`, `密钥：†`, `пароль: ¶`, `パスワード：¶`, `비밀번호: ¶`, `contraseña: ¶`, `Passwort: ¶`, `mot_de_passe=¶`, `senha: ¶`,
		`{\"password\": \"¶\"}`, `{\\\"token\\\":\\\"†\\\"}`, `token%3D†%26x=1`, `?redirect=https%3A%2F%2Fann%3A†%40x.test`, `&quot;token&quot;:&quot;†&quot;`, `{\u0022token\u0022:\u0022†\u0022}`,
		`level=info msg="login" user=ann token=† ip=1.2.3.4`, `aws_secret_access_key = †/Hx+a`, `client_secret: ‡`, `encryption_key=‡`, `"private_key": "‡"`, `webhookSecret: †`, `SECRET_KEY=‡`,
		`//registry.npmjs.org/:_authToken=†`, `spring.datasource.password=¶`, `smtp_pass: ¶`, `DB_PASS=¶`, `  password: ¶`, `- password: ¶`, `+PASSWORD=¶`, "password: |\n  ¶\n", `passphrase: orbit magnet violet cedar`,
		`card number: 4539 1488 0343 6467`, `cvv: 123`, `otp=482913`, `root:$6$abcdefgh$†‡T:19000:0:99999:7:::`,
	} {
		got := filled.Replace(text)
		masked := Mask(got)
		if masked == got {
			t.Errorf("nothing found in %s", text)
			continue
		}
		for _, v := range []string{human, machine, hexes} {
			if strings.Contains(masked, v) {
				t.Errorf("%s: left %s", text, masked)
			}
		}
		if again := Find(masked); len(again) > 0 {
			t.Errorf("%s: found again in %s: %v", text, masked, again)
		}
	}
}

// TestOrdinary has what looks like secrets and is none.
func TestOrdinary(t *testing.T) {
	for _, text := range []string{
		`password: changeme`, `password=<redacted>`, `password = os.environ['DB_PASS']`, `password = getpass.getpass()`, `password: "${DB_PASSWORD}"`, `password: {{ .Values.db.password }}`,
		`password: !vault db/password`, `password = config.db.password`, `connect(user=user, password=password)`, `"password": {"type": "string", "minLength": 8}`, `"password": "string"`,
		`password: required`, `Password must be at least 8 characters`, `password: see the vault`, `password: ********`, `password=%s`, `password = :password`, `WHERE password = $1`, `"password": "Passwort"`,
		`api_key: YOUR_API_KEY_HERE`, `API_KEY=your-key-here`, `apiKey: process.env.API_KEY`, `api_key = get_secret("prod/api")`, `token: null`, `token = None`, `token: string`, `max_tokens: 4096`, `"total_tokens": 15321`,
		`next_page_token: b2Zmc2V0OjMxNTg9MTIzNDU2`, `"nextToken": "AAMA-EFRSURBSGg4bXRt12cQZ3"`, `pad_token: <pad>`, `tokenizer: cl100k_base`, `"token": "hello", "logprob": -0.12`, `progressToken: 12`,
		`primary_key: order_id`, `"key": "user:1234:profile"`, `sort_key=created_at`, `public_key: MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE12ab`, `key: value`, `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI0ARCNfy5kHScIFzoI4HuaEyUSpStwyGiCGduEFAAA6D`,
		`secretary: Jane Doe`, `secret: null`, `The secret of success is hard work`, `secretName: db-credentials`, `secret: projects/p/secrets/db/versions/1`, `kubectl get secret my-app-secret-2`,
		`Bearer of bad news`, `Authorization: Bearer <token>`, `Authorization: Bearer $TOKEN`, `Basic authentication is disabled`, `"auth": "required"`, `auth: none`, `authorization: enabled`,
		`https://user:***@host/`, `https://user:password@host/`, `postgres://postgres:postgres@localhost/db`, `mysql://root:${PW}@db/x`, `https://x.test/@scope/name:1.2@3`, `git@github.com:o/r.git`, `ssh://git@github.com/o/r`, `http://localhost:8080/a@b`,
		`sk-learn is a library`, `sk-estimator-checks-for-version-2024`, `pk-42 model`, `The AKIA Corporation`, `AKIAIOSFODNN7EXAMPLE`, `ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`, `hf_transfer_enable_downloads_now`, `sk-XXXXXXXXXXXXXXXXXXXXXXXX`, `sk-...`, `key-value-store-with-many-words`,
		`sha256:64f65e4e35a0d9bdcf931c2aeb5322dee4f59588d3611ecdbfcf04712bdb7004`, `commit d9ff0a3db1f71633ee5dfea3f6181fe4a984acbc`, `etag: "d09fba70d629209173bd9b96ab450b09"`, `h1:PMV0FRGr4m1dLEP0l6Qj/ppwQ+R93TkNqBmsh1pYFxI=`, `integrity sha512-tvvazFHbYTJsZoEGSx4E2Um0uU0xORBDzNNZfGd6XhBgGL/01wCSD8hos9jXKXCbvf/mrSuZktwy1JrTKEMVqg==`,
		`id: ffbfceea-e021-4565-a3bf-a60684142185`, `session: 3f2a`, `sessionId: ffbfceea-e021-4565-a3bf-a60684142185`, `01BFRMJP7VQ9XKP6ECPVN6XJ2G`, `traceparent: 00-34fcafb0a2bf7f3f448f3664ea8a7a55-45a8913b807c29d6-01`,
		`-----BEGIN CERTIFICATE-----`, `-----BEGIN PUBLIC KEY-----`, `-----BEGIN PRIVATE KEY-----`, `--- PASS: TestStore1 (0.00s)`, `PASS: 12 tests`, `two tokens: ModulePath and Version`, `pass to Xcoffreloc1`,
		`密码长度不少于8位`, `忘记密码？`, `密码：至少8位`, `token_count: 1532`, `password_policy: strong`, `passwordless login enabled`, `--password-stdin`, `docker login --username ann --password-stdin`,
		`card on file: 0357517975005762`, `pin: 13`, `pincode 560001`, `The cookie was set`, `cookie: enabled`, `Cookie policy: strict`, `signature: d09fba70d629209173bd9b96ab450b09`,
	} {
		if found := Find(text); len(found) > 0 {
			t.Errorf("%s: %v", text, found)
		}
	}
}

package secret

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestReference: expressions of source code and paths of files are no secrets.
func TestReference(t *testing.T) {
	for _, text := range []string{
		// what is indexed or called
		`proxy_password=self._socks_options["password"],`, `password=options['pw2'],`, `db_password=get_password(name, 2),`, "api_password=load_it(\n", `    password=reader2(),`, `password=conf.items[0],`,
		// members
		`nid_key = self._lib.NID_aes_256_cbc`, `secret_key=self.x2`, `password=this.state.value2`, `password = a.b.c2d4`, `secret=opts.secret2, x=1`, `secret=opts.value22)`, `password = conf?.db2?.value`, `password = ctx->conf_2->value`, `password = lib.DEFAULT_PW_2`,
		// variables in literals
		"\"mnemonic\": enc2080,\n", "\"MNEMONIC\":                  enc2080,\n", "'password': hunter2}", "\"secret\": value22\n}", `{\"password\": enc2080, \"x\": 1}`,
		// paths
		`X_PATH_PWD = "/etc"`, `X_PATH_PWD = /etc`, `X_PATH_PWD=/etc`, `PASSWORD_PATH="/run/secrets/db1"`, `db_password: /var/lib/pw1`, `secret_key = "certs/server1.pem"`, `secret_key: certs/server1.pem`, `password="$HOME/.config/pw1"`, `password = '~/.pw1'`,
	} {
		if found := Find(text); len(found) > 0 {
			t.Errorf("%s: %s", text, Mask(text))
		}
		raw, err := json.Marshal(map[string]string{"text": "x\n" + text})
		if err != nil {
			t.Fatal(err)
		}
		if got, found := MaskJSON(raw); len(found) > 0 {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

// TestNoReference has passwords that look much like expressions.
func TestNoReference(t *testing.T) {
	for _, text := range []string{
		`PASSWORD=hunter2(abc`, `PASSWORD=Secr3t(x)9`, `PASSWORD=hunter2[x]`, `PASSWORD=john.smith1980`, `password: john.smith1980`, `password = john.smith1980`, `password: red.blue.green7`, `PASSWORD=red.blue.green7`,
		`"password": hunter22`, `"token": †,`, `"password": "hunter22",`, `Server=x;Password=john.smith80;`, `token = a.b_c.†`, `token=†,`, `token = abc.†)`,
		`password = "/hunter22!"`, `PASSWORD=/Xk29fQ7z`, `PASSWORD=ab/hunter22`, `secret_key = "certs/†.pem"`, `{"password": "self.x22"}`, `https://x.test/?token=self.†`, `--password self.hunter22`, `password="a.b.c2d4"`,
	} {
		text = filled.Replace(text)
		if got := Mask(text); !strings.Contains(got, Redacted) {
			t.Errorf("nothing found in %s", text)
		}
	}
}

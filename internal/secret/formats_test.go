package secret

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// formats are credentials as their providers describe them, with <class count> for what
// is random: a letters and digits, s those and -_, b base64, h hexadecimal digits, u
// capitals and digits, l small letters and digits, d digits, U a UUID. They are written
// apart from the rules, and none is well formed as it stands here.
var formats = strings.Fields(`
	ghp_<a36> gho_<a36> ghu_<a36> ghs_<a36> ghr_<a36> github_pat_<a22>_<a59>
	glpat-<s20> gldt-<s20> glrt-<s20> glptt-<h40> GR1348941<s20> glpat-<s27>.01.<l9>
	AKIA<u16> ASIA<u16> ABSK<b108> LTAI<a20> AKID<a32> AKLT<a44> AIza<s35> GOCSPX-<s28> ya29.<s80> 1//0<s60>
	<a3>8Q~<a34> <b76>+ASt<b7>= <b80>AzCa<b4>= dop_v1_<h64> doo_v1_<h64> HRKU-<U1> fm2_<b60> nfp_<a36> dapi<h32> dapi<h32>-2 tskey-auth-<a12>-<a32>
	sk-ant-api03-<s93>AA sk-ant-oat01-<s93>AA sk-proj-<s74>T3BlbkFJ<s74> sk-<a20>T3BlbkFJ<a20> sk-or-v1-<h64> sk-<h32> gsk_<a52> xai-<a80> pplx-<a48> hf_<a34> r8_<a37> nvapi-<s64>
	lsv2_pt_<h32>_<h10> pcsk_<a6>_<a60> tgp_v1_<s43> fw_<a24> tvly-<a32> fc-<h32> jina_<h32><s27> pa-<s43> e2b_<h40> apify_api_<a36> csk-<l48> sk-lf-<U1> sk_<h48>
	xoxb-<d12>-<d13>-<a24> xoxp-<d12>-<d12>-<d12>-<h32> xapp-1-A<u10>-<d13>-<h64> xoxe.xoxp-1-<a146> xoxc-<d12>-<d12>-<d12>-<h64> hooks.slack.com/services/T<u10>/B<u10>/<a24>
	https://discord.com/api/webhooks/<d18>/<s68> <d10>:AA<s33> SK<h32> SG.<s22>.<s43> xkeysib-<h64>-<a16> key-<h32> <h32>-us21 mlsn.<h64> re_<a8>_<a24> EAAC<a120> https://oapi.dingtalk.com/robot/send?access_token=<h64>
	https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=<U1> https://open.feishu.cn/open-apis/bot/v2/hook/<U1> https://hooks.zapier.com/hooks/catch/<d7>/<l7>/ https://acme.webhook.office.com/webhookb2/<U1>@<U1>/IncomingWebhook/<h32>/<U1>
	sk_live_<a24> sk_test_<a99> rk_live_<a24> whsec_<a32> sq0atp-<s22> sq0csp-<s43> EAAA<s60> shpat_<h32> shpss_<h32> access-production-<U1> rzp_live_<a14> pdl_live_apikey_<l26>_<a22>_<a3> polar_oat_<a43> APP_USR-<d16>-<d6>-<h32>-<d9> duffel_live_<s43> shippo_live_<h40> live_<s40>
	NRAK-<u27> <h36>NRAL glsa_<a32>_<h8> glc_<b80> sntrys_<b90> sntryu_<h64> dt0c01.<u24>.<u64> hcaik_01<l56> sdk-<U1> phx_<a43>
	secret_<a43> ntn_<d11><a35> lin_api_<a40> figd_<s40> pat<a14>.<h64> pk_<d8>_<u32> pat-na1-<U1> tfp_<s44>_<a14> CFPAT-<s43> <U1>:fx ATATT3xFfGF0<s180>=<u8> ATBB<a32> ATTA<h72>
	npm_<a36> pypi-AgEIcHlwaS5vcmc<s120> rubygems_<h48> cio<a32> oy2<l43> CLOJARS_<l60> AKCp<a69> dckr_pat_<s27> CCIPAT_<a22>_<h40> bkua_<h40> squ_<h40> PMAK-<h24>-<h34> pul-<h40> <a14>.atlasv1.<s67> dbtc_<s46> sgp_<h40> rdme_<l70> pnu_<a36>
	hvs.<s95> hvb.<s150> dp.pt.<a43> dp.st.prd.<a43> ops_eyJ<b250> AGE-SECRET-KEY-1<u58> A3-<u6>-<u11>-<u5>-<u5>-<u5> sbp_<h40> sb_secret_<s31> pscale_tkn_<s43> pscale_pw_<s43> mdb_sa_sk_<s40> napi_<l64> sha256~<s43> MTA4<a20>.G<a5>.<s38>
`)

// TestFormats fills in the formats and looks for each where credentials are found.
func TestFormats(t *testing.T) {
	places := []string{
		"use ¶ for that, please", "KEY=¶\nREGION=eu\n", `{"value": "¶", "ok": true}`, "- x: '¶'", "[12:00:01] sent header ¶", "https://x.test/cb?k=¶&n=1", `{\"a\":\"¶\"}`, "id,value\n1,¶\n", "`¶`", "<a>¶</a>", "(¶)", "see ¶.",
	}
	r := rand.New(rand.NewPCG(7, 11))
	n, hit := 0, 0
	for _, f := range formats {
		missed := 0
		for _, place := range places {
			v := generate(r, f)
			masked := Mask(strings.Replace(place, "¶", v, 1))
			n++
			if v = v[max(0, len(v)-12):]; strings.Contains(masked, v) {
				missed++
			} else {
				hit++
			}
			if again := Find(masked); len(again) > 0 {
				t.Errorf("%s: found again: %v", f, again)
			}
		}
		if missed > 2 {
			t.Errorf("%s: %d of %d missed", f, missed, len(places))
		}
	}
	low, high := wilson(hit, n)
	t.Logf("%d formats, %d of %d masked whole: %.2f%% (%.2f–%.2f)", len(formats), hit, n, 100*float64(hit)/float64(n), 100*low, 100*high)
	if low < 0.98 {
		t.Errorf("too few")
	}
}

var alphabets = map[byte]string{
	'h': "0123456789abcdef", 'd': "0123456789", 'u': "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 'l': "abcdefghijklmnopqrstuvwxyz0123456789",
	'a': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
	's': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
	'b': "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
}

// generate fills a format in. The last of a run is never a separator.
func generate(r *rand.Rand, format string) string {
	random := func(alphabet string, n int) string {
		var b strings.Builder
		for i := range n {
			c := alphabet[r.IntN(len(alphabet))]
			for i == n-1 && strings.IndexByte("-_+/", c) >= 0 {
				c = alphabet[r.IntN(len(alphabet))]
			}
			b.WriteByte(c)
		}
		return b.String()
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(format, "<")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		class, after, _ := strings.Cut(rest, ">")
		n, _ := strconv.Atoi(class[1:])
		if format = after; class[0] == 'U' {
			hex := alphabets['h']
			b.WriteString(strings.Join([]string{random(hex, 8), random(hex, 4), random(hex, 4), random(hex, 4), random(hex, 12)}, "-"))
			continue
		}
		b.WriteString(random(alphabets[class[0]], n))
	}
}

package ssrf

import "testing"

func TestPlaceOf(t *testing.T) {
	for want, names := range map[place][]string{
		inHost:     {"host", "Host", "HOSTNAME", "host_name", "hostName", "db_host", "dbHost", "redisHost", "ip", "ipv4", "ip_address2", "proxy", "HTTP_PROXY", "httpsProxy", "brokers", "bootstrap_servers", "X-Forwarded-Host"},
		inURL:      {"url", "URL", "urls", "imageUrl", "imageURL", "image_url", "url2", "webhook", "webhook-url", "target_url", "data[url]"},
		inDSN:      {"dsn", "connection_string", "connectionString", "connStr", "DATABASE_DSN"},
		inLink:     {"uri", "baseUri", "href", "links"},
		inEndpoint: {"endpoint", "server", "servers", "remote_addr", "address", "callback", "hosts", "azureComputeHost"},
		inPlace:    {"target", "source", "redirect_to", "to"},
		inCommand:  {"command", "cmd", "args", "commandLine", "shell"},
		inPattern:  {"regex", "url_pattern", "hostPattern"},
		inText: {
			"", "text", "version", "hostility", "urlencoded", "url_id", "host_id", "cursor", "curl_output", "bind_address", "allowed_hosts", "mac_address",
			"emailAddress", "no_proxy", "noProxy", "wallet_address", "ghost", "zip", "description", "pipeline", "ship", "s", "a_very_long_name_that_nobody_would_give_to_url_or_anything",
		},
	} {
		for _, name := range names {
			if got := placeOf(name); got != want {
				t.Errorf("placeOf(%q) = %d, want %d", name, got, want)
			}
		}
	}
}

// Package ssrf finds the network addresses in a tool call's arguments and says
// which of them must not be reached: cloud metadata always, and by configuration
// private addresses, blocked domains, or all but some domains.
//
// A tool fetches what it is given, from where its server runs. What it fetches
// cannot be seen from here, so that two holes stay open: a name that changes its
// address after the check, and a redirect. For its own connections heddle checks the
// address that it connects to (package dial); this package checks what is written.
//
// # What is an address
//
// Every text is looked at: strings, members' names, and numbers where a number can
// be an address. What is one depends on where it stands (place.go):
//
//   - A text that is one URL is fetched, whatever its member is called.
//   - Members that are named for hosts or URLs (host, endpoint, proxy, dsn, webhook…)
//     may hold bare hosts. Elsewhere 127.0.0.1 is a text like any other.
//   - In a command URLs are fetched, and bare addresses behind a client (curl, ssh…).
//   - In other texts, links are found: in markdown, code, JSON in a string, also when
//     they are escaped or percent-encoded once.
//
// URLs are read as browsers read them and as RFC 3986 does. A reading that few
// programs share refuses only what is private by its spelling.
//
// # What is refused
//
// Metadata services, unless an allow_private_hosts list names the very address. A
// host that is not public, by its address, its name, or any address that its name has.
// A name that does not resolve, if it is to be fetched: nobody knows where it leads,
// so that fails closed. A link in a text may be dead: nobody promised to fetch it, and
// who controls a name's answers could as well give a public one first. Documentation
// addresses (203.0.113.1) are refused where they are written and not where a name
// resolves to them: nothing is there. file: and what else reads this machine, in a
// text that is one URL or in a command.
//
// A link to a private host in a document counts as well: what is rendered or unfurled
// is fetched, and nothing says which document is. A server that writes files of a
// project needs "localhost" in its allow_private_hosts.
//
// block_domains reaches wide: an entry is for the name and all below it, and
// wins over everything. allow_domains reaches narrow: "example.com" is that name,
// "*.example.com" what is below it. An allowed domain may still not lead to a private
// address; only allow_private_hosts lets that pass, and what it names needs no entry in
// allow_domains. Both apply to links in texts as well.
//
// Findings say where and which rule, never the value. Costs are bounded: scanning is
// linear, and a call may name so many hosts and no more. Start at [Guard.Check].
package ssrf

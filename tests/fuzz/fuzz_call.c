/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/str.h"
#include "env/calls.h"
#include "web/hosts.h"
#include "web/http.h"
#include "web/papers.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Fuzzes requests for web pages and papers. Takes the input as a file that an agent's tool leaves
 * for the owner. The text of the file is also taken as a URL and as a search. An allowed URL must
 * name the checked host to every reader. A search may only lead to the server for papers.
 */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define PLACES "example.org,*.sub.example.org,https://one.example.com:8443"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct http *http; /* kept for all inputs: opening it loads libcurl */

	unsetenv("SEMANTIC_SCHOLAR_API_URL");
	return http_open(&http, NULL);
}

static void must(bool good)
{
	if (!good)
		abort();
}

/* True if some program could take `host` for a URL's host, which follows after "://". */
static bool names_host(const char *url, const char *host)
{
	const char *at = strstr(url, "://");
	size_t n = strlen(host);

	return at && strncasecmp(at + 3, host, n) == 0 && strchr(":/?#", at[3 + n]) &&
			(at[3 + n] != ':' || isdigit((unsigned char)at[4 + n]) || at[4 + n] == '/');
}

static bool is_place(const struct http_url *url)
{
	if (str_eq(url->host, "one.example.com"))
		return str_eq(url->scheme, "https") && str_eq(url->port, "8443");
	return (str_eq(url->host, "example.org") || str_ends(url->host, ".sub.example.org")) &&
			str_eq(url->port, str_eq(url->scheme, "https") ? "443" : "80");
}

static void as_url(const char *text)
{
	struct http_url url, again;

	if (http_url_parse(text, &url, NULL) < 0)
		return;
	must(http_url_parse(url.whole, &again, NULL) == 0);
	must(str_eq(url.scheme, again.scheme) && str_eq(url.host, again.host) &&
			str_eq(url.port, again.port));
	if (hosts_allow(PLACES, url.scheme, url.host, url.port))
		must(is_place(&url) && names_host(url.whole, url.host));
	http_url_release(&url);
	http_url_release(&again);
}

static void as_search(const char *text)
{
	auto_buf struct buf url = BUF_INIT(1 << 16);
	struct http_url parts;

	papers_add_url(&url, text, PAPERS_MOST);
	must(http_url_parse(buf_str(&url), &parts, NULL) == 0);
	must(hosts_allow("papers", parts.scheme, parts.host, parts.port) &&
			str_eq(parts.host, "api.semanticscholar.org") &&
			str_ends(parts.whole, "&openAccessPdf") && !strpbrk(parts.whole, "# \r\n"));
	http_url_release(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf call = BUF_INIT(8192);
	char *id, *text;

	buf_add(&call, data, n);
	as_url(buf_str(&call));
	if (!call.len || !call_split(call.data, &id, &text))
		return 0;
	must(id > call.data && strlen(id) <= CALL_ID_MAX && text <= call.data + call.len);
	as_url(text);
	as_search(text);
	return 0;
}

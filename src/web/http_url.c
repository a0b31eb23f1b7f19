/* SPDX-License-Identifier: Apache-2.0 */
#include "web/http.h"

#include "base/mem.h"
#include "web/libcurl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Parse URLs by libcurl, because libcurl sends the requests. A second parser might read a URL
 * differently. */

static bool http_url_has(CURLU *parsed, CURLUPart part)
{
	char *text = NULL;
	bool has = libcurl.url_get(parsed, part, &text, 0) == CURLUE_OK;

	libcurl.free(text);
	return has;
}

/* Returns a heap copy of a part of a URL, in lower case except for the whole URL. "" if the URL
 * lacks the part. */
static char *http_url_part(CURLU *parsed, CURLUPart part)
{
	bool whole = part == CURLUPART_URL;
	char *text = NULL, *copy;

	if (libcurl.url_get(parsed, part, &text, whole ? 0 : CURLU_DEFAULT_PORT) != CURLUE_OK)
		return xstrdup("");
	copy = xstrdup(text);
	libcurl.free(text);
	for (char *s = copy; *s && !whole; s++)
		*s = (char)tolower((unsigned char)*s);
	return copy;
}

int http_url_parse(const char *url, struct http_url *out, struct fh_error *err)
{
	CURLU *parsed = libcurl.url();
	CURLUcode code = libcurl.url_set(parsed, CURLUPART_URL, url, 0);
	bool has_secret = http_url_has(parsed, CURLUPART_USER) ||
			http_url_has(parsed, CURLUPART_PASSWORD);
	bool is_http = strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;

	if (code == CURLUE_OK && is_http && !has_secret)
		*out = (struct http_url){
			.whole = http_url_part(parsed, CURLUPART_URL),
			.scheme = http_url_part(parsed, CURLUPART_SCHEME),
			.host = http_url_part(parsed, CURLUPART_HOST),
			.port = http_url_part(parsed, CURLUPART_PORT),
		};
	libcurl.url_cleanup(parsed);
	if (has_secret)
		return error_say(err, EINVAL,
				"a URL with a user or password in it is refused: leave them out");
	if (code != CURLUE_OK || !is_http)
		return error_say(err, EINVAL, "'%s' is not an http:// or https:// URL", url);
	return 0;
}

int http_check_url(const char *url, struct fh_error *err)
{
	struct http_url parts;
	int r = http_url_parse(url, &parts, err);

	if (r < 0)
		return r;
	http_url_release(&parts);
	return 0;
}

void http_url_release(struct http_url *url)
{
	free(url->whole);
	free(url->scheme);
	free(url->host);
	free(url->port);
}

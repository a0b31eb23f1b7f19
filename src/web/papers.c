/* SPDX-License-Identifier: Apache-2.0 */
#include "web/papers.h"

#include "base/json.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SERVER "https://api.semanticscholar.org"
#define PATH "/graph/v1/paper/search/bulk"
#define PAPERS_FIELDS "paperId,title,abstract,openAccessPdf"

const char *papers_key(void)
{
	const char *key = getenv("SEMANTIC_SCHOLAR_API_KEY");

	return key && *key ? key : NULL;
}

void papers_add_url(struct buf *out, const char *term, size_t most)
{
	const char *server = getenv("SEMANTIC_SCHOLAR_API_URL");

	if (!server || !*server)
		server = SERVER;
	buf_printf(out, "%.*s%s?query=", (int)(strlen(server) - str_ends(server, "/")), server,
			PATH);
	/* Percent-encode all characters of a query but the unreserved ones (RFC 3986, 2.1). */
	for (const char *s = term; *s; s++) {
		if (isalnum((unsigned char)*s) || strchr("-._~", *s))
			buf_add_char(out, *s);
		else
			buf_printf(out, "%%%02X", (unsigned char)*s);
	}
	buf_printf(out, "&fields=%s&limit=%zu&openAccessPdf", PAPERS_FIELDS, most);
}

static void papers_copy(json_t *to, const char *as, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);

	json_object_set(to, as, json_is_string(value) ? value : json_null());
}

int papers_add_lines(
		struct buf *out, const char *answer, size_t n, size_t most, struct fh_error *err)
{
	auto_json json_t *whole = NULL;
	json_t *data = NULL, *paper;
	size_t i;
	int r = json_parse("the answer", answer, n, &whole, err);

	if (r < 0)
		return r;
	r = json_get_array(whole, "data", JSON_REQUIRED, &data, err);
	if (r < 0)
		return r;
	json_array_foreach(data, i, paper) {
		auto_json json_t *line = json_object();

		if (i == most)
			break;
		papers_copy(line, "paperId", paper, "paperId");
		papers_copy(line, "title", paper, "title");
		papers_copy(line, "abstract", paper, "abstract");
		papers_copy(line, "pdf_url", json_object_get(paper, "openAccessPdf"), "url");
		json_add(out, line, false);
		buf_add_char(out, '\n');
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_PAPERS_H
#define WEB_PAPERS_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

/*
 * Semantic Scholar's bulk search for papers, https://api.semanticscholar.org/api-docs/graph: GET
 * /graph/v1/paper/search/bulk?query=&fields=&limit=&openAccessPdf, which finds papers with a PDF.
 * The answer is {"total", "token", "data": [{"paperId", "title", "abstract", "openAccessPdf":
 * {"url"}}]}.
 *
 * SEMANTIC_SCHOLAR_API_URL names another server with the same interface, SEMANTIC_SCHOLAR_API_KEY a
 * key. Without a key, few requests are answered.
 */

#define PAPERS_MOST 100

void papers_add_url(struct buf *out, const char *term, size_t most);
/* API key for the search of papers, from the environment; NULL: none */
const char *papers_key(void);

/* Appends the first `most` papers of the server's answer. Each paper is a line of JSON with
 * paperId, title, abstract and pdf_url. -EINVAL: the answer is malformed. */
int papers_add_lines(
		struct buf *out, const char *answer, size_t n, size_t most, struct fh_error *err);

#endif

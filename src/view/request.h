/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_REQUEST_H
#define VIEW_REQUEST_H

#include "python/pyjson.h"
#include "view/library.h"
#include "view/record_parts.h"
#include "view/stream.h"

#include <stdbool.h>

struct takeover;

/* A request of the page, and its answer, for the files that answer requests. */

#define PAGE_VALUE_BYTES 512
#define PAGE_JSON "application/json; charset=utf-8"
#define PAGE_ANSWER_BYTES_MAX (600L << 20)

struct page_request {
	const char *path;          /* without the token: "", "app.js", "api/runs" */
	const char *query;         /* the part behind "?": "run=ID&step=1" */
	bool whole;                /* long texts are not cut */
	struct takeover *takeover; /* mailbox of the run that serves the page; NULL: none */
};

struct page_answer {
	int status; /* HTTP status */
	const char *mime;
	struct buf text;
	struct stream *stream; /* events that follow the text; NULL: none */
};

struct page {
	struct library *library;
	const struct page_request *request;
	struct page_answer *answer;
	struct pyjson_writer json;
	struct library_run *run;
};

/* Gives the value of the argument "name=" in `value`. NULL: the query lacks it, or it is too long,
 * or has wrong escapes. */
const char *page_argument(const struct page *p, const char *name, char value[PAGE_VALUE_BYTES]);

/* Reads a number that is not negative. False: the argument is missing or wrong. */
bool page_number(const struct page *p, const char *name, int64_t *out);

/* Replaces the answer by a refusal in JSON. `why` needs no escapes. */
void page_refuse(struct page *p, int status, const char *why);

/* Finds the run that the request names. False: there is none, and the request is refused. */
bool page_find_run(struct page *p);

/* Parses a part of the run's record. NULL: it can't be read. `text` then has its bytes, if any. */
const struct pyjson *page_read(const struct page *p, struct arena *a, int64_t begin, int64_t end,
		struct buf *text);

/* Puts a number; null if it is not finite. */
void page_put_real(struct pyjson_writer *w, const char *key, double v);

/* Writes n bytes as a JSON string. Bytes that are not UTF-8 become \xNN. */
void page_put_bytes(struct pyjson_writer *w, const char *key, const char *s, size_t n);

/* Puts the beginning of a text and its whole length, or all of it if the request asks for that. */
void page_put_cut(struct page *p, const char *key, struct run_text t);

#endif

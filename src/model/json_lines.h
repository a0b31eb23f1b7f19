/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_JSON_LINES_H
#define MODEL_JSON_LINES_H

#include "python/pyjson.h"

#define JSON_LINES_BYTES_MAX (64L * 1024 * 1024)

/* Takes a line's value, which lives as long as the call. `path` is for pyjson_complain(). */
typedef int json_lines_take(
		void *data, const char *path, const struct pyjson *value, struct fh_error *err);

/* Reads a file of JSON lines; empty lines don't count. -EINVAL with "FILE:LINE:COLUMN: ..."; whatever else take()
 * gives ends it. */
int json_lines_read(const char *path, json_lines_take *take, void *data, struct fh_error *err);

/* The string, of at most `most` bytes; complains of what is none, or holds what no text can. `what` it is: "an
 * action". */
int json_lines_text(const char *path, const struct pyjson *value, const char *what, size_t most,
		const char **out, struct fh_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_JSON_LINES_H
#define MODEL_JSON_LINES_H

#include "python/pyjson.h"

#define JSON_LINES_BYTES_MAX (64L * 1024 * 1024)

/* Callback for the JSON value of one line of a file. The value is valid during the call. `path`
 * is the file's path, for pyjson_complain(). */
typedef int json_lines_take(
		void *data, const char *path, const struct pyjson *value, struct fh_error *err);

/* Reads a file with a JSON value on each line. Calls take() for each value until take() fails.
 * Blank lines are skipped. -EINVAL with "FILE:LINE:COLUMN: ..." for wrong JSON. */
int json_lines_read(const char *path, json_lines_take *take, void *data, struct fh_error *err);

/* Gives the string in a JSON value. -EINVAL: it is not a string, is longer than `most`
 * bytes, or holds a NUL or half a surrogate pair. Errors call the value `what`: "an action". */
int json_lines_text(const char *path, const struct pyjson *value, const char *what, size_t most,
		const char **out, struct fh_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json_text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * JSON: jansson's values, with our errors and our way of writing. Only this header includes
 * jansson.h.
 *
 *   auto_json json_t *message = NULL;
 *   r = json_parse("request", line, n, &message, err);
 *   r = json_get_str(message, "op", JSON_REQUIRED, &op, err);
 */
static inline void scope_json(json_t **value)
{
	json_decref(*value);
}

#define auto_json __attribute__((cleanup(scope_json)))

/* Parses `text`, which must be one JSON value. -EINVAL with "<what>:<line>:<column>: <why>". */
int json_parse(const char *what, const char *text, size_t n, json_t **out, struct fh_error *err);

enum json_presence { JSON_REQUIRED, JSON_OPTIONAL };

/*
 * Read a member of an object. If a required member is missing or null, they fail. If an optional
 * member is missing or null, *out is unchanged. They also fail if the member has another type or is
 * a string with a NUL byte. The returned strings and values belong to the object. All failures are
 * -EINVAL.
 */
int json_get_str(const json_t *object, const char *key, enum json_presence presence,
		const char **out, struct fh_error *err);
int json_get_bool(const json_t *object, const char *key, enum json_presence presence, bool *out,
		struct fh_error *err);
int json_get_array(const json_t *object, const char *key, enum json_presence presence, json_t **out,
		struct fh_error *err);

/* Makes a JSON string from any bytes: bytes that are not UTF-8 become the text \xNN. NULL becomes
 * null. */
json_t *json_text(const char *s);

/* Appends the value as JSON on one line without blanks. Numbers are written as in Python: 1.0,
 * 1e-07. With `ascii`, characters outside of ASCII become \uNNNN. */
void json_add(struct buf *out, json_t *value, bool ascii);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * JSON: jansson's values, with our errors and our way of writing. This header is the one that
 * includes jansson.h.
 *
 *   auto_json json_t *message = NULL;
 *   r = json_parse("request", line, n, &message, err);
 *   r = json_get_i64(message, "seed", JSON_OPTIONAL, &seed, err);
 */
static inline void scope_json(json_t **value)
{
	json_decref(*value);
}

#define auto_json __attribute__((cleanup(scope_json)))

/* One value and nothing after it. The error is "<what>:<line>:<column>: <why>". -EINVAL. */
int json_parse(const char *what, const char *text, size_t n, json_t **out, struct fh_error *err);

enum json_presence { JSON_REQUIRED, JSON_OPTIONAL };

/*
 * Members of an object. A member that is missing or null is an error where it is required, and
 * leaves *out as it was where it is optional; one of another kind is always an error. Strings and
 * values belong to the object. A string with a NUL in it is refused. -EINVAL.
 */
int json_get_str(const json_t *object, const char *key, enum json_presence presence,
		const char **out, struct fh_error *err);
int json_get_i64(const json_t *object, const char *key, enum json_presence presence, int64_t *out,
		struct fh_error *err);
int json_get_double(const json_t *object, const char *key, enum json_presence presence, double *out,
		struct fh_error *err);
int json_get_bool(const json_t *object, const char *key, enum json_presence presence, bool *out,
		struct fh_error *err);
int json_get_object(const json_t *object, const char *key, enum json_presence presence,
		json_t **out, struct fh_error *err);
int json_get_array(const json_t *object, const char *key, enum json_presence presence, json_t **out,
		struct fh_error *err);

/* A string of any bytes: what is no UTF-8 becomes \xNN, so that it can't fail. NULL gives null. */
json_t *json_text(const char *s);

/* Of a string as json_add() writes it in ASCII, without its quotes. NULL has none. */
size_t json_text_bytes(const char *s);

/*
 * Appends the value on one line without blanks. Numbers come as Python writes them: the shortest
 * digits, 1.0, 1e-07. `ascii`: what is not ASCII becomes \uNNNN.
 */
void json_add(struct buf *out, json_t *value, bool ascii);

#endif

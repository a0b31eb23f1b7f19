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

/* Parses a text that is one value. -EINVAL with "<what>:<line>:<column>: <why>". */
int json_parse(const char *what, const char *text, size_t n, json_t **out, struct fh_error *err);

enum json_presence { JSON_REQUIRED, JSON_OPTIONAL };

/*
 * Read a member of an object. A missing or null member is an error if it is required; if it is
 * optional, *out stays. A member of another kind is an error, and so is a string with a NUL.
 * Strings and values belong to the object. -EINVAL.
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

/* A string value of any bytes: \xNN replaces bytes that are no UTF-8. NULL gives null. */
json_t *json_text(const char *s);

/* Appends the value on one line without blanks. Numbers are as Python writes them: 1.0, 1e-07.
 * With `ascii` other characters become \uNNNN. */
void json_add(struct buf *out, json_t *value, bool ascii);

#endif

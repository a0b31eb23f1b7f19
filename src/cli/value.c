/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/value.h"

#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int value_refuse(
		const struct spotted *s, const char *text, const char *wanted, struct fh_error *err)
{
	return error_say(err, EINVAL, "%s wants %s, not '%s'", s->word, wanted, text);
}

static int value_set_int(
		const struct spotted *s, const char *text, int *field, struct fh_error *err)
{
	const struct cmd_option *o = s->option;
	int64_t low = o->min || o->max ? o->min : INT32_MIN;
	int64_t high = o->min || o->max ? o->max : INT32_MAX;
	char wanted[96];
	int64_t v;

	if (str_to_i64(text, &v) && v >= low && v <= high) {
		*field = (int)v;
		return 0;
	}
	snprintf(wanted, sizeof(wanted), "a whole number from %lld to %lld", (long long)low,
			(long long)high);
	return value_refuse(s, text, wanted, err);
}

static int value_set_uint64(
		const struct spotted *s, const char *text, uint64_t *field, struct fh_error *err)
{
	uint64_t high = s->option->max ? (uint64_t)s->option->max : UINT64_MAX;
	char wanted[96], *end;

	errno = 0;
	if (*text >= '0' && *text <= '9') {
		unsigned long long v = strtoull(text, &end, 10);

		if (!*end && !errno && v <= high) {
			*field = v;
			return 0;
		}
	}
	snprintf(wanted, sizeof(wanted), "a whole number from 0 to %" PRIu64, high);
	return value_refuse(s, text, wanted, err);
}

static int value_set_number(
		const struct spotted *s, const char *text, double *field, struct fh_error *err)
{
	const struct cmd_option *o = s->option;
	double low = o->least > 0 ? o->least : (double)o->min, high = (double)o->max, v;
	bool any = !low && !high;
	char wanted[96];

	if (str_to_double(text, &v) &&
			(any || (v >= low && v <= high) || (o->least > 0 && v == 0))) {
		*field = v;
		return 0;
	}
	if (any)
		return value_refuse(s, text, "a number", err);
	snprintf(wanted, sizeof(wanted), "a number from %.10g to %.10g%s", low, high,
			o->least > 0 ? ", or 0 for no limit" : "");
	return value_refuse(s, text, wanted, err);
}

static int value_set_bytes(
		const struct spotted *s, const char *text, int64_t *field, struct fh_error *err)
{
	int64_t min = s->option->min, v;
	char wanted[128];

	if (str_to_bytes(text, &v) && (!v || v >= min)) {
		*field = v;
		return 0;
	}
	snprintf(wanted, sizeof(wanted),
			"a size such as 512M or 2G, of less than 8 EiB and at least %" PRIi64
			"K, or 0 for no limit",
			min >> 10);
	return value_refuse(s, text, wanted, err);
}

int value_find_choice(const struct spotted *s, const char *text, int *out, struct fh_error *err)
{
	auto_buf struct buf wanted = BUF_INIT(256);
	int found = str_index(text, s->option->choices);

	if (found >= 0) {
		*out = found;
		return 0;
	}
	for (int i = 0; s->option->choices[i]; i++)
		buf_printf(&wanted, "%s %s", i ? "," : "one of", s->option->choices[i]);
	if (s->option->why)
		return error_say(err, EINVAL, "%s wants %s, not '%s': %s", s->word,
				buf_str(&wanted), text, s->option->why);
	return value_refuse(s, text, buf_str(&wanted), err);
}

int value_set(const struct spotted *s, const char *text, struct fh_error *err)
{
	void *field = (char *)s->base + s->option->offset;
	int64_t ms;

	switch (s->option->kind) {
	case OPTION_PATH:
	case OPTION_TEXT:
		if (!*text && s->option->kind == OPTION_PATH)
			return value_refuse(s, text, "a path", err);
		*(const char **)field = text;
		return 0;
	case OPTION_INT:
		return value_set_int(s, text, field, err);
	case OPTION_UINT64:
		return value_set_uint64(s, text, field, err);
	case OPTION_NUMBER:
		return value_set_number(s, text, field, err);
	case OPTION_SECONDS:
		if (!str_to_ms(text, &ms) || ms < 0)
			return value_refuse(s, text,
					"a time such as 25, 2.5s, 300ms or 5m; the shortest is 1ms",
					err);
		*(double *)field = (double)ms / 1000;
		return 0;
	case OPTION_BYTES:
		return value_set_bytes(s, text, field, err);
	case OPTION_CHOICE:
		return value_find_choice(s, text, field, err);
	case OPTION_LIST:
	case OPTION_REPEAT:
	case OPTION_FLAG:
	case OPTION_NOTED:
	case OPTION_REFUSED:
	case OPTION_END:
		break;
	}
	return error_say(err, EINVAL, "%s takes no value", s->word);
}

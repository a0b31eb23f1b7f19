/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "report/inspect_inside.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Small values of an Inspect log. */

void inspect_id(char id[INSPECT_ID_BYTES], ...)
{
	char hex[SHA256_HEX_BYTES];
	struct sha256 h;
	const char *text;
	va_list ap;

	sha256_init(&h);
	va_start(ap, id);
	while ((text = va_arg(ap, const char *)))
		sha256_add_str(&h, text);
	va_end(ap);
	sha256_end_hex(&h, hex);
	memcpy(id, hex, INSPECT_ID_BYTES - 1);
	id[INSPECT_ID_BYTES - 1] = 0;
}

const char *inspect_date(char text[64], double seconds, char separator)
{
	double whole = floor(seconds);
	time_t t = (time_t)whole;
	struct tm tm = { 0 };

	gmtime_r(&t, &tm);
	if (separator == ':')
		snprintf(text, 64, "%04d-%02d-%02dT%02d:%02d:%02d.%06d+00:00", tm.tm_year + 1900,
				tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
				(int)((seconds - whole) * 1e6));
	else
		snprintf(text, 64, "%04d-%02d-%02dT%02d-%02d-%02d+00-00", tm.tm_year + 1900,
				tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	return text;
}

void inspect_put_time(struct pyjson_writer *w, const char *key, double seconds)
{
	char text[64];

	/* the years 1970 to 9999 */
	if (seconds >= 0 && seconds < 253402300800.0)
		pyjson_put_text(w, key, inspect_date(text, seconds, ':'));
}

void inspect_put_number(struct pyjson_writer *w, const char *key, double value)
{
	if (isfinite(value))
		pyjson_put_double(w, key, value);
}

static double inspect_count(int64_t n)
{
	return n < 0 ? NAN : (double)n;
}

struct dump_usage inspect_usage(const struct run_row *row)
{
	return (struct dump_usage){ .cost = row->cost,
		.sent = inspect_count(row->tokens_sent),
		.received = inspect_count(row->tokens_received),
		.calls = inspect_count(row->calls) };
}

void inspect_put_tokens(struct pyjson_writer *w, const char *key, const struct dump_usage *used)
{
	if (!(used->sent + used->received > 0))
		return;
	pyjson_put_object(w, key);
	pyjson_put_i64(w, "input_tokens", (int64_t)used->sent);
	pyjson_put_i64(w, "output_tokens", (int64_t)used->received);
	pyjson_put_i64(w, "total_tokens", (int64_t)(used->sent + used->received));
	inspect_put_number(w, "total_cost", used->cost);
	pyjson_end_object(w);
}

void inspect_put_usage(struct pyjson_writer *w, const char *model, const struct dump_usage *used)
{
	pyjson_put_object(w, "model_usage");
	inspect_put_tokens(w, model, used);
	pyjson_end_object(w);
}

/* --- tools ------------------------------------------------------------------------------------ */

void inspect_put_call(struct pyjson_writer *w, const struct pyjson *call)
{
	const struct pyjson *function = pyjson_get(call, "function");
	const char *text = pyjson_text(pyjson_get(function, "arguments"));
	const struct pyjson_source source = {
		.name = "arguments", .data = text, .n = strlen(text)
	};
	auto_arena struct arena arena = ARENA_INIT;
	const struct pyjson *arguments = NULL;
	struct fh_error err = { 0 };

	pyjson_put_text(w, "id", pyjson_text(pyjson_get(call, "id")));
	pyjson_put_text(w, "function", pyjson_text(pyjson_get(function, "name")));
	if (pyjson_read(&arena, &source, &arguments, &err) == 0 &&
			arguments->kind == PYJSON_OBJECT) {
		pyjson_put_value(w, "arguments", arguments);
		return;
	}
	pyjson_put_object(w, "arguments");
	pyjson_put_text(w, "text", text);
	pyjson_end_object(w);
}

void inspect_put_calls(struct pyjson_writer *w, const char *key, const struct pyjson *calls)
{
	if (!calls)
		return;
	pyjson_put_array(w, key);
	for (const struct pyjson *v = calls->first; v; v = v->next) {
		pyjson_put_object(w, NULL);
		inspect_put_call(w, v);
		pyjson_put_text(w, "type", "function");
		pyjson_end_object(w);
	}
	pyjson_end_array(w);
}

void inspect_put_tools(struct pyjson_writer *w, const char *key, const struct pyjson *tools)
{
	pyjson_put_array(w, key);
	for (const struct pyjson *v = tools ? tools->first : NULL; v; v = v->next) {
		const struct pyjson *function = pyjson_get(v, "function");

		if (function)
			pyjson_put_value(w, NULL, function);
	}
	pyjson_end_array(w);
}

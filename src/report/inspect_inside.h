/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_INSPECT_INSIDE_H
#define REPORT_INSPECT_INSIDE_H

#include "base/sha256.h"
#include "report/formats.h"

/* For the writers of an Inspect log. A run is a sample of it, and has the number of an epoch. */

#define INSPECT_ID_BYTES 23 /* bytes of an id with its NUL: Inspect's own have 22 letters */

struct inspect_sample {
	const struct dump_run *run;
	const char *model; /* as Inspect names it: "openai/gpt-4o" */
	int epoch;
	double begin_s; /* seconds since 1970 */
	char id[INSPECT_ID_BYTES];
};

/* Writes the file of a sample, and its line in the list of samples. */
void inspect_put_sample(struct buf *out, const struct inspect_sample *s);
void inspect_put_summary(struct pyjson_writer *w, const struct inspect_sample *s);

/* Writes tokens and dollars. Writes nothing if no tokens were counted. */
void inspect_put_tokens(struct pyjson_writer *w, const char *key, const struct dump_usage *used);
/* Writes tokens and dollars as an object, "model_usage": {"<model>": {...}}. */
void inspect_put_usage(struct pyjson_writer *w, const char *model, const struct dump_usage *used);
struct dump_usage inspect_usage(const struct run_row *row);

/* Writes seconds since 1970 as a date. If the separator is not a colon, it is a part of a file's
 * name. */
const char *inspect_date(char text[64], double seconds, char separator);
/* Seconds since 1970 as an ISO date with the time zone. NAN: nothing is written. */
void inspect_put_time(struct pyjson_writer *w, const char *key, double seconds);
void inspect_put_number(struct pyjson_writer *w, const char *key, double value);

/* Write tool calls, the members of a call, and the list of tools, in Inspect's form. Records have a
 * call's arguments as a JSON text, Inspect as an object. NULL: writes nothing, or an empty list. */
void inspect_put_calls(struct pyjson_writer *w, const char *key, const struct pyjson *calls);
void inspect_put_call(struct pyjson_writer *w, const struct pyjson *call);
void inspect_put_tools(struct pyjson_writer *w, const char *key, const struct pyjson *tools);

/* Makes an id of texts, ended by NULL, so that the same runs have the same ids. */
void inspect_id(char id[INSPECT_ID_BYTES], ...) __attribute__((sentinel));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_TRANSCRIPT_H
#define CMD_TRANSCRIPT_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * A step for people: thought, action, output and result. The texts are untrusted, so their control
 * characters are escaped.
 */
struct transcript_step {
	const char *thought, *action, *output; /* NULL: none */
	double duration_s;                     /* negative: not known */
	int exit_code;                         /* -1: none */
	const char *outcome;                   /* NULL: not known */
	const char *score;                     /* "accuracy 0.81"; NULL: not scored */
	const char *refused;                   /* reason why there is no score; NULL */
	const char *integrity;                 /* signs of tampering; NULL */
};

struct transcript_style {
	bool colours;
	bool full;          /* otherwise long texts lose their middle */
	const char *indent; /* before each line; NULL: nothing */
};

/* Thought and action. */
void transcript_add_turn(
		struct buf *out, struct transcript_style style, const struct transcript_step *step);

/* Output, exit code, time, score. */
void transcript_add_result(
		struct buf *out, struct transcript_style style, const struct transcript_step *step);

/* Adds a text. `first` is put before its first line, and `next` before the others. */
void transcript_add_text(struct buf *out, struct transcript_style style, const char *text,
		const char *first, const char *next);

#endif

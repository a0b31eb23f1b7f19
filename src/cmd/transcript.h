/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_TRANSCRIPT_H
#define CMD_TRANSCRIPT_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * A step as people read it: the thought, the action, the output, and how it went. Texts come from a sandbox or a
 * model, so that control characters in them are escaped.
 */
struct transcript_step {
	const char *thought, *action, *output; /* NULL: none */
	double duration_s;                     /* negative: not known */
	int exit_code;                         /* -1: none */
	const char *outcome;                   /* NULL: not known */
	const char *score;                     /* "accuracy 0.81"; NULL: not scored */
	const char *refused;                   /* why a validate or submit gave no score; NULL */
	const char *integrity;                 /* what was seen of tampering; NULL */
};

struct transcript_style {
	bool colours;
	bool full;          /* else long texts lose their middle */
	const char *indent; /* before each line; NULL: nothing */
};

/* Thought and action. */
void transcript_add_turn(
		struct buf *out, struct transcript_style style, const struct transcript_step *step);

/* Output, exit code, time, score. */
void transcript_add_result(
		struct buf *out, struct transcript_style style, const struct transcript_step *step);

/* A text of several lines; `first` and `next` stand before its first line and the others. */
void transcript_add_text(struct buf *out, struct transcript_style style, const char *text,
		const char *first, const char *next);

#endif

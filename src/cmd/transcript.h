/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_TRANSCRIPT_H
#define CMD_TRANSCRIPT_H

#include "agent/conversation.h"
#include "base/buf.h"

#include <stdbool.h>

/*
 * A step for people: thought, action, output and result. All texts are untrusted, so control
 * characters are escaped.
 */
struct transcript_step {
	const char *thought, *action, *output; /* texts of the step; NULL: none */
	double duration_s;                     /* duration of the step; negative: unknown */
	int exit_code;                         /* exit code of the action; -1: none */
	const char *outcome;                   /* name of the step's outcome; NULL: unknown */
	const char *score;                     /* scores, "accuracy 0.81"; NULL: not scored */
	const char *refused;   /* reason why a submission got no score; NULL: none */
	const char *integrity; /* signs of tampering with the grader; NULL: none */
};

struct transcript_style {
	bool colours;
	bool full;          /* show long texts completely, not only start and end */
	const char *indent; /* text to print before each line; NULL: none */
};

/* Appends the thought and the action of a step. */
void transcript_add_turn(
		struct buf *out, struct transcript_style style, const struct transcript_step *step);

/* Appends output, exit code, time and score of a step. */
void transcript_add_result(
		struct buf *out, struct transcript_style style, const struct transcript_step *step);

/* Appends a reply of a model that led to no step, and the complaint about it. */
void transcript_add_rejection(struct buf *out, struct transcript_style style,
		const struct conversation_verdict *verdict);

/* Appends a text, with `first` before its first line and `next` before all others. */
void transcript_add_text(struct buf *out, struct transcript_style style, const char *text,
		const char *first, const char *next);

#endif

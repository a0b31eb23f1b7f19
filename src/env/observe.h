/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_OBSERVE_H
#define ENV_OBSERVE_H

#include "base/buf.h"
#include "grade/grade.h"
#include "shell/session.h"
#include "task/task.h"

/*
 * Writes the text that an agent reads. Clients find sentences in it by regular expressions, so
 * these stay as they are: "valid submission artefact at PATH.", "Baseline Score: {...}",
 * "Evaluation Score: {...}" and "Exited (...)".
 */

/* Returns the first observation of an episode (heap). */
char *observe_welcome(const struct task *task, int max_steps, const struct score *baseline);

/* Adds a note of Fumehood (printf() format) to an observation, on a line of its own. */
void observe_note(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Adds a command's output as agents see it. `folded` is scratch space with a cap of its own. False:
 * output is missing, because memory or a buffer's room ran out.
 */
bool observe_output(struct buf *out, struct buf *folded, const struct task *task,
		const struct buf *output);

/* Data for observe_end(), which adds notes about how a command ended. */
struct observe_end {
	const struct task *task;
	const struct session_result *result;
	int64_t timeout_ms;  /* timeout of the command that has ended */
	size_t output_bytes; /* most bytes of output that are kept */
	bool cancelled;
};

void observe_end(struct buf *out, const struct observe_end *end);

void observe_grade(struct buf *out, const struct grade_result *result, const char *submission,
		const struct score *baseline);

/*
 * Appends output as MLGym shows it: without empty lines, progress bars and the last newline. Lines
 * end as for Python's str.splitlines().
 */
void observe_mlgym_output(struct buf *out, const char *text, size_t n);

#endif

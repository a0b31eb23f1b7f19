/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_EXPORT_H
#define TRAJECTORY_EXPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "trajectory/traj.h"

/* Makes MLGym's files from the events of a run. The run may have been killed. */

#define EXPORT_EVENTS "events.jsonl"
#define EXPORT_RESULTS "results.json"
#define STEPS_MAX 1000000 /* most steps that a run may have */
#define EXPORT_EVENTS_BYTES_MAX (1024L * 1024 * 1024)

/* A reply that led to no step. */
struct export_fault {
	const struct pyjson *event;
	size_t step; /* number of steps before it */
};

/* A run as read from the events in its events.jsonl. */
struct exported {
	struct traj *traj;
	const struct pyjson *baseline; /* the task's baseline score; lives as long as `traj` */
	/* both scores of a task that scores the end by other answers (`final`); NULL: no such
	 * task */
	const struct pyjson *final;
	/* the caller's own numbers, and the policy's training step; NULL: none */
	const struct pyjson *numbers, *policy_step;
	const struct pyjson *open, *reset; /* events "open" and "reset"; reset is NULL if missing */
	const struct pyjson *const *told;  /* the reset event, then the event of each step */
	/* for each of `told`, the last event `spent` before it; NULL: none */
	const struct pyjson *const *paid;
	const double *model_s; /* for each of `told`, seconds of the model's replies before it */
	size_t n_told;
	const struct export_fault *faults;
	size_t n_faults;
	/* number of messages in traj->history; 0: the history was made from the steps */
	size_t n_messages;
	/* number of steps that a replay plays: a last step that an error ended does not count */
	size_t n_played;
	/* true: the episode ended by itself, so it was not killed, stopped or broken by an error */
	bool over;
	char *traj_name; /* file name of the .traj, a heap string */
};

/* Reads <dir>/events.jsonl. Ignores an incomplete last line. -EINVAL with "<path>:<line>:<column>:
 * <why>" if the file is not an event log. */
int export_read(const char *dir, struct exported *out, struct fh_error *err);

/* Parses n bytes of `data`, the text of an events.jsonl, as export_read() does. `name` stands for
 * the file in error messages. */
int export_parse(const char *name, const char *data, size_t n, struct exported *out,
		struct fh_error *err);

void export_release(struct exported *e);

/* Seconds since 1970 of a time, "2026-01-31T12:00:00.123Z". NAN: another text, or NULL. */
double export_time(const char *text);

/* True for the event of a step that a person took in the model's place, or as the model. */
static inline bool export_by_person(const struct pyjson *step)
{
	return str_eq(pyjson_string(pyjson_get(step, "by")), "person");
}

/* Member of model_stats: true if the calls cost nothing, because the model's price is 0. */
#define EXPORT_FREE "is_free"

static inline bool export_is_free(const struct pyjson *model_stats)
{
	const struct pyjson *free = pyjson_get(model_stats, EXPORT_FREE);

	return free && free->kind == PYJSON_BOOL && free->boolean;
}

/* True for an event `fault` whose reply could be parsed, but whose command is blocked. */
static inline bool export_is_blocked(const struct pyjson *fault)
{
	return str_eq(pyjson_string(pyjson_get(fault, "kind")), "blocked");
}

/* Appends the text and the tool calls of the reply in an event `fault`. */
void export_add_reply(struct buf *out, const struct pyjson *fault);

#endif

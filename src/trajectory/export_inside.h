/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_EXPORT_INSIDE_H
#define TRAJECTORY_EXPORT_INSIDE_H

#include "trajectory/export.h"

/* export_events.c reads the events of a run, and export.c makes MLGym's record of them. */

struct export_score {
	int64_t step;
	const struct pyjson *metrics;
};

/* State while the events of a run are read from its events.jsonl. */
struct export_reading {
	const char *path;
	struct traj *traj;
	struct arena *arena; /* arena of `traj`, for all strings and values that are read */
	const struct pyjson *open, *end;
	const struct pyjson **told; /* the reset event, then the event of each step in `traj` */
	const struct pyjson *spent; /* last event that tells what the model has cost */
	const struct pyjson **paid; /* for each of `told`, the last event `spent` before it */
	double time;                /* time of the last event */
	double gap;                 /* seconds between the last event and the one before */
	double replying;            /* seconds of the model's replies since the last of `told` */
	double *model_s; /* for each of `told`, seconds of the model's replies before it */
	bool foreign;    /* a program plays as the agent, and its calls tell their seconds */
	struct export_score *scores;
	/* n_scores: number of scores in the events; messages: number of message events */
	size_t n_scores, messages;
	struct export_fault *faults;
	size_t n_faults;
};

/* Reads the lines of an events.jsonl, without an incomplete last one. */
int export_read_lines(
		struct export_reading *r, const char *at, const char *end, struct fh_error *err);

/* Returns the event of the last step, or of the reset if there was no step. NULL before the
 * reset. */
const struct pyjson *export_last_told(const struct export_reading *r);

/* Returns the agent's state before the current step, as MLGym's state command would print it. */
const struct pyjson *export_state_text(struct export_reading *r);

/* Returns the string member `key` of an event, or `otherwise` if the event has no such string. */
const struct pyjson *export_text_of(
		const struct pyjson *event, const char *key, const struct pyjson *otherwise);

const struct pyjson *export_agent_name(struct export_reading *r);
const struct pyjson *export_text(struct export_reading *r, const char *s);
extern const struct pyjson export_zero;

/* Append an empty step or message to the record. */
struct traj_step *export_add_step(struct export_reading *r);
struct traj_message *export_add_message(struct export_reading *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_LIVE_H
#define TRAJECTORY_LIVE_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * live.json in a run's folder: the step that is being taken, because events.jsonl gets a step only
 * at its end. The first line is a JSON object. The second is a string with its SHA-256. The file is
 * overwritten in place without a lock, so a reader may see a mix of two texts.
 *
 * A run makes the file when two looks have seen the same step, so quick steps cost nothing. It is
 * never synced. The end of the record removes it. After a kill it stays, so readers check with
 * event_log_is_open() whether the run goes on.
 */
#define LIVE_FILE "live.json"

/* Time between two looks of a run at its episodes. */
#define LIVE_LOOK_MS 250

/* Most bytes of the output that the file has: the last whole lines. */
#define LIVE_OUTPUT_BYTES 8192
#define LIVE_TEXT_BYTES 16384 /* most bytes of the thought and of the action */
/* Most bytes of the file. A byte takes at most six bytes in JSON. */
#define LIVE_BYTES_MAX (6 * (2 * LIVE_TEXT_BYTES + LIVE_OUTPUT_BYTES) + 1024)

enum live_phase {
	LIVE_NONE,
	LIVE_MODEL,   /* the model decides on its next action */
	LIVE_PERSON,  /* the episode waits for a person's action */
	LIVE_STEP,    /* the action runs */
	LIVE_GRADING, /* a submission is scored */
};

/* Name of a phase in the file: "step". NULL: LIVE_NONE. */
const char *live_phase_name(enum live_phase phase);

struct live_now {
	enum live_phase phase;
	int step;                     /* number of the step that is taken, or decided on */
	const char *thought, *action; /* texts of a running step; NULL: none */
	size_t printed;               /* bytes that the action's command has printed so far */
};

struct live;

/* Makes no file yet. `dir` is the run's folder. */
struct live *live_new(const char *dir);

/* Stores the run's phase. Returns true if the phase has not changed since the last call, but the
 * file shows another. Call live_write() then. */
bool live_look(struct live *l, const struct live_now *now);

/* Writes the file. `output`: last lines of UTF-8 that the command printed. NULL: unchanged. After a
 * failed write nothing more is written. The run goes on. */
void live_write(struct live *l, const struct live_now *now, const struct buf *output);

/* Removes the file. */
void live_free(struct live *l); /* NULL is fine */

/* Removes the file that a killed run left in its folder. */
void live_forget(const char *dir);

/* Reads the object in the live.json beside this events.jsonl. Returns false if there is none, or if
 * it changes too fast. The text is untrusted. */
bool live_read(const char *events, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_VIEW_H
#define CMD_RUN_VIEW_H

#include "cmd/run_player.h"

/*
 * What `fumehood run` shows while it goes on, on stderr: on a terminal a line for each episode that
 * goes on, as many as there is room for, drawn again in place; elsewhere a line when one begins and ends. Text from a sandbox
 * can't steer the terminal.
 */
enum run_verbosity { RUN_QUIET, RUN_NORMAL, RUN_VERBOSE };

struct run_view {
	enum run_verbosity verbosity;
	bool live;
	bool colours;
	struct run_players players; /* several: each line says which */
	int drawn;                  /* lines that are on the screen now */
	int64_t drawn_ns;           /* when */
	struct buf above;           /* lines to go above them at the next drawing */
	const struct episode *episodes;
	size_t n;
};

/* How often a live view wants to be drawn while nothing happens. */
#define RUN_VIEW_INTERVAL_MS 200

void run_view_init(struct run_view *v, enum run_verbosity verbosity, bool live,
		const struct episode *episodes, size_t n);
void run_view_release(struct run_view *v); /* takes away what is drawn */

void run_view_began(struct run_view *v, const struct episode *e);
void run_view_stepped(struct run_view *v, const struct episode *e);
/* The plan's `played`, whose user is the view: output of the step, and why it went as it did. */
void run_view_played(void *view, const struct episode *e, const struct fh_step *step);
void run_view_found(struct run_view *v, const struct episode *e); /* what was there already */
void run_view_ended(struct run_view *v, const struct episode *e);
void run_view_say(struct run_view *v, const char *sentence);

/* struct log_options.write of a log that goes above what is drawn; context is the view. */
void run_view_log(void *view, const char *record, size_t n);

/* Draws if something changed or the interval is over; cheap otherwise. */
void run_view_draw(struct run_view *v, bool now);

#endif

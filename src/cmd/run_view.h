/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_VIEW_H
#define CMD_RUN_VIEW_H

#include "cmd/run_player.h"

/*
 * Shows the progress of a run on stderr. A terminal has a line for each running episode, as many as
 * fit, which are redrawn. Otherwise a line is printed when an episode begins or ends. Texts from
 * sandboxes are escaped.
 */
enum run_verbosity { RUN_QUIET, RUN_NORMAL, RUN_VERBOSE };

struct run_view {
	enum run_verbosity verbosity;
	bool live;
	bool colours;
	struct run_players players; /* named in each line if there are several */
	int drawn;                  /* lines on the screen */
	int64_t drawn_ns;           /* time of the last drawing */
	struct buf above;           /* lines to print above them at the next drawing */
	const struct episode *episodes;
	size_t n;
};

/* Time between drawings without events. */
#define RUN_VIEW_INTERVAL_MS 200

void run_view_init(struct run_view *v, enum run_verbosity verbosity, bool live,
		const struct episode *episodes, size_t n);
void run_view_release(struct run_view *v); /* removes the drawn lines */

void run_view_began(struct run_view *v, const struct episode *e);
void run_view_stepped(struct run_view *v, const struct episode *e);
/* struct run_play.played, with the view as user: shows output and result of a step. */
void run_view_played(void *view, const struct episode *e, const struct fh_step *step);
void run_view_found(struct run_view *v, const struct episode *e); /* a record that existed */
void run_view_ended(struct run_view *v, const struct episode *e);
void run_view_say(struct run_view *v, const char *sentence);

/* struct log_options.write, with the view as context: prints the log above the drawn lines. */
void run_view_log(void *view, const char *record, size_t n);

/* Draws if a line waits, the interval has passed, or `now`. */
void run_view_draw(struct run_view *v, bool now);

#endif

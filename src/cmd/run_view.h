/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_VIEW_H
#define CMD_RUN_VIEW_H

#include "cmd/run_models.h"

/*
 * Progress of a run on stderr. On a terminal, each running episode has a line that is redrawn, as
 * far as lines fit. Elsewhere a line is printed when an episode begins or ends. Texts from
 * sandboxes are escaped.
 */

enum run_verbosity { RUN_QUIET, RUN_NORMAL, RUN_VERBOSE };

struct run_view {
	enum run_verbosity verbosity;
	bool live;
	bool colours;
	struct run_models models; /* each line names its model if there are several */
	int drawn;                /* number of redrawn lines on the screen */
	int64_t drawn_ns;         /* clock_now_ns() of the last drawing */
	struct buf above;         /* lines to print above the redrawn ones at the next drawing */
	const struct episode *episodes;
	size_t n;
};

/* Milliseconds between drawings while nothing happens. */
#define RUN_VIEW_INTERVAL_MS 200

void run_view_init(struct run_view *v, enum run_verbosity verbosity, bool live,
		const struct episode *episodes, size_t n);
void run_view_release(struct run_view *v); /* removes the drawn lines from the screen */

void run_view_began(struct run_view *v, const struct episode *e);
void run_view_stepped(struct run_view *v, const struct episode *e);
/* Shows output and result of a step. A callback for run_play.played; `view` is the struct
 * run_view. */
void run_view_played(void *view, const struct episode *e, const struct fh_step *step);
/* Shows a reply of a model that led to no step. */
void run_view_rejected(struct run_view *v, const struct conversation_verdict *verdict);
/* Shows an episode that an earlier run had finished. */
void run_view_found(struct run_view *v, const struct episode *e);
void run_view_ended(struct run_view *v, const struct episode *e);
void run_view_say(struct run_view *v, const char *sentence);

/* Prints a log line above the redrawn lines. A callback for log_options.write; `view` is the
 * struct run_view. */
void run_view_log(void *view, const char *line, size_t n);

/* Redraws the lines of progress if `above` has lines, or `now` is set. Also redraws them if
 * RUN_VIEW_INTERVAL_MS has passed since the last drawing. */
void run_view_draw(struct run_view *v, bool now);

#endif

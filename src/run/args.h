/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_ARGS_H
#define RUN_ARGS_H

#include "run/episode_plan.h"
#include "trajectory/args_yaml.h"
#include "trajectory/run_dir.h"

/* Values for args.yaml, the file that records the arguments of a run. */
struct run_asked {
	const struct episode_plan *plan;
	const struct run_name *name;
	/* the run's language model; NULL: none plays, but for example a baseline */
	const struct chat_model *chat;
	int max_steps;
	const int *gpus; /* GPUs of the episode; NULL: not chosen yet */
	size_t n_gpus;
};

/* Appends the text of args.yaml. API keys are left out. ARGS_HIDDEN replaces secrets in the URL and
 * in the fields of requests. */
void run_args_add(struct buf *out, const struct run_asked *asked);
int run_args_write(const char *dir, const struct run_asked *asked, struct fh_error *err);

/* Returns a model's URL as args.yaml shows it: ARGS_HIDDEN replaces the query, which may hold a
 * key. */
const char *run_args_shown_url(struct arena *a, const char *url);

/* Returns true if ARGS_HIDDEN or the mark of a hidden API key replaces a part of the text. */
bool run_args_is_hidden(const char *text);

#endif

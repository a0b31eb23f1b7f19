/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_ARGS_H
#define RUN_ARGS_H

#include "run/episode_plan.h"
#include "trajectory/args_yaml.h"
#include "trajectory/run_dir.h"

/* Arguments of a run, for args.yaml. */
struct run_asked {
	const struct episode_plan *plan;
	const struct run_name *name;
	const struct chat_model *chat; /* NULL: no language model plays */
	int max_steps;
	const int *gpus; /* NULL: not known yet which */
	size_t n_gpus;
};

/* Adds args.yaml. Keys are left out. ARGS_HIDDEN replaces secrets in the URL and in the fields of
 * requests. */
void run_args_add(struct buf *out, const struct run_asked *asked);
int run_args_write(const char *dir, const struct run_asked *asked, struct fh_error *err);

/* The URL as args.yaml shows it: without a query, which may hold a key. */
const char *run_args_shown_url(struct arena *a, const char *url);

/* Whether a part of the text was hidden. */
bool run_args_is_hidden(const char *text);

#endif

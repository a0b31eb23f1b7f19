/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_DUMP_H
#define REPORT_DUMP_H

#include "report/row.h"
#include "trajectory/export.h"

/*
 * A recorded run with its texts, for `fumehood export`. It is read whole, so that memory is bounded
 * by the largest run. NAN means: the record does not tell.
 */

struct dump_usage {
	double cost, sent, received, calls; /* dollars, tokens, calls of the model */
};

struct dump_step {
	const struct traj_step *texts;
	const struct pyjson *event;  /* event of the step, or a turn; NULL: a record of MLGym's */
	const struct pyjson *scores; /* metrics of a scored step, or its score; NULL: not scored */
	double score, best;          /* in the deciding metric: of this step; best so far */
	double begin_s, end_s;       /* seconds since 1970 */
	double duration_s;
	double model_s; /* seconds in which the model made its replies for the step */
	struct dump_usage used;
};

struct dump_run {
	const struct run_row *row;
	/* texts of the run; NULL: there is only a results.json. Our record has a last step more
	 * than `steps` if the limit of steps ended it. */
	const struct traj *traj;
	const struct pyjson *open;  /* event `open`; NULL: a record of MLGym's */
	const struct pyjson *turns; /* turns of a policy's episode; NULL: another record */
	struct dump_step *steps;
	size_t n_steps;
	struct exported events; /* owns the values, if the record is an events.jsonl */
	struct traj *file;      /* owns the values, if the record is a .traj */
	struct arena arena;
};

int dump_run_read(const struct run_row *row, struct dump_run *out, struct fh_error *err);
void dump_run_release(struct dump_run *run);

#endif

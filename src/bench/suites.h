/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SUITES_H
#define BENCH_SUITES_H

#include "bench/figure.h"

/* All suites: the table of bench.c. */

/* --- episode.c -------------------------------------------------------------------------------- */
int suite_reset(struct bench *b, struct fh_error *err); /* figures reset, observation, teardown */
/* Figures step, step_one_cpu, step_two_cpus. */
int suite_step(struct bench *b, struct fh_error *err);
int suite_validate(struct bench *b, struct fh_error *err); /* figure validate_csv */

/* --- alive.c ---------------------------------------------------------------------------------- */
/* Figures reset@N, step@N, burst@N, memory@N, fds@N, with N episodes alive. */
int suite_alive(struct bench *b, struct fh_error *err);

/* --- soak.c ----------------------------------------------------------------------------------- */
/* Figures sustained, soak, soak_memory and so on. */
int suite_soak(struct bench *b, struct fh_error *err);

/* --- agent.c ---------------------------------------------------------------------------------- */
int suite_tools(struct bench *b, struct fh_error *err); /* figures aci_open, edit_python */
/* Figures agent_prompt, agent_call, agent_act, agent_step. */
int suite_agent(struct bench *b, struct fh_error *err);

/* --- simulators.c ----------------------------------------------------------------------------- */
int suite_simulators(
		struct bench *b, struct fh_error *err); /* figures sim_car, sim_maze and so on */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_SUITES_H
#define BENCH_SUITES_H

#include "bench/figure.h"

/* All suites of `fumehood bench`, for the table in bench.c. */

/* --- episode.c -------------------------------------------------------------------------------- */
/* Measures the figures reset, observation, teardown. */
int suite_reset(struct bench *b, struct fh_error *err);
/* Measures the figures step, step_one_cpu, step_two_cpus. */
int suite_step(struct bench *b, struct fh_error *err);
int suite_validate(struct bench *b, struct fh_error *err); /* measures the figure validate_csv */

/* --- alive.c ---------------------------------------------------------------------------------- */
/* Measures the figures reset@N, step@N, burst@N, memory@N, fds@N, with N episodes alive. */
int suite_alive(struct bench *b, struct fh_error *err);

/* --- soak.c ----------------------------------------------------------------------------------- */
/* Measures the figures sustained, soak, soak_memory, soak_fds, soak_mounts, soak_groups. */
int suite_soak(struct bench *b, struct fh_error *err);

/* --- agent.c ---------------------------------------------------------------------------------- */
/* Measures the figures aci_open, edit_python. */
int suite_tools(struct bench *b, struct fh_error *err);
/* Measures the figures agent_prompt, agent_call, agent_act, agent_step. */
int suite_agent(struct bench *b, struct fh_error *err);

/* --- tasks.c ---------------------------------------------------------------------------------- */
/* Measures the figures reset:TASK and memory:TASK. */
int suite_tasks(struct bench *b, struct fh_error *err);

/* --- simulators.c ----------------------------------------------------------------------------- */
/* Measures the figures sim_car, sim_car_gymnasium, sim_breakout, sim_maze. */
int suite_simulators(struct bench *b, struct fh_error *err);

#endif

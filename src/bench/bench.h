/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/error.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * `fumehood bench`: suites measure figures. A figure has samples of Fumehood, and most have samples
 * of a bare program, the floor. Both are taken in turns, so that other load on the machine slows
 * both.
 */
#define BENCH_TASK "titanicSurvival:micro"
#define BENCH_FIGURES_MAX 64
#define BENCH_ALIVE_MAX 10

#define RESET_MOST 0.8 /* goal of several suites: p50 below this many times its floor */

struct samples {
	double *values;
	size_t n;
};

struct figure {
	char name[32];
	const char *unit;           /* "us" (microseconds), "bytes", "" for a number of things */
	struct samples ours, floor; /* samples of Fumehood and of the floor, which may have none */
	double most;                /* goal: p50 below this value; 0: none */
	double most_ratio;          /* goal: p50 below this many times that of `against`; 0: none */
	double most_over;           /* goal: p50 less than this above that of the floor; 0: none */
	const struct figure *against; /* figure to compare with; NULL: the floor */
	bool counts_own; /* counts what belongs to this process, so that others can't change it */
	char doubt[64];  /* why the samples tell nothing, and no number is shown; "": they do */
};

struct bench {
	int n;                      /* number of samples of each figure */
	int alive[BENCH_ALIVE_MAX]; /* numbers of episodes to keep alive, rising */
	size_t n_alive;
	struct figure figures[BENCH_FIGURES_MAX];
	size_t n_figures;
};

/* --- bench.c ---------------------------------------------------------------------------------- */
/* Adds a figure. The name is made from `format`. The returned pointer stays valid. */
struct figure *bench_figure(struct bench *b, const char *unit, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

void samples_add(struct samples *s, double value);

/* Number of rounds in which a suite takes its samples. bench_batch() is the number of samples in a
 * round. bench_go_on() gives -EINTR when the user wants to stop. */
#define BENCH_ROUNDS 5
int bench_batch(const struct bench *b);
int bench_go_on(struct fh_error *err);

/* --- floor.c ---------------------------------------------------------------------------------- */
/* Starts the program at the path argv[0]. *out_fd is a pipe with its output, which is open even
 * after a failure. */
int floor_spawn(const char *const *argv, int *out_fd, pid_t *out_pid, struct fh_error *err);

/* Runs the program build/bench/NAME and adds its n samples. NULL ends `args`. */
int floor_run(const char *name, int n, const char *const *args, struct samples *out,
		struct fh_error *err);

/* --- episode.c -------------------------------------------------------------------------------- */
double bench_us_since(int64_t began_ns);

/* A gym and an environment whose episode has just begun. */
struct bench_env {
	struct fh_gym *gym;
	struct fh_env *env;
};

#define auto_bench_env __attribute__((cleanup(bench_close)))
int bench_open(struct bench_env *out, struct fh_error *err);
void bench_close(struct bench_env *env);

/* Opens an environment and begins an episode. */
int bench_start(struct fh_gym *gym, struct fh_env **out, struct fh_error *err);

/* Times of one episode, in microseconds. */
struct life {
	double observed; /* from opening the environment to the first observation */
	double answered; /* from opening the environment to the result of the first command */
	double ended;    /* from closing the environment to the end of its last process */
};

/* Plays one short episode and takes its times. Rests before it, as the floor does, so that the end
 * of the previous episode does not slow it. */
int bench_live(struct fh_gym *gym, struct life *out, struct fh_error *err);

/* Runs a command n times, each as a blocking step. Adds the microseconds of each to `out`, if it is
 * not NULL. */
int bench_steps(struct fh_env *env, const char *command, int n, struct samples *out,
		struct fh_error *err);

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

/* --- proc.c ----------------------------------------------------------------------------------- */
/* Lists the PIDs 1 of the sandboxes of the last opened gym, oldest first. Heap array. */
size_t proc_sandboxes(pid_t **out);

/* Bytes of memory of a sandbox's processes. Shared pages count in parts. NAN if this user may not
 * read one of the processes. */
double proc_memory_bytes(pid_t init);

/* Bytes of memory that the kernel uses for itself and for files in memory. */
double proc_kernel_bytes(void);

/* Bytes of memory of this process, its nursery and all sandboxes, as far as this user may read
 * them. The functions below give NAN if /proc does not tell. */
double proc_own_bytes(void);
double proc_descriptors(void); /* number of open descriptors of this process */
double proc_mounts(void);      /* number of mounts that the nursery sees */
double proc_groups(void); /* number of control groups of the machine, with those being removed */

/* Waits until the kernel should have removed ended sandboxes. */
void proc_settle(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/error.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * `fumehood bench`: figures, and the suites that measure them. A suite takes its samples in rounds:
 * a batch of the floor's, then a batch of ours. Other load on the machine so slows both.
 */
#define BENCH_TASK "titanic:micro"
#define BENCH_FIGURES_MAX 64
#define BENCH_ALIVE_MAX 10

#define RESET_MOST 0.8 /* goal of several suites: how many times its floor */

struct samples {
	double *values;
	size_t n, size;
};

struct figure {
	char name[32];
	const char *unit;             /* "us", "bytes", "" for a number of things */
	struct samples ours, floor;   /* no samples of a floor: it has none */
	double most;                  /* goal: p50 below this; 0: none */
	double most_ratio;            /* goal: p50 below this many times `against`; 0: none */
	double most_over;             /* goal: p50 below its floor and this; 0: none */
	const struct figure *against; /* NULL: the floor */
	bool busy;                    /* not judged: other processes used the CPUs meanwhile */
};

struct bench {
	int n;                      /* samples of a figure */
	int alive[BENCH_ALIVE_MAX]; /* numbers of episodes, rising */
	size_t n_alive;
	struct figure figures[BENCH_FIGURES_MAX];
	size_t n_figures;
};

/* --- bench.c ---------------------------------------------------------------------------------- */
/* Adds a figure of that name. It keeps its address. */
struct figure *bench_figure(struct bench *b, const char *unit, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

void samples_add(struct samples *s, double value);

/* Rounds, and the samples of a figure in each. -EINTR when the user wants to stop. */
#define BENCH_ROUNDS 5
int bench_batch(const struct bench *b);
int bench_go_on(struct fh_error *err);

/* --- floor.c ---------------------------------------------------------------------------------- */
/* Starts argv[0], a path. *out_fd reads its output, and is open after a failure too. */
int floor_spawn(const char *const *argv, int *out_fd, pid_t *out_pid, struct fh_error *err);

/* Runs the bare program build/bench/floor_NAME and adds its samples. args ends with NULL. */
int floor_run(const char *name, int n, const char *const *args, struct samples *out,
		struct fh_error *err);

/* --- episode.c -------------------------------------------------------------------------------- */
double bench_us_since(int64_t began_ns);

/* A gym and an environment with a fresh episode. */
struct bench_env {
	struct fh_gym *gym;
	struct fh_env *env;
};

#define auto_bench_env __attribute__((cleanup(bench_close)))
int bench_open(struct bench_env *out, struct fh_error *err);
void bench_close(struct bench_env *env);

/* Opens an environment with a fresh episode. */
int bench_start(struct fh_gym *gym, struct fh_env **out, struct fh_error *err);

/* The life of one episode, in microseconds. */
struct life {
	double observed; /* until its first observation */
	double answered; /* until its first command was answered */
	double ended;    /* from closing it until its last process was gone */
};

/* Rests first, as the floor does, so that the end of the last life does not slow this one. */
int bench_live(struct fh_gym *gym, struct life *out, struct fh_error *err);

/* Runs a command n times, in steps of the blocking form. Adds their times in us, unless out is
 * NULL. */
int bench_steps(struct fh_env *env, const char *command, int n, struct samples *out,
		struct fh_error *err);

int suite_reset(struct bench *b, struct fh_error *err);    /* reset, observation, teardown */
int suite_step(struct bench *b, struct fh_error *err);     /* step, step_one_cpu, step_two_cpus */
int suite_validate(struct bench *b, struct fh_error *err); /* validate_csv */

/* --- alive.c ---------------------------------------------------------------------------------- */
/* reset@N, step@N, burst@N, memory@N, fds@N */
int suite_alive(struct bench *b, struct fh_error *err);

/* --- soak.c ----------------------------------------------------------------------------------- */
int suite_soak(struct bench *b, struct fh_error *err); /* sustained, soak and resources that grow */

/* --- agent.c ---------------------------------------------------------------------------------- */
int suite_tools(struct bench *b, struct fh_error *err); /* aci_open, edit_python */
int suite_agent(struct bench *b, struct fh_error *err); /* agent_prompt, _call, _act, _step */

/* --- proc.c ----------------------------------------------------------------------------------- */
/* PIDs 1 of the sandboxes of the gym that was opened last, oldest first; heap array. */
size_t proc_sandboxes(pid_t **out);

/* Memory of a sandbox's processes, with their shares of common pages. NAN if this user may not read
 * one of them. */
double proc_memory_bytes(pid_t init);

/* Memory of the kernel itself, and of files in memory. */
double proc_kernel_bytes(void);

/* Memory of this process, its nursery and all sandboxes, as far as this user may read it. The other
 * functions give NAN if /proc does not tell. */
double proc_own_bytes(void);
double proc_descriptors(void); /* this process' own */
double proc_mounts(void);      /* the nursery's */
double proc_groups(void);      /* control groups of the machine, and those under removal */

/* Waits a little: the kernel removes ended sandboxes later. */
void proc_settle(void);

#endif

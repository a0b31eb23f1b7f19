/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_ENV_H
#define FUMEHOOD_ENV_H

#include <fumehood/error.h>
#include <fumehood/metric.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Environments: an agent's task as an episode of steps.
 *
 * A `fh_gym` owns everything that a process' environments share: the nursery their sandboxes come
 * from, tasks loaded so far, baselines. A process opens one; a fork of it can't use it, only close
 * it. An `fh_env` is one environment, used by one thread at a time; different threads may use
 * different environments of one gym.
 *
 *   struct fh_error err = FH_ERROR_INIT;
 *   struct fh_gym *gym;
 *   struct fh_env *env;
 *   struct fh_step step;
 *
 *   fh_gym_open(NULL, &gym, &err);
 *   fh_env_open(gym, &(struct fh_env_options){ .task = "titanic:micro" }, &env, &err);
 *   fh_env_reset(env, 0, &step, &err);
 *   fh_env_step(env, &(struct fh_action){ .text = "ls" }, &step, &err);
 *   puts(step.observation);
 *   fh_env_close(env);
 *   fh_gym_close(gym);
 *
 * Reset and step have a pollable form too, so that one thread can drive a thousand environments:
 * begin some, then fh_gym_wait() gives those that are done. docs/env.md says what happens in an
 * episode. /
 */

struct fh_gym;
struct fh_env;

struct fh_gym_options {
	const char *tasks_dir;  /* more tasks, looked up first; NULL: none */
	const char *state_dir;  /* baselines, data, keys; NULL: $FUMEHOOD_STATE or the user's own */
	const char *mlgym_root; /* a checkout of MLGym, whose tasks come first; NULL: none */

	/* So many GPUs of NVIDIA's are the gym's until it is closed, and no other gym's on this
	 * machine: the first that are free of those with these numbers (2 is /dev/nvidia2), or of
	 * all (NULL). -EBUSY with who has them. */
	size_t n_gpus;
	const int *gpu_numbers;
	size_t n_gpu_numbers;
};

/* options may be NULL, and need not stay. A task's files are read when it is first opened, and
 * taken as they were then for as long as the gym is open. */
FH_PUBLIC int fh_gym_open(
		const struct fh_gym_options *options, struct fh_gym **out, struct fh_error *err);
FH_PUBLIC void fh_gym_close(struct fh_gym *gym); /* after its environments; NULL is fine */

/* No episode that is reset from now on sees this folder, though it may lie where agents see
 * everything (/usr, /opt): for records, say. Tasks and the state are hidden anyway. Fine for one
 * that is not there. */
FH_PUBLIC int fh_gym_hide(struct fh_gym *gym, const char *folder, struct fh_error *err);

/* What this machine can't enforce though it was asked for; NULL when there is nothing. */
FH_PUBLIC const char *fh_gym_warning(const struct fh_gym *gym);

enum fh_reward_kind {
	FH_REWARD_DELTA,       /* score minus the score before (the baseline at first) */
	FH_REWARD_IMPROVEMENT, /* score minus the baseline */
	FH_REWARD_NONE,        /* 0 */
};                             /* turned so that more is better; 0 in steps that were not scored */

struct fh_bind {
	const char *source; /* absolute path here, mounted read-only */
	const char *target; /* absolute path inside; NULL: the same */
};

#define FH_JUDGE_SALT_MAX ((1ULL << 53) - 1) /* a whole number in any JSON reader */

struct fh_env_options {
	const char *task;    /* "T" or "T:VARIANT" */
	const char *variant; /* NULL: of `task`, else the task's default */
	enum fh_reward_kind reward;
	int max_steps; /* 0: the task's own (50) */
	bool memory; /* carry the agent's memory from episode to episode, in the task's memory_path */
	/* What it begins as instead, if this is there, which is no symbolic link; NULL: nothing
	 * else. */
	const char *memory_file;
	const struct fh_bind *binds;
	size_t n_binds;
	/* A folder with a Python environment, which is first on the agent's and its graders' PATH,
	 * and lies at its own place; in tasks of MLGym's also where their scripts look. What its
	 * interpreter belongs to is shown, too. NULL: none. With ":rw" behind its path the agent
	 * can write to it, by `pip install` say: an episode's own, which ends with it. Graders have
	 * it as it is on this machine. */
	const char *python;
	/* What literature_search and parse_pdf_url may ask, through this process: hosts with commas
	 * between, "papers" for those of papers (docs/tools.md). NULL: nothing. */
	const char *web_hosts;
	/* What judges' random numbers follow from beside the seed: 0, something new for each
	 * episode, which its reset tells; otherwise at most FH_JUDGE_SALT_MAX, for one that was
	 * recorded to be scored the same. */
	uint64_t judge_salt;
	/* Bytes, as JSON in ASCII has them, of its actions, what is recorded beside them and its
	 * observations, all together: the step that passes it is the last one. 0: no limit, for who
	 * records nothing. */
	int64_t max_text_bytes;
	size_t n_gpus; /* of the gym's, which are this environment's until it is closed; 0: none */
};

/* Loads the task, makes its data and plays and scores its baseline if that was never done on this
 * machine, which can take the task's own time (another process that does it already is waited for).
 * Options need not stay. Any thread may call it, also for an environment of the pollable form: it
 * blocks, and a thread of its own keeps a loop from waiting. */
FH_PUBLIC int fh_env_open(struct fh_gym *gym, const struct fh_env_options *options,
		struct fh_env **out, struct fh_error *err);
/* Ends the episode; NULL is fine. It waits for nothing, unless an agent's memory is to be kept: for
 * one of an episode that goes on it waits until that is read, for seconds if the agent is in the
 * way. */
FH_PUBLIC void fh_env_close(struct fh_env *env);

enum fh_outcome {
	FH_OUTCOME_OK,
	FH_OUTCOME_TIMEOUT,
	FH_OUTCOME_OUTPUT_LIMIT,
	FH_OUTCOME_SHELL_RESTARTED,
	FH_OUTCOME_MEMORY_LIMIT,
	FH_OUTCOME_MALFORMED_EDIT, /* an `edit N:M` without end_of_edit: not run */
	FH_OUTCOME_SYNTAX_ERROR,   /* does not parse as a shell command: not run */
	FH_OUTCOME_SANDBOX_GONE,   /* the episode can't go on */
	FH_OUTCOME_INTERRUPTED,    /* by fh_env_interrupt(): its command or its scoring was cut */
};

/* "ok", "timeout", ...: the words of the event log and of the command line. */
FH_PUBLIC const char *fh_outcome_name(enum fh_outcome outcome);

#define FH_ACTION_BYTES_MAX (1 << 20)
#define FH_TIMEOUT_S_MIN 0.001

struct fh_action {
	const char *text; /* at most FH_ACTION_BYTES_MAX: a shell command, or lines of them */
	double timeout_s; /* at least FH_TIMEOUT_S_MIN; 0: the task's own (25 s, or training_timeout for a training command) */
	int64_t beside_bytes; /* of what the caller records beside it, for max_text_bytes */
};

/*
 * What reset and step give. Everything it points to belongs to the environment and lives until its
 * next reset, step or close. Numbers that this machine can't give are negative (usage) or absent.
 */
struct fh_step {
	const char *observation; /* UTF-8 */
	double reward;
	bool terminated; /* the episode is over by what was done */
	bool truncated;  /* the episode is over by max_steps, max_text_bytes or its time */

	/* info */
	int step;      /* number of this step, 1 for the first; 0 after reset */
	int exit_code; /* of the command; -1: none */
	enum fh_outcome outcome;
	double duration_s;
	double cpu_s;              /* of this step; -1: not known */
	int64_t memory_peak_bytes; /* of the episode, but for its last 1 ms of CPU time; -1 */
	int64_t written_bytes;     /* growth of the episode's files so far; -1 */
	const char *open_file;     /* "n/a": none */
	const char *working_dir;
	const char *tools_state; /* the JSON object that the agent's state command printed; NULL: none */
	const struct fh_metric *score; /* of this step's validate or submit; NULL: not scored */
	size_t n_score;
	const struct fh_metric *baseline;
	size_t n_baseline;
	const struct fh_metric *best; /* of this episode; NULL: none yet */
	size_t n_best;
	const char *grade_error; /* why a validate or submit gave no score, for people; NULL */
	const char *integrity;   /* what was seen of tampering in this step; NULL */
	const char *state_error; /* the agent's state_command hangs: said when it begins to, and is given up; NULL */
	const char *exit_status; /* "submitted", ...; NULL while the episode goes on */
	uint64_t judge_salt;     /* of the episode, given by its reset; 0 in steps */
	bool restarted;          /* the shell ended in this step, and a new one runs in its files */
};

/* A fresh episode; the one before it ends. When it fails, there is no episode. */
FH_PUBLIC int fh_env_reset(
		struct fh_env *env, uint64_t seed, struct fh_step *out, struct fh_error *err);

/* -EPROTO before a reset or after the end of the episode; -E2BIG, -EINVAL for an action that can't
 * be: nothing has happened then. What goes wrong in the sandbox is an outcome, not an error. */
FH_PUBLIC int fh_env_step(struct fh_env *env, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err);

/* As the agent's own `validate` and `submit` commands, and steps as these are. */
FH_PUBLIC int fh_env_validate(struct fh_env *env, struct fh_step *out, struct fh_error *err);
FH_PUBLIC int fh_env_submit(struct fh_env *env, struct fh_step *out, struct fh_error *err);

/*
 * The pollable form. After a begin, fh_gym_fd() becomes readable when something can be done;
 * fh_gym_wait() does it and gives at most max environments whose reset or step is over (0 when
 * timeout_ms ran out or a signal came; -1 waits for ever); then fh_env_end() gives the result. All
 * environments of a gym that are used in this form belong to one thread, which alone begins, waits,
 * ends and closes. A begin never waits, not even for a nursery of sandboxes that was killed: the
 * reset ends later then, and the steps of others go on. /
 */
FH_PUBLIC int fh_env_reset_begin(struct fh_env *env, uint64_t seed, struct fh_error *err);
FH_PUBLIC int fh_env_step_begin(
		struct fh_env *env, const struct fh_action *action, struct fh_error *err);
FH_PUBLIC int fh_gym_fd(struct fh_gym *gym);
FH_PUBLIC int fh_gym_wait(struct fh_gym *gym, int timeout_ms, struct fh_env **out_done, size_t max,
		struct fh_error *err);

/* -EBUSY while it is not over yet. */
FH_PUBLIC int fh_env_end(struct fh_env *env, struct fh_step *out, struct fh_error *err);

/* Ends the command or the scoring that runs, as its timeout would; in the blocking form within a
 * fifth of a second. Any thread may call it, and a signal handler. */
FH_PUBLIC void fh_env_interrupt(struct fh_env *env);

/* What is fixed for an environment. Strings live as long as it. */
struct fh_env_info {
	const char *task;        /* id, without the variant */
	const char *variant;     /* "" when the task has none */
	const char *name;        /* for people */
	const char *description; /* what the agent is told */
	const char *metric;      /* name of the metric that decides */
	bool maximize;
	const char *submission; /* absolute path inside of the file that is graded */
	int max_steps;
	double training_timeout_s;
	const char *task_hash;   /* of all its files, hexadecimal */
	const char *fingerprint; /* of the root that its episodes see, hexadecimal */
	const struct fh_metric *baseline;
	size_t n_baseline;
	const int *gpus; /* that are its own: 2 is /dev/nvidia2 */
	size_t n_gpus;
};

/* A sentence about what may go wrong in its episodes, or NULL. Lives as long as the environment. */
FH_PUBLIC const char *fh_env_warning(const struct fh_env *env);

FH_PUBLIC void fh_env_info(const struct fh_env *env, struct fh_env_info *out);

#endif

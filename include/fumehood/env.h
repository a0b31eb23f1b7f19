/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_ENV_H
#define FUMEHOOD_ENV_H

#include <fumehood/error.h>
#include <fumehood/gym.h>
#include <fumehood/interrupter.h>
#include <fumehood/metric.h>
#include <fumehood/version.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Environments: an agent's task as an episode of steps.
 *
 * An `fh_env` is an environment of a gym. Only a single thread may use it at a time. Different
 * threads may use different environments of a gym.
 *
 *   struct fh_error err = FH_ERROR_INIT;
 *   struct fh_gym *gym;
 *   struct fh_env *env;
 *   struct fh_step step;
 *
 *   fh_gym_open(NULL, &gym, &err);
 *   fh_env_open(gym, &FH_ENV_OPTIONS(.task = "titanicSurvival:micro"), &env, &err);
 *   fh_env_reset(env, NULL, &step, &err);
 *   fh_env_step(env, &FH_ACTION(.text = "ls"), &step, &err);
 *   puts(step.observation);
 *   fh_env_close(env);
 *   fh_gym_close(gym);
 *
 * Each call that may block has another form that starts it: fh_env_step_start(). Then fh_env_wait()
 * waits for this environment, or fh_gym_wait() for many. fh_env_end() takes the result. docs/env.md
 * tells what happens in an episode.
 */

struct fh_env;

enum fh_reward_kind {
	FH_REWARD_DELTA,       /* score minus the last score; the first score minus the baseline */
	FH_REWARD_IMPROVEMENT, /* score minus the baseline */
	FH_REWARD_NONE,        /* every reward is 0 */
	/* For all kinds, a better score gives a positive reward, even if the metric is minimized.
	 * Steps without a score give 0. */
};

struct fh_bind {
	const char *source; /* absolute path on this machine, mounted read-only in sandboxes */
	const char *target; /* absolute path in the sandbox; NULL: same as source */
};

#define FH_JUDGE_SALT_MAX ((1ULL << 53) - 1) /* largest integer that all JSON readers keep exact */
#define FH_DATA_SEED_MAX ((1ULL << 53) - 1)

struct fh_env_options {
	size_t size;         /* FH_ENV_OPTIONS() sets it */
	const char *task;    /* task to open: "T" or "T:VARIANT" */
	const char *variant; /* NULL: the variant in `task`, else the task's default */
	enum fh_reward_kind reward;
	int max_steps; /* most steps of an episode; 0: the task's own limit (default 50) */
	/* Keep the agent's memory from episode to episode. It is read from the task's memory_path
	 * when an episode begins, and saved there. */
	bool memory;
	/* File with the agent's memory to begin with, in place of memory_path. If the file does not
	 * exist, the episode begins without memory. It must not be a link. NULL: none. */
	const char *memory_file;
	const struct fh_bind *binds;
	size_t n_binds;
	/* Folder of a Python environment; NULL: none. Sandboxes see it at its own place, with its
	 * interpreter. It is first in PATH of the agent, the graders, and the programs that make
	 * data. In tasks of MLGym it is also where their scripts look for Python.
	 *
	 * With ":rw" after the path the agent may write to it, by `pip install` for example. The
	 * changes are lost when the episode ends, and graders don't see them. */
	const char *python;
	/* Hosts that literature_search and parse_pdf_url may ask: names with commas between them.
	 * "papers" names the hosts of papers (docs/tools.md). NULL: none. */
	const char *web_hosts;
	/* Salt that the judges' random numbers depend on, beside the seed. 0: each episode draws a
	 * new salt, which the result of its reset holds. A recorded salt, at most
	 * FH_JUDGE_SALT_MAX, gives the recorded scores again. A reset may name another. */
	uint64_t judge_salt;
	/* Limit in bytes for an episode's record: actions, observations and fh_action.beside_bytes,
	 * as ASCII JSON. The step that exceeds it is the last. 0: no limit. */
	int64_t max_text_bytes;
	size_t n_gpus; /* number of GPUs to take from the gym until the environment is closed */
	/* Seed for a task whose data is generated. Another seed, at most FH_DATA_SEED_MAX, gives
	 * other data of the same kind, with a baseline of its own. Tasks with fixed data take only
	 * 0. */
	uint64_t data_seed;
	/* Variables "NAME=VALUE" that each episode's shell exports, at most FH_VARIABLES_MAX.
	 * $PATH in the value of PATH means the PATH that episodes have otherwise. So
	 * "PATH=/opt/venv/bin:$PATH" puts programs of a bound folder first. The baseline, graders
	 * and records don't have these variables. */
	const char *const *variables;
	size_t n_variables;
	/* fh_gym_wait() waits for what is started in the environment, not fh_env_wait(). */
	bool polled;
	/* Most bytes of a step's output that its observation shows, at most FH_OUTPUT_BYTES_MAX.
	 * More output is dropped, and a note says so. A byte that is not UTF-8 is shown as four
	 * (\xNN). 0: the task's `limits.output` (default 1 MiB). */
	int64_t output_bytes;
};

#define FH_OUTPUT_BYTES_MAX (1 << 30)

#define FH_VARIABLES_MAX 128
#define FH_VARIABLES_BYTES_MAX 32768 /* most bytes of all variables together */

#define FH_ENV_OPTIONS(...) FH_SIZED(struct fh_env_options, __VA_ARGS__)

/*
 * Opens an environment: loads the task and makes its data. If this machine has no baseline of the
 * task yet, plays and scores it. So it blocks, for as long as the task's own timeouts allow, or
 * while another process does the same. Any thread may call it. Options need not stay.
 */
FH_PUBLIC int fh_env_open(struct fh_gym *gym, const struct fh_env_options *options,
		struct fh_env **out, struct fh_error *err);
/*
 * Ends the episode, or an opening, and frees the environment; NULL is fine. Blocks only if an
 * episode with `memory` has not ended: the agent's memory is kept first. Keeping it takes seconds
 * if the agent hinders it. If the environment is being opened, a thread goes on for a moment.
 * fh_gym_close() waits for it.
 */
FH_PUBLIC void fh_env_close(struct fh_env *env);

enum fh_outcome {
	FH_OUTCOME_OK,
	FH_OUTCOME_TIMEOUT,
	FH_OUTCOME_OUTPUT_LIMIT,
	FH_OUTCOME_SHELL_RESTARTED,
	FH_OUTCOME_MEMORY_LIMIT,
	FH_OUTCOME_MALFORMED_EDIT, /* an `edit N:M` without end_of_edit, which was not run */
	FH_OUTCOME_SYNTAX_ERROR,   /* not valid shell syntax, so it was not run */
	FH_OUTCOME_SANDBOX_GONE,   /* the sandbox has ended, so the episode can't go on */
	FH_OUTCOME_INTERRUPTED,    /* fh_env_interrupt() ended the command or the scoring */
};

/* Returns the outcome's word in the event log and on the command line: "ok", "timeout", ... */
FH_PUBLIC const char *fh_outcome_name(enum fh_outcome outcome);

#define FH_ACTION_BYTES_MAX (1 << 20)
#define FH_TIMEOUT_S_MIN 0.001

struct fh_action {
	size_t size;      /* FH_ACTION() sets it */
	const char *text; /* a shell command, or lines of commands; at most FH_ACTION_BYTES_MAX */
	/* timeout; 0: the task's training_timeout for training, else its short_timeout */
	double timeout_s;
	/* bytes that the caller records beside this action's text; they count for
	 * fh_env_options.max_text_bytes */
	int64_t beside_bytes;
};

#define FH_ACTION(...) FH_SIZED(struct fh_action, __VA_ARGS__)

/*
 * The result of a reset or step. All data that it points to belongs to the environment and lives
 * until its next reset, step or close. Usage that this machine can't measure is -1.
 */
struct fh_step {
	const char *observation; /* text for the agent, UTF-8 */
	size_t observation_bytes;
	double reward;
	bool terminated; /* the agent's action ended the episode */
	bool truncated;  /* max_steps, max_text_bytes or the deadline ended the episode */

	/* docs/protocol.md describes the members below, as members of "info" */
	int step;      /* number of this step, 1 for the first; 0 after reset */
	int exit_code; /* exit code of the command; -1: no command has ended */
	enum fh_outcome outcome;
	double duration_s;
	double grading_s; /* part of duration_s in which submissions were graded */
	double cpu_s;     /* CPU time of this step */
	/* Peak memory of the episode so far. A peak in the last 1 ms of CPU time may be missing. */
	int64_t memory_peak_bytes;
	int64_t written_bytes; /* growth of the episode's files so far */
	const char *open_file; /* path of the file open in the editor; "n/a": none */
	const char *working_dir;
	/* JSON object that the agent's state command printed; NULL: none */
	const char *tools_state;
	const struct fh_metric *score; /* score of this step's validate or submit; NULL: none */
	size_t n_score;
	const struct fh_metric *baseline;
	size_t n_baseline;
	const struct fh_metric *best; /* best score of this episode; NULL: none yet */
	size_t n_best;
	/* Why a validate or submit gave no score, for people; NULL: no failure. */
	const char *grade_error;
	const char *integrity; /* signs of tampering in this step; NULL: none */
	/* A sentence if the command that prints the tools' state hangs, or is not run any more.
	 * NULL: neither. */
	const char *state_error;
	const char *exit_status; /* how the episode ended: "submitted", ...; NULL: it has not */
	/* salt of the judges' random numbers in this episode, in its reset; 0 in steps */
	uint64_t judge_salt;
	bool restarted;     /* the shell ended in this step, and a new one runs */
	uint64_t data_seed; /* data seed of the environment, in a reset; 0 in steps */
	/* True if the episode has ended and its task's grader has the key `final`. Then `best` is
	 * the score of the episode's end alone. If false, `validated`, `n_validated` and `gap` are
	 * NULL, 0 and NAN. */
	bool final;
	const struct fh_metric *validated; /* best score of a validate; NULL: none */
	size_t n_validated;
	double gap; /* score of the end minus `validated`, by the task's metric; NAN: not known */
	double timeout_s; /* timeout that the action named; 0: it named none */
};

struct fh_reset {
	size_t size; /* FH_RESET() sets it */
	uint64_t seed;
	uint64_t judge_salt; /* salt of this episode; 0: `judge_salt` of the environment */
};

#define FH_RESET(...) FH_SIZED(struct fh_reset, __VA_ARGS__)

/* Begins a new episode, and ends the last one. `reset` may be NULL: seed 0. On failure there is no
 * episode. */
FH_PUBLIC int fh_env_reset(struct fh_env *env, const struct fh_reset *reset, struct fh_step *out,
		struct fh_error *err);

/*
 * Runs an action. -EPROTO: there is no episode, or it has ended. -E2BIG, -EINVAL: the action is
 * malformed and was not run. Failures inside the sandbox are outcomes, not errors.
 */
FH_PUBLIC int fh_env_step(struct fh_env *env, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err);

/* Run the agent's command `validate` or `submit`, which scores the submission. Each call counts as
 * a step. */
FH_PUBLIC int fh_env_validate(struct fh_env *env, struct fh_step *out, struct fh_error *err);
FH_PUBLIC int fh_env_submit(struct fh_env *env, struct fh_step *out, struct fh_error *err);

/*
 * Starts. A start returns at once. The operation is then under way until fh_env_end() has taken the
 * result. Meanwhile only fh_env_wait(), fh_env_end(), fh_env_close() and interrupts are possible.
 *
 *   fh_env_step_start(env, &action, &err);
 *   while (fh_env_wait(env, 50, &err) == 0)
 *           look_around();
 *   fh_env_end(env, &step, &err);
 *
 * The threads of a program may each start and wait for environments of their own, at once.
 *
 * An environment that is being opened can do nothing else before fh_env_end() has returned 0. If
 * the opening fails, close it.
 */
FH_PUBLIC int fh_env_open_start(struct fh_gym *gym, const struct fh_env_options *options,
		struct fh_env **out, struct fh_error *err);
FH_PUBLIC int fh_env_reset_start(
		struct fh_env *env, const struct fh_reset *reset, struct fh_error *err);
FH_PUBLIC int fh_env_step_start(
		struct fh_env *env, const struct fh_action *action, struct fh_error *err);
FH_PUBLIC int fh_env_validate_start(struct fh_env *env, struct fh_error *err);
FH_PUBLIC int fh_env_submit_start(struct fh_env *env, struct fh_error *err);

/*
 * Waits until the operation has ended, and drives it. Returns 1 if it has ended. Returns 0 after
 * timeout_ms (-1: no timeout) or a signal. -EPROTO: none was started, or the environment is polled.
 */
FH_PUBLIC int fh_env_wait(struct fh_env *env, int timeout_ms, struct fh_error *err);

/*
 * Takes the result of the operation. `out` may be NULL, and is not written for an opening. -EBUSY:
 * the operation has not ended yet. -EPROTO: none was started.
 */
FH_PUBLIC int fh_env_end(struct fh_env *env, struct fh_step *out, struct fh_error *err);

/*
 * A thread that drives a thousand environments polls them. They are opened with the option
 * `polled`. After a start, fh_gym_fd() becomes readable when fh_gym_wait() has work to do.
 * fh_gym_wait() returns the number of environments whose operation has ended, `max` at most. It
 * returns 0 after timeout_ms (-1: no timeout) or a signal.
 *
 * Only this thread may start, wait for, end and close polled environments of the gym. If the
 * process that makes sandboxes was killed and is being started anew, a reset takes longer. Steps of
 * other environments go on.
 */
FH_PUBLIC int fh_gym_fd(struct fh_gym *gym);
/*
 * As fh_gym_fd(), but it saves a wake-up for each quick step, which takes half the time then.
 * Before each poll(), the loop has to call fh_gym_wait() with a timeout of 0 until that returns 0.
 * If it does not, the descriptor may not become readable.
 */
FH_PUBLIC int fh_gym_lazy_fd(struct fh_gym *gym);
FH_PUBLIC int fh_gym_wait(struct fh_gym *gym, int timeout_ms, struct fh_env **out_done, size_t max,
		struct fh_error *err);

/*
 * Changes whether the environment is polled. The thread that polls calls it. `polled` false: an
 * operation under way goes on, and fh_env_wait() waits for it. -EBUSY: an opening is under way, or
 * `polled` is true and another operation is.
 */
FH_PUBLIC int fh_env_set_polled(struct fh_env *env, bool polled, struct fh_error *err);

/* A pointer of the caller's, such as its own object for the environment. NULL at first. */
FH_PUBLIC void fh_env_set_user(struct fh_env *env, void *user);
FH_PUBLIC void *fh_env_user(const struct fh_env *env);

/* Facts that are fixed for an environment. The strings live as long as the environment. */
struct fh_env_info {
	const char *task;        /* id of the task, without the variant */
	const char *variant;     /* name of the task's variant; "" if the task has none */
	const char *name;        /* name of the task, for people */
	const char *description; /* description of the task, for the agent */
	const char *metric;      /* name of the deciding metric */
	bool maximize;
	const char *submission; /* absolute path in the sandbox of the file that is graded */
	int max_steps;
	double training_timeout_s;
	const char *task_hash;   /* hash of all task files, hexadecimal */
	const char *fingerprint; /* hash of the machine as episodes see it, hexadecimal */
	const struct fh_metric *baseline;
	size_t n_baseline;
	const int *gpus; /* numbers of the environment's GPUs: 2 is /dev/nvidia2 */
	size_t n_gpus;
	uint64_t data_seed;
	bool final; /* only the score of an episode's end counts: `grader.final` */
};

/*
 * Returns a sentence about a likely failure of the environment's episodes; NULL: none. Lives as
 * long as the environment.
 */
FH_PUBLIC const char *fh_env_warning(const struct fh_env *env);

FH_PUBLIC void fh_env_info(const struct fh_env *env, struct fh_env_info *out);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_ENV_H
#define ENV_ENV_H

#include "base/buf.h"
#include "base/waits.h"
#include "env/calls.h"
#include "env/gym.h"
#include "env/memory.h"
#include "env/poller.h"
#include "env/setup.h"
#include "grade/grade.h"
#include "grade/score.h"
#include "shell/session.h"

#include <fumehood/env.h>

/*
 * The inside of an environment: one state machine, which both forms of the API drive. A begin sets
 * `work`; env_advance() is called whenever env_waits() came, and moves it on until WORK_DONE:
 *
 *   reset:  [MEMORY] -> START -> [FILES] -> [SCRIPT] -> [STATE] -> DONE
 *   step:   COMMAND -> [SCRIPT] -> [STATE] -> [EDITOR] -> [GRADE] -> [MEMORY] -> DONE, and for actions that
 *           are not run: [GRADE] -> [MEMORY] -> DONE
 *
 * SCRIPT and STATE are what an agent's tools need: setup.h. EDITOR asks which file ours have open. FILES puts what
 * an episode begins with (files.c), MEMORY gets what is kept of one that ends (memory.c). env_take() gives the
 * result, and it is WORK_NONE again.
 */
enum work {
	WORK_NONE,
	WORK_START,
	WORK_FILES,
	WORK_COMMAND,
	WORK_SCRIPT,
	WORK_STATE,
	WORK_EDITOR,
	WORK_GRADE,
	WORK_MEMORY,
	WORK_DONE,
};
enum env_episode { EPISODE_NONE, EPISODE_ON, EPISODE_OVER };

struct fh_env {
	/* fixed by fh_env_open() */
	struct fh_gym *gym;
	struct gym_task *task;
	enum fh_reward_kind reward;
	int max_steps;
	int64_t max_text_bytes;     /* 0: no limit */
	uint64_t judge_salt;        /* of each episode; 0: a new one */
	bool memory;                /* is carried */
	const char *memory_file;    /* what it begins as instead; NULL: as it was kept */
	struct sandbox_bind *binds; /* the task's data and its own, and the user's */
	size_t n_binds;
	const char *python;   /* an environment of the user's; NULL: the machine's */
	const char *writable; /* source of its binds, which an episode may write to; NULL */
	int *gpus;            /* of the owner's, as long as it is open */
	size_t n_gpus;
	struct score baseline; /* empty: the task has none */
	char fingerprint[SHA256_HEX_BYTES];
	const char *warning;    /* in the arena; NULL: none */
	const char *submission; /* absolute path inside */
	const char *web_hosts;  /* what tools may ask: web/hosts.h; NULL: nothing */
	char *welcome;          /* the first observation; NULL while the baseline is played */
	struct arena arena;

	struct env_setup setup; /* in its arena; zeroed: none */
	struct arena setup_arena;

	/* the episode */
	enum env_episode episode;
	uint64_t seed;
	struct sandbox *sb;
	struct session *session;
	struct buf memory_began; /* as the agent's memory was, if it `remembers` */
	bool remembers;
	int64_t wall_end_ns; /* when its time is over; INT64_MAX: never */
	int n_steps;
	int64_t text_bytes;    /* so far */
	struct sha256 history; /* of the seed, the salt and the actions so far: see grade/key.h */
	int n_validated;
	uint32_t n_scored;         /* those that gave a score */
	double value;              /* of the metric when it was last scored */
	struct score best;         /* empty: none yet */
	int64_t cpu_ns;            /* used until the end of the last step; -1: not known */
	int64_t memory_peak_bytes; /* when so much CPU time was used; -1: not known */
	int64_t memory_cpu_ns;
	char *working_dir;

	/* the reset or step that is under way, or was last */
	enum work work;
	int64_t started_ns, deadline_ns; /* the deadline is of a reset */
	int starts;                      /* of a reset's sandbox, that failed */
	int64_t timeout_ms;              /* of the command */
	const char *reason;              /* what it is graded for: a word of an exit status */
	struct grade *grade;
	char judge_key[SHA256_HEX_BYTES];
	int requests;                                    /* of the command: REQUEST_* */
	void (*settled)(struct fh_env *env, bool alive); /* after SCRIPT and STATE */
	uint32_t asked;  /* of the porter: by FILES, EDITOR, MEMORY */
	struct job *job; /* of FILES, MEMORY: what takes too long for the loop; NULL: none */
	struct keeping *keeping;          /* what the job of MEMORY works on */
	size_t n_put;                     /* of FILES, so far */
	void (*kept)(struct fh_env *env); /* after MEMORY */
	struct call call;                 /* of a tool, while the command runs */
	int n_scripts;                    /* run in this reset or step */
	int n_state_hangs;                /* of the state command, in a row */
	char *hidden;                     /* a key; NULL: none */
	char *state, *open_file;          /* as the tools have it; NULL: not known */
	struct fh_step step;
	struct fh_error failure; /* of a reset; code 0: none */
	struct buf observation, folded, integrity, grade_error;
	char exit_status[64];
	bool cancelled;          /* by fh_env_interrupt(), not by its timeout */
	atomic_bool interrupted; /* asked for, not seen yet */

	struct poll_slot slot;
};

/* --- env.c ------------------------------------------------------------------------------------ */
void env_waits(const struct fh_env *env, struct waits *w);
bool env_advance(struct fh_env *env);           /* true: WORK_DONE */
bool env_is_in_shell(const struct fh_env *env); /* which runs something */
int env_take(struct fh_env *env, struct fh_step *out, struct fh_error *err);

/* --- reset.c ---------------------------------------------------------------------------------- */
int reset_begin(struct fh_env *env, uint64_t seed, struct fh_error *err);
void reset_advance(struct fh_env *env);

/* Ends the episode, whatever it is doing. */
void reset_drop(struct fh_env *env);

/* --- step.c ----------------------------------------------------------------------------------- */
int step_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err);

/* A step that only asks for what the agent's command of that name would: REQUEST_*. */
int step_begin_request(struct fh_env *env, int request, struct fh_error *err);
void step_advance(struct fh_env *env);
void step_cancel(struct fh_env *env);

/* Clears what the last step left, and starts the clock. */
void step_clear(struct fh_env *env);

/* Where the shell is after what it was given, and whether it is a new one. */
void step_note_shell(struct fh_env *env, const struct session_result *result);

/* Fills what every reset and step ends with, and is done. */
void step_finish(struct fh_env *env);

/* --- limits.c --------------------------------------------------------------------------------- */
bool limits_time_is_over(const struct fh_env *env);
/* Counts the observation; true if the record would be too large with it. */
bool limits_text_is_full(struct fh_env *env);

/* --- setup.c ---------------------------------------------------------------------------------- */
/* Has the shell do what is left to do for the tools; env->settled() follows, at once if it is nothing. */
void setup_begin(struct fh_env *env, bool new_shell);
void setup_advance(struct fh_env *env);
/* --- editor.c --------------------------------------------------------------------------------- */
/* After a command that asked for it: true once env->open_file is what the tools have open. */
int editor_begin(struct fh_env *env);
bool editor_advance(struct fh_env *env);

/* The action with its commands of several lines quoted; heap, NULL: it has none. */
char *setup_quote(const struct fh_env *env, const char *text);

void setup_drop_state(struct fh_env *env);

/* --- files.c ---------------------------------------------------------------------------------- */
/* Puts what an episode begins with into its sandbox: 1 if that is under way, 0 if it is done, or nothing is to
 * be put. */
int files_begin(struct fh_env *env, struct fh_error *err);
int files_advance(struct fh_env *env, struct fh_error *err);

/* --- memory.c --------------------------------------------------------------------------------- */
/* Reads the memory that the episode begins with. A large one is read by env->job; memory_read_end() ends that. */
int memory_read(struct fh_env *env, struct fh_error *err);
int memory_read_end(struct fh_env *env, struct fh_error *err);

/* Begins to keep the memory of an episode that is about to end: env->kept() follows. False if nothing is to be kept. */
bool memory_begin(struct fh_env *env, void (*kept)(struct fh_env *env));
bool memory_advance(struct fh_env *env); /* true: it is kept, or a note says why not */
/* In WORK_FILES and WORK_MEMORY: adds the job's descriptor if there is a job, else the porter's. */
void memory_waits(const struct fh_env *env, struct waits *w);
void memory_drop_job(struct fh_env *env); /* as the environment is closed */
/* Waits for both: for an episode that nobody steps any more. */
void memory_keep(struct fh_env *env);

/* --- observe.c -------------------------------------------------------------------------------- */
char *observe_welcome(const struct fh_env *env); /* heap string */
void observe_command(struct fh_env *env, const struct session_result *result);
void observe_hide(struct fh_env *env); /* what the step must not tell */
void observe_grade(struct fh_env *env, const struct grade_result *result);

/* observe_mlgym.c: appends output as MLGym shows it. */
void observe_mlgym_output(struct buf *out, const char *text, size_t n);

/* A sentence of ours on a line of its own, after what there is. */
void observe_note(struct fh_env *env, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* --- reward.c --------------------------------------------------------------------------------- */
/* Takes a new score in: returns the step's reward, moves `value` and `best`. */
double reward_take(struct fh_env *env, const struct score *score);

/* --- baseline.c ------------------------------------------------------------------------------- */
/* Sets env->baseline from what is kept, or plays it in this environment and keeps it. */
int baseline_load(struct fh_env *env, struct fh_error *err);

#endif

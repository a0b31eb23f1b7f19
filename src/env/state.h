/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_STATE_H
#define ENV_STATE_H

#include "env/calls.h"
#include "env/files.h"
#include "env/gateway.h"
#include "env/interrupter.h"
#include "env/memory.h"
#include "env/poller.h"
#include "env/reward.h"
#include "env/setup.h"
#include "env/spec.h"
#include "env/variables.h"
#include "grade/grade.h"
#include "shell/session.h"

/*
 * The state of an environment: one state machine, which both forms of the API drive. A reset, a
 * step or a leave sets `turn` and `work` when it begins. env.c advances it whenever its descriptors
 * or its deadline are ready, until WORK_DONE:
 *
 *   reset:  [MEMORY] -> START -> [FILES] -> [SETUP] -> DONE
 *   step:   [[GATEWAY] -> COMMAND -> [SETUP] -> [EDITOR]] -> [GRADE] -> [MEMORY] -> DONE
 *   open:   OPEN -> DONE
 *   aside:  COMMAND -> [SETUP] -> DONE
 *           FILE -> DONE
 *   leave:  MEMORY -> DONE
 *
 * Only open.c, close.c, env.c, drive.c, turn.c, reset.c, step.c, scoring.c, aside.c and aside_api.c
 * include this header. Each struct in it has a header of its own, whose file touches nothing else
 * of an environment.
 */

enum turn { TURN_OPEN, TURN_RESET, TURN_STEP, TURN_ASIDE, TURN_LEAVE };

enum work {
	WORK_NONE,
	WORK_OPEN,    /* a thread opens the environment: opening.h */
	WORK_START,   /* the reset waits until the sandbox has started */
	WORK_FILES,   /* files are written into the sandbox, one after the other: files.h */
	WORK_GATEWAY, /* the gateway for an agent's program starts: gateway.h */
	WORK_COMMAND, /* the session runs the command of an action */
	WORK_SETUP,   /* the session runs the setup script or the state command: setup.h */
	WORK_EDITOR,  /* the sandbox reads which file is open: editor.h */
	WORK_GRADE,
	WORK_MEMORY, /* the agent's memory is saved at the episode's end: memory.h */
	WORK_FILE,   /* an aside puts or gets a file: aside.h */
	WORK_DONE,
};

/* whether an episode has not begun, goes on, or has ended */
enum phase { PHASE_NONE, PHASE_ON, PHASE_OVER };

struct fh_env {
	/* spec, terms, baseline and welcome: set by open.c, then fixed */
	struct env_spec spec;
	struct env_terms {
		enum fh_reward_kind reward;
		int max_steps;
		int64_t max_text_bytes; /* most bytes recorded in an episode; 0: no limit */
		/* salt of the judges' random numbers; 0: draw a new one for each episode */
		uint64_t judge_salt;
		struct variables variables; /* for shells of the agent, not of the baseline */
	} terms;
	size_t output_bytes; /* most bytes of output of a step */
	bool is_open;
	/* This is no environment of a user. It plays the baseline of one that is being opened, with
	 * the interrupter of that one, whose request stays. */
	bool for_baseline;
	struct fh_env_options given; /* copy of the caller's options, in spec.arena */
	struct score baseline;       /* score of the task's baseline; empty: none */
	char *welcome;               /* the first observation; NULL while the baseline is played */

	struct fh_interrupter *interrupter;
	bool polled;              /* the gym's poller drives what is started, not fh_env_wait() */
	void *user;               /* pointer of the caller's, for fh_env_user() */
	struct fh_env *next_left; /* link of the list gym->left */
	struct poll_item item;
	struct calls calls;
	struct gateway gateway;
	struct memory memory;
	struct setup setup;
	/* a secret, such as a key, to hide in the results of steps: env_hide(); NULL: none */
	char *hidden;

	/* the episode */
	enum phase phase;
	uint64_t seed;
	struct sandbox *sb;
	struct session *session;
	int64_t wall_end_ns; /* time at which the episode ends; INT64_MAX: no limit */
	int n_steps;
	int64_t text_bytes;    /* bytes recorded in this episode */
	struct sha256 history; /* hashes the seed, the salt and the actions so far: grade/key.h */
	int n_validated;
	struct scores scores;
	int64_t cpu_ns; /* CPU time at the end of the last step; -1: not known */
	/* peak memory of the episode, read when it had used memory_cpu_ns of CPU time; -1: not
	 * known */
	int64_t memory_peak_bytes;
	int64_t memory_cpu_ns;
	char *working_dir;

	/* the current reset or step, or the last one: members down to exit_status */
	enum turn turn;
	enum work work;
	int64_t started_ns;
	struct job *opening;     /* thread that opens the environment; NULL: none */
	bool cancelled;          /* fh_env_interrupt() was called in this reset or step */
	struct fh_error failure; /* error that ended the reset or step; code 0: none */
	struct fh_step step;
	struct buf observation, folded, integrity, grade_error;
	char exit_status[64];
	/* state of a reset: members down to `files` */
	int64_t deadline_ns;
	int n_failed_starts;
	struct files files;
	/* state of a step: the members below */
	/* Script of a command that plays as the agent, without the gateway's address. */
	char *agent_script;
	double agent_timeout_s;     /* timeout of that command */
	env_call_fn *on_call;       /* receiver of the command's calls */
	env_request_fn *on_request; /* told about the command's `validate` and `submit` */
	void *on_call_user;
	int64_t timeout_ms; /* timeout of the action's command */
	size_t n_watched;   /* bytes of the command's output that env_output() has passed on */
	int requests;       /* REQUEST_* bits that the command asked for */
	/* REQUEST_* bits that came during asides, and count for the next step */
	int late_requests;
	uint32_t editor_request; /* id of the request that reads the name of the open file */
	/* why the episode is scored or ends, for its exit status: "submit", ... */
	const char *reason;
	struct grade *grade;
	int64_t grade_ns; /* time at which a `validate` or `submit` of an agent's command came */
	char judge_key[SHA256_HEX_BYTES];
	int64_t grading_ns; /* time at which the grading began */
	/* state of an aside */
	uint32_t file_request; /* id of the request to the sandbox that puts or gets a file */
	bool file_comes;       /* a file is got, not put */
	const void *file;      /* file of n_file bytes that was got last; NULL: none */
	size_t n_file;
};

#endif

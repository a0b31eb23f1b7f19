/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_STATE_H
#define ENV_STATE_H

#include "env/calls.h"
#include "env/episode.h"
#include "env/files.h"
#include "env/gateway.h"
#include "env/interrupter.h"
#include "env/memory.h"
#include "env/poller.h"
#include "env/scoring.h"
#include "env/setup.h"
#include "env/spec.h"
#include "env/turn.h"
#include "env/variables.h"

/*
 * The state of an environment: one state machine, which both forms of the API drive. A turn sets
 * `turn.kind` and `turn.work` when it begins. drive_advance() advances it whenever its
 * descriptors or its deadline are ready, until WORK_DONE:
 *
 *   reset:  [MEMORY] -> START -> [FILES] -> [SETUP] -> DONE
 *   step:   [[GATEWAY] -> COMMAND -> [SETUP] -> [EDITOR]] -> [GRADE] -> [MEMORY] -> DONE
 *   open:   OPEN -> DONE
 *   aside:  COMMAND -> [SETUP] -> DONE
 *           FILE -> DONE
 *   leave:  MEMORY -> DONE
 *
 * A struct below that has a header of its own has a file, too. The file touches this struct, and
 * those whose headers it includes. Only files that drive the whole include this header:
 *
 *   open.c, close.c           make and free an environment
 *   env.c, drive.c            the API: begin turns, wait for their work, and take their results
 *   reset.c, step.c, aside.c  a file for each kind of turn
 *   beside.c                  scores for an agent's command, in the middle of a step
 *   turn.c                    parts that turns share, up to the end of the episode
 */
struct fh_env {
	/* spec, terms, baseline and welcome: set by open.c, then fixed */
	struct env_spec spec;
	struct env_terms {
		int max_steps;
		int64_t max_text_bytes; /* most bytes recorded in an episode; 0: no limit */
		/* salt of the judges' random numbers; 0: draw a new one for each episode */
		uint64_t judge_salt;
		struct variables variables; /* for shells of the agent, not of the baseline */
	} terms;
	size_t output_bytes; /* most bytes of output of a step */
	bool is_open;
	/* `interrupter` is another environment's, for which this one works while that is being
	 * opened. An interrupt ends the turn, and stays for the other one to take. */
	bool interrupter_is_lent;
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

	struct env_episode episode;
	struct env_turn turn;
	struct env_result result;
	struct job *opening; /* thread that opens the environment; NULL: none */
	/* start of a reset's sandbox */
	struct {
		int n_failed;
		struct files files;
	} start;
	/* command of a step that plays as the agent */
	struct {
		char *script; /* text of the command; the gateway's address is added later */
		double timeout_s;
		env_call_fn *on_call;       /* receiver of the command's calls */
		env_request_fn *on_request; /* told about its `validate` and `submit` */
		void *user;
		int64_t asked_ns; /* time at which a `validate` or `submit` came */
	} agent;
	uint32_t editor_request; /* id of the request that reads the name of the open file */
	struct env_scoring scoring;
	/* file that an aside puts or gets */
	struct {
		uint32_t request; /* id of the request to the sandbox that puts or gets it */
		bool comes;       /* a file is got, not put */
		void *data;       /* file of n bytes that was got last; NULL: none */
		size_t n;
	} file;
};

#endif

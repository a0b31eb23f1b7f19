/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_EPISODE_H
#define ENV_EPISODE_H

#include "base/buf.h"
#include "base/sha256.h"
#include "env/reward.h"
#include "shell/session.h"

/* whether an episode has not begun, goes on, or has ended */
enum phase { PHASE_NONE, PHASE_ON, PHASE_OVER };

/* The present episode of an environment, or its last one. A zeroed struct has none. */
struct env_episode {
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
	/* REQUEST_* bits that came during asides, and count for the next step */
	int late_requests;
	int64_t cpu_ns; /* CPU time at the end of the last turn; -1: not known */
	/* peak memory of the episode, read when it had used memory_cpu_ns of CPU time; -1: not
	 * known */
	int64_t memory_peak_bytes;
	int64_t memory_cpu_ns;
	char *working_dir;
	char exit_status[64];
};

/* The result of a turn, as the caller gets it. The next turn of the environment replaces it. */
struct env_result {
	struct fh_step step;
	struct buf observation;
	struct buf folded;      /* scratch space for the output of a command: observe_output() */
	struct buf integrity;   /* signs of tampering, for step.integrity */
	struct buf grade_error; /* text for step.grade_error */
};

/* Sets the counts and scores of a new episode. The last one's sandbox and session stay, because
 * its memory may have to be kept first. turn_end_episode() frees them. */
void env_episode_begin(struct env_episode *e, uint64_t seed, uint64_t salt);
void env_episode_release(struct env_episode *e);

bool env_episode_time_is_over(const struct env_episode *e);
/* Stores the CPU time, memory and written bytes of a turn in its step. The turn began at
 * started_ns. */
void env_episode_add_usage(struct env_episode *e, int64_t started_ns, struct fh_step *step);

void env_result_init(struct env_result *r, size_t output_bytes);
void env_result_release(struct env_result *r);
/* Clears the result of the last turn. `n_steps` counts the episode's steps so far. */
void env_result_begin(struct env_result *r, int n_steps);

/* Stores how a command has ended: outcome, exit code, signs of tampering. */
void env_result_take_outcome(
		struct env_result *r, const struct session_result *command, bool cancelled);

/* Adds a sentence to the signs of tampering. NULL: nothing. */
void env_result_note_integrity(struct env_result *r, const char *text);

#endif

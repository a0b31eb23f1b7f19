/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_RECORD_H
#define FUMEHOOD_RECORD_H

#include <fumehood/agent.h>
#include <fumehood/env.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Records of episodes that the caller plays, as `fumehood run` writes them (docs/trajectory.md). A
 * record is a folder with args.yaml, events.jsonl, a log, and at the end a .traj and results.json.
 * `fumehood show`, `replay` and `export` read it.
 *
 *   fh_recorder_open(&FH_RECORDER_OPTIONS(.env = env, .seed = 7, .model = "mine"), &rec, &err);
 *   fh_env_reset(env, &FH_RESET(.seed = 7), &step, &err);
 *   fh_recorder_reset(rec, &step, &err);
 *   while (!step.terminated && !step.truncated) {
 *           fh_env_step(env, &FH_ACTION(.text = action), &step, &err);
 *           fh_recorder_step(rec, &FH_TURN(.action = action), &step, &err);
 *   }
 *   fh_recorder_end(rec, NULL, &err);
 *   fh_recorder_close(rec);
 *
 * A recorder is for one episode. Record each result before anyone acts on it: a killed process then
 * loses nothing. Events are on the disk within a second; scored steps and ends are there at once.
 * After a failure, such as a full disk, all later calls of the recorder fail too. Only a single
 * thread may use a recorder at a time. Different threads may use different ones. In a fork of the
 * process all calls fail with -EPERM, and closing does nothing.
 *
 * Open the environment with `max_text_bytes` of FH_RECORD_TEXT_BYTES. The .traj of a longer episode
 * might be too large to be written (-EFBIG).
 */
struct fh_recorder;

#define FH_RECORD_TEXT_BYTES (64 << 20)
#define FH_NUMBERS_BYTES_MAX (64 << 10)

struct fh_recorder_options {
	size_t size; /* FH_RECORDER_OPTIONS() sets it */
	/* Environment of the episode. It stays open until fh_recorder_reset(). */
	const struct fh_env *env;
	uint64_t seed; /* seed of the episode's reset */
	/* Folder for records, made if it is missing. The record is a new folder in it, whose name
	 * has model, task, agent, numbers and suffix. Agents can't see the folder. NULL:
	 * "trajectories/<user>". */
	const char *out;
	const char *model; /* name of what decides on actions; NULL: "policy" */
	/* Configuration of the agent; NULL: none. It is used only in this call. */
	const struct fh_agent *agent;
	double temperature, top_p; /* numbers in the folder's name; a top_p of 0 means 0.95 */
	const char *suffix;        /* last part of the folder's name; NULL: none */
	/* Training step of the policy that plays. With it the .traj is named
	 * "<task>_pi<step>_<YYYYmmdd>_<HHMMSS>.traj". */
	bool has_policy_step;
	int64_t policy_step;
};

#define FH_RECORDER_OPTIONS(...) FH_SIZED(struct fh_recorder_options, __VA_ARGS__)

/* Makes the record's folder, with its first event. */
FH_PUBLIC int fh_recorder_open(const struct fh_recorder_options *options, struct fh_recorder **out,
		struct fh_error *err);

/* Records the result of the reset, before any step. */
FH_PUBLIC int fh_recorder_reset(
		struct fh_recorder *recorder, const struct fh_step *step, struct fh_error *err);

struct fh_turn {
	size_t size; /* FH_TURN() sets it */
	/* Action of the step, UTF-8. For fh_env_validate() and fh_env_submit() it is "validate" or
	 * "submit". */
	const char *action;
	const char *response, *thought; /* reply and thought of a language model; NULL: none */
	/* JSON object with the caller's own numbers, such as values and log probabilities. It is
	 * recorded as `numbers`, and has at most FH_NUMBERS_BYTES_MAX bytes. It may
	 * have NaN and Infinity, as Python writes them. NULL: none. */
	const char *numbers;
};

#define FH_TURN(...) FH_SIZED(struct fh_turn, __VA_ARGS__)

/*
 * Records a step. -EPROTO: no reset was recorded, or a step that ended the episode was. -EINVAL:
 * there is no action, a text is not UTF-8, or `numbers` is not a JSON object.
 */
FH_PUBLIC int fh_recorder_step(struct fh_recorder *recorder, const struct fh_turn *turn,
		const struct fh_step *step, struct fh_error *err);

struct fh_record_end {
	size_t size; /* FH_RECORD_END() sets it */
	/* How the episode ended. NULL: as the last step says, else "early_exit". */
	const char *exit_status;
	/* error that broke the episode, so that the record is incomplete; NULL: none */
	const char *error;
	const char *numbers; /* as in struct fh_turn; in results.json too */
	/* Calls of the language model, its tokens, and its cost in dollars. */
	int64_t calls, tokens_sent, tokens_received;
	double cost;
};

#define FH_RECORD_END(...) FH_SIZED(struct fh_record_end, __VA_ARGS__)

/* Ends the record, and writes the .traj and results.json. end may be NULL. */
FH_PUBLIC int fh_recorder_end(struct fh_recorder *recorder, const struct fh_record_end *end,
		struct fh_error *err);

/* Return the paths of the record's folder and of its .traj. They live as long as the recorder. */
FH_PUBLIC const char *fh_recorder_folder(const struct fh_recorder *recorder);
FH_PUBLIC const char *fh_recorder_traj(const struct fh_recorder *recorder);

/* Closes a record; NULL is fine. Without an end it lacks its last files, which `fumehood export`
 * then writes. */
FH_PUBLIC void fh_recorder_close(struct fh_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif

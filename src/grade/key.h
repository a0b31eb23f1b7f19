/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KEY_H
#define GRADE_KEY_H

#include "base/error.h"
#include "base/secret.h"
#include "base/sha256.h"

/*
 * Keys of judges. A judge's random numbers follow from a secret of this machine, the task's files, the episode's seed
 * and salt, all that was done in the episode so far, and what is judged: a replay, which has the salt, is scored the
 * same, and an agent can't foresee a number. What it saw of them in an earlier validate (in the output of a player that
 * failed) or heard from another episode is of no use: to make use of it, it must do something else than was done then;
 * and another episode has another salt. Nor is what a stranger's judge tells: whatever its task is called, its files
 * are others.
 */

/* The key of one grading, as hexadecimal; judge_key_of() makes the judge's own of it. `history` is of the
 * seed, the salt and all actions of the episode, the one that is graded for included; it may go on after this. */
void judge_key(const struct secret *secret, const char *task_hash, const struct sha256 *history,
		char out_hex[SHA256_HEX_BYTES]);

/* `submission` is the hash of what is judged, as sandbox_take() gives it. */
void judge_key_of(const char *grading_key, const uint8_t submission[SHA256_BYTES],
		char out_hex[SHA256_HEX_BYTES]);

#endif

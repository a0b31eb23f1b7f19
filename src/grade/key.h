/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KEY_H
#define GRADE_KEY_H

#include "base/error.h"
#include "base/secret.h"
#include "base/sha256.h"

/*
 * Keys of judges, which seed their random numbers. A key follows from this machine's secret, the
 * task's files and the submission. It also follows from the episode's seed, salt and actions. So a
 * replay, which has the salt, gets the same score, and no agent can foresee a number.
 *
 * An agent can't use numbers that it saw in an earlier validate: to act on them changes the key.
 * Another episode has another salt, and another task has other files.
 */

/* Writes the key of one grading in hexadecimal, the input of judge_key_of(). `history` hashes the
 * seed, the salt and all actions of the episode, the one that is graded for included. It stays
 * usable. */
void judge_key(const struct secret *secret, const char *task_hash, const struct sha256 *history,
		char out_hex[SHA256_HEX_BYTES]);

/* Writes the judge's own key. `submission` is the hash of the submission, from sandbox_take(). */
void judge_key_of(const char *grading_key, const uint8_t submission[SHA256_BYTES],
		char out_hex[SHA256_HEX_BYTES]);

#endif

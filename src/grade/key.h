/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KEY_H
#define GRADE_KEY_H

#include "base/error.h"
#include "base/secret.h"
#include "base/sha256.h"

/*
 * Keys of judges, which seed the judges' random numbers. A key depends on this machine's secret,
 * the task's files and the submission. A key also depends on the episode's seed, salt and actions.
 * So a replay, which has the salt, gets the same score, and no agent can predict a number.
 *
 * An agent can't use numbers that it saw in an earlier `validate`, because further actions change
 * the key. Another episode has another salt, and another task has other files.
 */

/* Writes the key of one grading in hexadecimal, the input of judge_key_of(). `history` is a hash of
 * the seed, the salt, and all actions of the episode so far. It includes the action that requests
 * the grading. `history` stays usable. */
void judge_key(const struct secret *secret, const char *task_hash, const struct sha256 *history,
		char out_hex[SHA256_HEX_BYTES]);

/* Writes the key that the judge gets. `submission` is the hash of the submission, from
 * sandbox_take(). */
void judge_key_of(const char *grading_key, const uint8_t submission[SHA256_BYTES],
		char out_hex[SHA256_HEX_BYTES]);

#endif

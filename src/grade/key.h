/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KEY_H
#define GRADE_KEY_H

#include "base/error.h"
#include "base/secret.h"
#include "base/sha256.h"

/*
 * Keys of judges, which seed the judges' random numbers. A key depends on this machine's secret,
 * the task's files and the submission. A key also depends on the episode's seed, salt and actions.
 * The salt is a random number of the episode that its record keeps. So a replay gets the same
 * score, and no agent can predict a number.
 *
 * An agent can't use numbers that it saw in an earlier `validate`, because further actions change
 * the key. Another episode has another salt, and another task has other files.
 */

/* Writes the key of one grading in hexadecimal. judge_key_of() later adds the submission to it.
 * `history` is a hash of the seed, the salt, and all actions of the episode so far. It includes the
 * action that requests the grading. More can be added to `history` afterwards. */
void judge_key(const struct secret *secret, const char *task_hash, const struct sha256 *history,
		char out_hex[SHA256_HEX_BYTES]);

/* Writes the key that seeds the judge's random numbers. It combines a key of judge_key() with the
 * submission's hash from sandbox_take(). */
void judge_key_of(const char *grading_key, const uint8_t submission[SHA256_BYTES],
		char out_hex[SHA256_HEX_BYTES]);

#endif

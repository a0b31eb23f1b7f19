/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KEY_H
#define GRADE_KEY_H

#include "base/error.h"
#include "base/secret.h"

#include <stdint.h>

/*
 * Keys of judges. A judge's random numbers follow from a secret of this machine, the episode's
 * seed, how often the episode was graded before, and what is judged: the same actions are scored the
 * same, and an agent can't foresee a number. It may know the seed, and may see numbers that another
 * submission met in an earlier episode (in the output of a player that failed); they are not its own.
 */

/* The key of one grading, as hexadecimal; judge_key_of() makes the judge's own of it. */
void judge_key(const struct secret *secret, const char *task, uint64_t seed, uint32_t n_before,
		char out_hex[SHA256_HEX_BYTES]);

/* `submission` is read from its start to its end, by position. */
int judge_key_of(const char *grading_key, int submission, char out_hex[SHA256_HEX_BYTES],
		struct fh_error *err);

#endif

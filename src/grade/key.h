/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KEY_H
#define GRADE_KEY_H

#include "base/error.h"
#include "base/sha256.h"

#include <stdint.h>

/*
 * Keys of judges. A judge's random numbers follow from a secret of this machine, the episode's
 * seed, and how often the episode was graded before: the same episode is scored the same, and an
 * agent, who may know the seed, can't foresee a number.
 *
 * The secret is 32 random bytes in <state_dir>/judge.key, which only its owner can read, made when
 * it is first asked for; or $FUMEHOOD_JUDGE_KEY in hexadecimal, so that machines can share one.
 */
struct judge_secret {
	uint8_t bytes[32];
};

int judge_secret_load(const char *state_dir, struct judge_secret *out, struct fh_error *err);

/* A key as hexadecimal. */
void judge_key(const struct judge_secret *secret, const char *task, uint64_t seed,
		uint32_t n_before, char out_hex[SHA256_HEX_BYTES]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "base/error.h"
#include "base/sha256.h"

#include <stdint.h>

/*
 * The machine's secret, of which keys are made: a judge's random numbers, the order of a data set.
 * An agent may know all else that they depend on. It is 32 random bytes in <state_dir>/judge.key,
 * which only its owner can read; or $FUMEHOOD_JUDGE_KEY in hexadecimal, so that machines can share
 * one.
 */
struct secret {
	uint8_t bytes[32];
};

/* Made when it is first asked for. */
int secret_load(const char *state_dir, struct secret *out, struct fh_error *err);

/* The same, but -ENOENT when there is none yet. */
int secret_read(const char *state_dir, struct secret *out, struct fh_error *err);

/* How keys are derived. Increment it when that changes: a record of a run has it, and a replay warns
 * if the record has another. In version 1 keys were plain hashes. */
#define SECRET_KEYS_VERSION 2
#define SECRET_KEY_LABEL "fumehood key 2"

/* Derives a key of 32 bytes, as hexadecimal: HMAC-SHA-256 with the secret of the label and all three
 * texts. It tells neither the secret nor another key. */
void secret_key(const struct secret *secret, const char *purpose, const char *what,
		const char *which, char out_hex[SHA256_HEX_BYTES]);

#endif

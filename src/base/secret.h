/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "base/error.h"
#include "base/sha256.h"

#include <stdint.h>

/*
 * The machine's secret, 32 random bytes in <state_dir>/judge.key, which only its owner can read.
 * An agent can't predict random numbers of judges or the order of made data, because they are
 * derived from it. Set $FUMEHOOD_JUDGE_KEY, in hexadecimal, to share one secret among machines.
 */
struct secret {
	uint8_t bytes[32];
};

/* Reads the secret; makes it if there is none. */
int secret_load(const char *state_dir, struct secret *out, struct fh_error *err);

/* Reads the secret; -ENOENT if there is none. */
int secret_read(const char *state_dir, struct secret *out, struct fh_error *err);

/* Version of the derivation of keys. Increment it with each change. A record of a run has it, and a
 * replay warns if the two differ. In version 1 keys were plain hashes. */
#define SECRET_KEYS_VERSION 2
#define SECRET_KEY_LABEL "fumehood key 2"

/* Derives a key of 32 bytes, as hexadecimal: HMAC-SHA-256 of the label and the three texts. The key
 * reveals neither the secret nor another key. */
void secret_key(const struct secret *secret, const char *purpose, const char *what,
		const char *which, char out_hex[SHA256_HEX_BYTES]);

#endif

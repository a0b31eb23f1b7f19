/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "base/error.h"
#include "base/sha256.h"

#include <stdint.h>

/*
 * The machine's secret: 32 random bytes in <state_dir>/judge.key. Only the file's owner can read
 * them. Graders' random numbers and the order of generated data derive from the secret. So an agent
 * can't predict either. $FUMEHOOD_JUDGE_KEY, in hexadecimal, replaces the file, so that machines
 * can share a secret.
 */
struct secret {
	uint8_t bytes[32];
};

/* Reads the secret. Makes a new one if the file does not exist. */
int secret_load(const char *state_dir, struct secret *out, struct fh_error *err);

/* Reads the secret. -ENOENT if the file does not exist. */
int secret_read(const char *state_dir, struct secret *out, struct fh_error *err);

/* Version of the way in which secret_key() derives keys. Increment it when derived keys change. A
 * run's record holds the version, and a replay under another version warns. In version 1 keys were
 * plain hashes. */
#define SECRET_KEYS_VERSION 2
#define SECRET_KEY_LABEL "fumehood key 2"

/* Derives a key of 32 bytes, written as hexadecimal: HMAC-SHA-256 of a label and the arguments. The
 * key reveals neither the secret nor another key. */
void secret_key(const struct secret *secret, const char *purpose, const char *what,
		const char *which, char out_hex[SHA256_HEX_BYTES]);

#endif

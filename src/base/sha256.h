/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * SHA-256 (FIPS 180-4), for hashes of files and inputs. To derive keys, use `struct hmac`. Neither
 * resists an attacker who measures the time of computation.
 */

#define SHA256_BYTES 32
#define SHA256_HEX_BYTES 65 /* length of a digest as hexadecimal, with the NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t n_bytes;
	uint8_t block[64];
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t n);

/* Adds a string with its NUL, so that "ab","c" and "a","bc" differ. For NULL it adds a byte
 * 0xff. */
void sha256_add_str(struct sha256 *h, const char *s);

/* Writes the digest. After that, h is only valid for sha256_init(). */
void sha256_end(struct sha256 *h, uint8_t digest[SHA256_BYTES]);
void sha256_hex(const uint8_t digest[SHA256_BYTES], char hex[SHA256_HEX_BYTES]);
/* Writes the digest as hexadecimal, as sha256_end() and sha256_hex() do together. */
void sha256_end_hex(struct sha256 *h, char hex[SHA256_HEX_BYTES]);

/*
 * HMAC-SHA-256 (RFC 2104): a hash that depends on a secret key, for deriving keys. Add the message
 * to `inner` with sha256_add() and sha256_add_str().
 */
struct hmac {
	struct sha256 inner;
	uint8_t outer_pad[64];
};

void hmac_init(struct hmac *h, const void *key, size_t n);

/* Writes the HMAC to `digest`. Then wipes h, which is derived from the key. */
void hmac_end(struct hmac *h, uint8_t digest[SHA256_BYTES]);

/* Computes the SHA-256 of n bytes, as lower-case hexadecimal. */
void sha256_bytes(const void *data, size_t n, char hex[SHA256_HEX_BYTES]);

/* Computes the SHA-256 of a regular file's contents, as lower-case hexadecimal. */
int sha256_file(const char *path, char hex[SHA256_HEX_BYTES], struct fh_error *err);

#endif

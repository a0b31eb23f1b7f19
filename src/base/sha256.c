/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include "base/fd.h"
#include "base/scope.h"

#include <stdio.h>
#include <string.h>

/*
 * Written by hand: the porter and the grader csv hash inside sandboxes, where no library for it is
 * linked. No other part needs libcrypto.
 */

static const uint32_t round_constants[64] = {
	0x428a2f98,
	0x71374491,
	0xb5c0fbcf,
	0xe9b5dba5,
	0x3956c25b,
	0x59f111f1,
	0x923f82a4,
	0xab1c5ed5,
	0xd807aa98,
	0x12835b01,
	0x243185be,
	0x550c7dc3,
	0x72be5d74,
	0x80deb1fe,
	0x9bdc06a7,
	0xc19bf174,
	0xe49b69c1,
	0xefbe4786,
	0x0fc19dc6,
	0x240ca1cc,
	0x2de92c6f,
	0x4a7484aa,
	0x5cb0a9dc,
	0x76f988da,
	0x983e5152,
	0xa831c66d,
	0xb00327c8,
	0xbf597fc7,
	0xc6e00bf3,
	0xd5a79147,
	0x06ca6351,
	0x14292967,
	0x27b70a85,
	0x2e1b2138,
	0x4d2c6dfc,
	0x53380d13,
	0x650a7354,
	0x766a0abb,
	0x81c2c92e,
	0x92722c85,
	0xa2bfe8a1,
	0xa81a664b,
	0xc24b8b70,
	0xc76c51a3,
	0xd192e819,
	0xd6990624,
	0xf40e3585,
	0x106aa070,
	0x19a4c116,
	0x1e376c08,
	0x2748774c,
	0x34b0bcb5,
	0x391c0cb3,
	0x4ed8aa4a,
	0x5b9cca4f,
	0x682e6ff3,
	0x748f82ee,
	0x78a5636f,
	0x84c87814,
	0x8cc70208,
	0x90befffa,
	0xa4506ceb,
	0xbef9a3f7,
	0xc67178f2,
};

static uint32_t sha256_rotate(uint32_t v, int n)
{
	return v >> n | v << (32 - n);
}

static void sha256_fill_schedule(uint32_t w[64], const uint8_t *block)
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
				(uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = sha256_rotate(w[i - 15], 7) ^ sha256_rotate(w[i - 15], 18) ^
				w[i - 15] >> 3;
		uint32_t s1 = sha256_rotate(w[i - 2], 17) ^ sha256_rotate(w[i - 2], 19) ^
				w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

static void sha256_add_block(struct sha256 *h, const uint8_t *block)
{
	uint32_t w[64];
	uint32_t v[8];

	sha256_fill_schedule(w, block);
	memcpy(v, h->state, sizeof(v));
	for (int i = 0; i < 64; i += 8) {
		/* Unroll, so that all indices are constants and the array stays in registers. */
#pragma GCC unroll 8
		for (int k = 0; k < 8; k++) {
			/* working variables a to h of FIPS 180-4, which move on in each round */
			uint32_t a = v[-k & 7], b = v[(1 - k) & 7], c = v[(2 - k) & 7];
			uint32_t e = v[(4 - k) & 7], f = v[(5 - k) & 7], g = v[(6 - k) & 7];
			uint32_t s1 = sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^
					sha256_rotate(e, 25);
			uint32_t s0 = sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^
					sha256_rotate(a, 22);
			uint32_t t1 = v[(7 - k) & 7] + s1 + ((e & f) ^ (~e & g)) +
					round_constants[i + k] + w[i + k];

			v[(3 - k) & 7] += t1;
			v[(7 - k) & 7] = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
		}
	}
	for (int i = 0; i < 8; i++)
		h->state[i] += v[i];
}

void sha256_init(struct sha256 *h)
{
	*h = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					      0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *h, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t used = h->n_bytes % sizeof(h->block);

	h->n_bytes += n;
	while (n) {
		size_t take = sizeof(h->block) - used;

		if (take > n)
			take = n;
		memcpy(h->block + used, p, take);
		used += take;
		p += take;
		n -= take;
		if (used == sizeof(h->block)) {
			sha256_add_block(h, h->block);
			used = 0;
		}
	}
}

void sha256_add_str(struct sha256 *h, const char *s)
{
	if (s)
		sha256_add(h, s, strlen(s) + 1);
	else
		sha256_add(h, "\xff", 1);
}

void sha256_end(struct sha256 *h, uint8_t digest[SHA256_BYTES])
{
	static const uint8_t padding[64] = { 0x80 };
	uint64_t n_bits = h->n_bytes * 8;
	uint8_t length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(n_bits >> (56 - 8 * i));
	/* Padding of 1 to 64 bytes: 0x80, then zeros until 8 bytes of a block are left for the
	 * length. */
	sha256_add(h, padding, 1 + (119 - h->n_bytes % 64) % 64);
	sha256_add(h, length, sizeof(length));
	for (int i = 0; i < SHA256_BYTES; i++)
		digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void hmac_init(struct hmac *h, const void *key, size_t n)
{
	uint8_t pad[sizeof(h->outer_pad)] = { 0 };

	if (n > sizeof(pad)) {
		sha256_init(&h->inner);
		sha256_add(&h->inner, key, n);
		sha256_end(&h->inner, pad);
	} else if (n) {
		memcpy(pad, key, n);
	}
	for (size_t i = 0; i < sizeof(pad); i++) {
		h->outer_pad[i] = pad[i] ^ 0x5c;
		pad[i] ^= 0x36;
	}
	sha256_init(&h->inner);
	sha256_add(&h->inner, pad, sizeof(pad));
	explicit_bzero(pad, sizeof(pad));
}

void hmac_end(struct hmac *h, uint8_t digest[SHA256_BYTES])
{
	sha256_end(&h->inner, digest);
	sha256_init(&h->inner);
	sha256_add(&h->inner, h->outer_pad, sizeof(h->outer_pad));
	sha256_add(&h->inner, digest, SHA256_BYTES);
	sha256_end(&h->inner, digest);
	explicit_bzero(h, sizeof(*h));
}

void sha256_hex(const uint8_t digest[SHA256_BYTES], char hex[SHA256_HEX_BYTES])
{
	for (int i = 0; i < SHA256_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void sha256_end_hex(struct sha256 *h, char hex[SHA256_HEX_BYTES])
{
	uint8_t digest[SHA256_BYTES];

	sha256_end(h, digest);
	sha256_hex(digest, hex);
}

void sha256_bytes(const void *data, size_t n, char hex[SHA256_HEX_BYTES])
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, data, n);
	sha256_end_hex(&h, hex);
}

int sha256_file(const char *path, char hex[SHA256_HEX_BYTES], struct fh_error *err)
{
	auto_close int fd = fd_open_file(path, err);
	char chunk[65536];
	struct sha256 h;
	ssize_t n;

	if (fd < 0)
		return fd;
	sha256_init(&h);
	while ((n = fd_read_full(fd, chunk, sizeof(chunk))) > 0)
		sha256_add(&h, chunk, (size_t)n);
	if (n < 0)
		return error_set(err, (int)-n, "read '%s'", path);
	sha256_end_hex(&h, hex);
	return 0;
}

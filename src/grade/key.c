/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/key.h"

#include <string.h>

void judge_key(const struct secret *secret, const char *task_hash, const struct sha256 *history,
		char out_hex[SHA256_HEX_BYTES])
{
	struct sha256 so_far = *history;
	char hex[SHA256_HEX_BYTES];

	sha256_end_hex(&so_far, hex);
	secret_key(secret, "judge", task_hash, hex, out_hex);
}

void judge_key_of(const char *grading_key, const uint8_t submission[SHA256_BYTES],
		char out_hex[SHA256_HEX_BYTES])
{
	uint8_t digest[SHA256_BYTES];
	struct hmac h;

	hmac_init(&h, grading_key, strlen(grading_key));
	sha256_add_str(&h.inner, SECRET_KEY_LABEL);
	sha256_add(&h.inner, submission, SHA256_BYTES);
	hmac_end(&h, digest);
	sha256_hex(digest, out_hex);
}

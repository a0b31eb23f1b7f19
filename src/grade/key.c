/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/key.h"

#include <errno.h>
#include <unistd.h>

void judge_key(const struct secret *secret, const char *task_hash, const struct sha256 *history,
		char out_hex[SHA256_HEX_BYTES])
{
	struct sha256 so_far = *history;
	uint8_t digest[SHA256_BYTES];
	char hex[SHA256_HEX_BYTES];

	sha256_end(&so_far, digest);
	sha256_hex(digest, hex);
	secret_key(secret, "judge", task_hash, hex, out_hex);
}

int judge_key_of(const char *grading_key, int submission, char out_hex[SHA256_HEX_BYTES],
		struct fh_error *err)
{
	uint8_t digest[SHA256_BYTES];
	char chunk[16384];
	struct sha256 h;
	off_t at = 0;
	ssize_t n;

	sha256_init(&h);
	sha256_add_str(&h, grading_key);
	while ((n = pread(submission, chunk, sizeof(chunk), at)) > 0) {
		sha256_add(&h, chunk, (size_t)n);
		at += n;
	}
	if (n < 0)
		return error_set(err, errno, "read the submission");
	sha256_end(&h, digest);
	sha256_hex(digest, out_hex);
	return 0;
}

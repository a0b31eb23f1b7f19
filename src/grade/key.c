/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/key.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool from_hex(const char *hex, uint8_t *out, size_t n)
{
	if (strlen(hex) != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Whoever comes first makes it; link() refuses the others, who then read what is there. */
static int make(const char *path, struct fh_error *err)
{
	auto_free char *temporary = xasprintf("%s.%d.tmp", path, (int)gettid());
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct judge_secret secret;
	int r = 0;

	if (fd < 0)
		return error_set(err, errno, "create '%s'", temporary);
	if (getrandom(secret.bytes, sizeof(secret.bytes), 0) != sizeof(secret.bytes))
		r = -EIO;
	if (r == 0)
		r = fd_write_full(fd, secret.bytes, sizeof(secret.bytes));
	if (r == 0 && link(temporary, path) < 0 && errno != EEXIST)
		r = -errno;
	unlink(temporary);
	explicit_bzero(&secret, sizeof(secret));
	return r < 0 ? error_set(err, -r, "write '%s'", path) : 0;
}

static int read_secret(const char *path, struct judge_secret *out, struct fh_error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct judge_secret secret;
	ssize_t n;

	if (fd < 0)
		return error_set(err, errno, "open '%s'", path);
	n = fd_read_full(fd, secret.bytes, sizeof(secret.bytes));
	if (n < 0)
		return error_set(err, (int)-n, "read '%s'", path);
	if ((size_t)n < sizeof(secret.bytes))
		return error_say(err, EINVAL, "'%s' is too short; remove it, and a new one is made",
				path);
	*out = secret;
	return 0;
}

int judge_secret_load(const char *state_dir, struct judge_secret *out, struct fh_error *err)
{
	const char *variable = getenv("FUMEHOOD_JUDGE_KEY");
	auto_free char *path = path_join(state_dir, "judge.key");
	struct judge_secret secret = { 0 };
	int r = 0;

	if (variable && *variable) {
		if (!from_hex(variable, secret.bytes, sizeof(secret.bytes)))
			return error_say(err, EINVAL,
					"FUMEHOOD_JUDGE_KEY must be %zu hexadecimal digits",
					2 * sizeof(secret.bytes));
		*out = secret;
		return 0;
	}
	if (!path_exists(path))
		r = make(path, err);
	if (r == 0)
		r = read_secret(path, out, err);
	return r < 0 ? error_wrap(err, "the judge's key") : 0;
}

void judge_key(const struct judge_secret *secret, const char *task, uint64_t seed,
		uint32_t n_before, char out_hex[SHA256_HEX_BYTES])
{
	uint8_t digest[SHA256_BYTES];
	char numbers[64];
	struct sha256 h;

	snprintf(numbers, sizeof(numbers), "%llu %lu", (unsigned long long)seed,
			(unsigned long)n_before);
	sha256_init(&h);
	sha256_add_str(&h, "judge");
	sha256_add(&h, secret->bytes, sizeof(secret->bytes));
	sha256_add_str(&h, task);
	sha256_add_str(&h, numbers);
	/* An inner and an outer hash: what comes out can't be lengthened into another key. */
	sha256_end(&h, digest);
	sha256_init(&h);
	sha256_add(&h, digest, sizeof(digest));
	sha256_end(&h, digest);
	sha256_hex(digest, out_hex);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static int secret_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool secret_from_hex(const char *hex, uint8_t *out, size_t n)
{
	if (strlen(hex) != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int high = secret_digit(hex[2 * i]), low = secret_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Whoever comes first makes it; link() refuses the others, who then read what is there. */
static int secret_make(const char *path, struct fh_error *err)
{
	auto_free char *temporary = xasprintf("%s.%d.tmp", path, (int)gettid());
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct secret secret;
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

static int secret_read_file(const char *path, struct secret *out, struct fh_error *err)
{
	auto_close int fd = fd_open_file(path, err);
	struct secret secret;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = fd_read_full(fd, secret.bytes, sizeof(secret.bytes));
	if (n < 0)
		return error_set(err, (int)-n, "read '%s'", path);
	if ((size_t)n < sizeof(secret.bytes))
		return error_say(err, EINVAL, "'%s' is too short; remove it, and a new one is made",
				path);
	*out = secret;
	return 0;
}

static int secret_of_variable(const char *hex, struct secret *out, struct fh_error *err)
{
	struct secret secret = { 0 };

	if (!secret_from_hex(hex, secret.bytes, sizeof(secret.bytes)))
		return error_say(err, EINVAL, "FUMEHOOD_JUDGE_KEY must be %zu hexadecimal digits",
				2 * sizeof(secret.bytes));
	*out = secret;
	return 0;
}

static int secret_find(
		const char *state_dir, bool may_make, struct secret *out, struct fh_error *err)
{
	const char *variable = getenv("FUMEHOOD_JUDGE_KEY");
	auto_free char *path = path_join(state_dir, "judge.key");
	int r = 0;

	if (variable && *variable)
		return secret_of_variable(variable, out, err);
	if (may_make && !path_exists(path))
		r = secret_make(path, err);
	if (r == 0)
		r = secret_read_file(path, out, err);
	return r < 0 ? error_wrap(err, "the machine's key") : 0;
}

int secret_load(const char *state_dir, struct secret *out, struct fh_error *err)
{
	return secret_find(state_dir, true, out, err);
}

int secret_read(const char *state_dir, struct secret *out, struct fh_error *err)
{
	return secret_find(state_dir, false, out, err);
}

void secret_key(const struct secret *secret, const char *purpose, const char *what,
		const char *which, char out_hex[SHA256_HEX_BYTES])
{
	uint8_t digest[SHA256_BYTES];
	struct hmac h;

	hmac_init(&h, secret->bytes, sizeof(secret->bytes));
	sha256_add_str(&h.inner, SECRET_KEY_LABEL);
	sha256_add_str(&h.inner, purpose);
	sha256_add_str(&h.inner, what);
	sha256_add_str(&h.inner, which);
	hmac_end(&h, digest);
	sha256_hex(digest, out_hex);
}

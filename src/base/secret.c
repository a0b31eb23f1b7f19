/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static int secret_fill(int fd, const char *temporary, const char *path)
{
	struct secret secret;
	int r;

	if (getrandom(secret.bytes, sizeof(secret.bytes), 0) != sizeof(secret.bytes))
		return -EIO;
	r = fd_write_full(fd, secret.bytes, sizeof(secret.bytes));
	explicit_bzero(&secret, sizeof(secret));
	if (r < 0)
		return r;
	return link(temporary, path) < 0 && errno != EEXIST ? -errno : 0;
}

/* Makes the secret's file. If several processes do so at once, the first link() wins, and all read
 * the winner's file. */
static int secret_make(const char *path, struct fh_error *err)
{
	auto_free char *temporary = xasprintf("%s.%d.tmp", path, (int)gettid());
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return error_set(err, errno, "create '%s'", temporary);
	r = secret_fill(fd, temporary, path);
	unlink(temporary);
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
	size_t n = strlen(hex);

	for (size_t i = 0; n == 2 * sizeof(secret.bytes) && i < n; i++) {
		int digit = str_hex_digit(hex[i]);

		if (digit < 0)
			n = 0;
		secret.bytes[i / 2] = (uint8_t)(secret.bytes[i / 2] << 4 | digit);
	}
	if (n != 2 * sizeof(secret.bytes))
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
	int r;

	if (variable && *variable)
		return secret_of_variable(variable, out, err);
	if (may_make && !path_exists(path)) {
		r = secret_make(path, err);
		if (r < 0)
			return error_wrap(err, "the machine's key");
	}
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "data/part.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define PART_DIGITS 16
#define PART_END ".part"
#define READ_BYTES 65536

static void part_remove_others(const struct part *p)
{
	auto_free char *folder = path_dirname(p->target);
	const char *base = path_basename(p->target);
	auto_dir DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		size_t n = strlen(base);

		if (strlen(name) == n + 1 + PART_DIGITS + strlen(PART_END) &&
				str_starts(name, base) && name[n] == '.' &&
				str_ends(name, PART_END) && !str_eq(name, path_basename(p->path)))
			unlinkat(dirfd(dir), name, 0);
	}
}

static int part_read_old(struct part *p, struct fh_error *err)
{
	auto_free char *data = xcalloc(1, READ_BYTES);
	ssize_t n;

	while ((n = fd_read_full(p->fd, data, READ_BYTES)) > 0) {
		sha256_add(&p->hash, data, (size_t)n);
		p->done += n;
	}
	if (n < 0)
		return error_set(err, (int)-n, "read '%s'", p->path);
	p->is_continued = p->done > 0;
	return 0;
}

int part_open(const char *target, const char *identity, struct part *out, struct fh_error *err)
{
	struct part p = { .target = target, .fd = -1, .keep = identity != NULL };
	char hex[SHA256_HEX_BYTES];
	struct sha256 h;
	int r;

	sha256_init(&h);
	sha256_add_str(&h, identity);
	sha256_end_hex(&h, hex);
	p.path = xasprintf("%s.%.*s" PART_END, target, PART_DIGITS, hex);
	part_remove_others(&p);
	sha256_init(&p.hash);
	p.fd = open(p.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (p.fd < 0)
		r = error_set(err, errno, "open '%s'", p.path);
	else
		r = identity ? part_read_old(&p, err) : part_restart(&p, err);
	if (r < 0) {
		part_close(&p);
		return r;
	}
	*out = p;
	return 0;
}

void part_close(struct part *p)
{
	if (p->fd >= 0 && (!p->keep || !p->done))
		unlink(p->path);
	close_fd(&p->fd);
	free(take_ptr(p->path));
}

int part_add(struct part *p, const void *data, size_t n, struct fh_error *err)
{
	int r = fd_write_full(p->fd, data, n);

	if (r < 0)
		return error_set(err, -r, "write '%s'", p->path);
	sha256_add(&p->hash, data, n);
	p->done += (int64_t)n;
	return 0;
}

int part_restart(struct part *p, struct fh_error *err)
{
	sha256_init(&p->hash);
	p->done = 0;
	p->is_continued = false;
	if (ftruncate(p->fd, 0) < 0 || lseek(p->fd, 0, SEEK_SET) < 0)
		return error_set(err, errno, "empty '%s'", p->path);
	return 0;
}

int part_finish(struct part *p, const char *expected, char out_hex[SHA256_HEX_BYTES],
		struct fh_error *err)
{
	struct sha256 h = p->hash;
	char hex[SHA256_HEX_BYTES];

	sha256_end_hex(&h, hex);
	if (expected && strcasecmp(hex, expected) != 0) {
		part_restart(p, NULL);
		return error_say(err, EBADMSG, "it has the sha256 %s, not %s", hex, expected);
	}
	/* Let all users read the file: sandboxes run as other users. */
	if (fchmod(p->fd, 0644) < 0 || fsync(p->fd) < 0)
		return error_set(err, errno, "write '%s'", p->path);
	if (rename(p->path, p->target) < 0)
		return error_set(err, errno, "rename '%s' to '%s'", p->path, p->target);
	close_fd(&p->fd);
	memcpy(out_hex, hex, sizeof(hex));
	return 0;
}

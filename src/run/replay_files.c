/* SPDX-License-Identifier: Apache-2.0 */
#include "run/replay_files.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "env/env.h"
#include "inside/pack.h"
#include "python/pyjson.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTED_BYTES_MAX (1UL << 20)
#define FILES_MAX 1000
#define PATH_BYTES_MAX 4096
#define LEFT_OUT "data"
/* Most time without a byte from the sandbox: an agent can make reading a file wait. */
#define SILENCE_MS 30000

struct replay_file {
	char *path;
	uint8_t digest[SHA256_BYTES];
	bool has_text, seen;
};

void replay_files_init(struct replay_files *f)
{
	*f = (struct replay_files){ .lines = BUF_INIT(REPLAY_FILES_BYTES_MAX), .steps = -1 };
}

void replay_files_release(struct replay_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->files[i].path);
	free(f->files);
	buf_release(&f->lines);
}

/* --- files ------------------------------------------------------------------------------------ */

static struct replay_file *replay_files_find(struct replay_files *f, const char *path)
{
	for (size_t i = 0; i < f->n; i++)
		if (str_eq(f->files[i].path, path))
			return &f->files[i];
	return NULL;
}

/* Adds a line. `text`: NULL if the file has no text any more. */
static int replay_files_add(struct replay_files *f, const struct replay_file *file,
		const char *text, size_t n, struct fh_error *err)
{
	auto_buf struct buf written = BUF_INIT(REPLAY_FILES_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&f->lines, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	pyjson_put_i64(&w, "step", f->steps + 1);
	json_text_add(&written, file->path, strlen(file->path), JSON_TEXT_BYTES);
	pyjson_put_written(&w, "path", buf_str(&written));
	buf_clear(&written);
	if (text) {
		json_text_add(&written, text, n, JSON_TEXT_BYTES);
		pyjson_put_written(&w, "text", buf_str(&written));
	} else {
		pyjson_put_null(&w, "text");
		pyjson_put_bool(&w, "gone", !file->seen);
	}
	pyjson_end_object(&w);
	buf_add_char(&f->lines, '\n');
	if (f->lines.truncated || written.truncated)
		return error_say(err, EFBIG, "they have more than %ld MB",
				REPLAY_FILES_BYTES_MAX >> 20);
	return 0;
}

/* Takes a file as it is now. `text`: NULL if it is no text, or too long. */
static int replay_files_take(struct replay_files *f, const char *path, const char *text, size_t n,
		struct fh_error *err)
{
	struct replay_file *file = replay_files_find(f, path);
	uint8_t digest[SHA256_BYTES] = { 0 };
	struct sha256 sum;

	if (!file && !text)
		return 0;
	if (!file) {
		f->is_full = f->n == FILES_MAX;
		if (f->is_full)
			return 0;
		f->files = xgrow(f->files, f->n, sizeof(*f->files));
		file = &f->files[f->n++];
		*file = (struct replay_file){ .path = xstrdup(path) };
	}
	file->seen = true;
	if (text) {
		sha256_init(&sum);
		sha256_add(&sum, text, n);
		sha256_end(&sum, digest);
	}
	if (file->has_text == (text != NULL) && memcmp(file->digest, digest, sizeof(digest)) == 0)
		return 0;
	file->has_text = text != NULL;
	memcpy(file->digest, digest, sizeof(digest));
	return replay_files_add(f, file, text, n, err);
}

/* Notes that files are gone which were not seen this time. */
static int replay_files_take_gone(struct replay_files *f, struct fh_error *err)
{
	for (size_t i = 0; i < f->n; i++) {
		struct replay_file *file = &f->files[i];
		int r = 0;

		if (!file->seen && file->has_text)
			r = replay_files_add(f, file, NULL, 0, err);
		if (r < 0)
			return r;
		file->has_text &= file->seen;
		file->seen = false;
	}
	return 0;
}

/* --- the packed workspace --------------------------------------------------------------------- */

static int replay_files_read(int fd, void *to, size_t n, struct fh_error *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (size_t at = 0; at < n;) {
		ssize_t got = read(fd, (char *)to + at, n - at);

		if (got > 0)
			at += (size_t)got;
		else if (got == 0)
			return error_say(err, EPIPE, "the workspace can't be read");
		else if (errno != EAGAIN && errno != EINTR)
			return error_set(err, errno, "read them");
		else if (errno == EAGAIN && poll(&p, 1, SILENCE_MS) == 0)
			return error_say(err, ETIMEDOUT, "the sandbox does not answer");
	}
	return 0;
}

static int replay_files_skip(int fd, uint64_t n, struct fh_error *err)
{
	char dropped[4096];

	while (n > 0) {
		size_t most = n < sizeof(dropped) ? (size_t)n : sizeof(dropped);
		int r = replay_files_read(fd, dropped, most, err);

		if (r < 0)
			return r;
		n -= most;
	}
	return 0;
}

/* Reads an entry's content. The sandbox' files are untrusted. */
static int replay_files_read_file(struct replay_files *f, int fd, const char *path, uint64_t bytes,
		struct fh_error *err)
{
	bool is_long = bytes > NOTED_BYTES_MAX;
	auto_free char *text = is_long ? NULL : xcalloc(bytes + 1, 1);
	int r = is_long ? replay_files_skip(fd, bytes, err)
			: replay_files_read(fd, text, bytes, err);

	if (r < 0)
		return r;
	if (text && memchr(text, '\0', bytes))
		free(take_ptr(text));
	return replay_files_take(f, path, text, bytes, err);
}

static int replay_files_read_entry(
		struct replay_files *f, int fd, bool *out_over, struct fh_error *err)
{
	char path[PATH_BYTES_MAX + 1] = "";
	struct pack_entry entry;
	int r = replay_files_read(fd, &entry, sizeof(entry), err);

	if (r < 0)
		return r;
	if (entry.kind > PACK_END || entry.path_bytes > PATH_BYTES_MAX)
		return error_say(err, EPROTO, "the sandbox packed them in a wrong form");
	if (entry.kind == PACK_END) {
		*out_over = true;
		return 0;
	}
	r = replay_files_read(fd, path, entry.path_bytes, err);
	if (r < 0)
		return r;
	if (entry.kind == PACK_FILE)
		return replay_files_read_file(f, fd, path, entry.bytes, err);
	return replay_files_skip(fd, entry.bytes, err);
}

static int replay_files_look(struct replay_files *f, struct fh_env *env, struct fh_error *err)
{
	auto_close int from = -1, to = -1;
	bool is_over = false;
	int r = fd_pipe(&from, &to);

	if (r < 0)
		return error_set(err, -r, "make a pipe");
	r = env_pack(env, LEFT_OUT, to, err);
	if (r < 0)
		return r;
	close_fd(&to);
	while (!is_over) {
		r = replay_files_read_entry(f, from, &is_over, err);
		if (r < 0)
			return r;
	}
	return replay_files_take_gone(f, err);
}

void replay_files_note(struct replay_files *f, struct fh_env *env)
{
	size_t whole = f->lines.len;

	if (f->failed.code)
		return;
	if (replay_files_look(f, env, &f->failed) == 0) {
		f->steps++;
		return;
	}
	/* Drop the lines of a step that was not read to its end. */
	f->lines.len = whole;
	f->lines.truncated = false;
}

int replay_files_write(const struct replay_files *f, const char *folder, int64_t record_bytes,
		size_t differs, struct fh_error *err)
{
	auto_buf struct buf out = BUF_INIT(REPLAY_FILES_BYTES_MAX + 4096);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&out, PYJSON_LINE);
	auto_free char *path = path_join(folder, REPLAY_FILES);

	pyjson_put_object(&w, NULL);
	pyjson_put_i64(&w, "format", 1);
	pyjson_put_i64(&w, "record_bytes", record_bytes);
	pyjson_put_i64(&w, "steps", f->steps);
	if (differs)
		pyjson_put_i64(&w, "differs", (int64_t)differs);
	else
		pyjson_put_null(&w, "differs");
	pyjson_put_bool(&w, "full", f->is_full);
	pyjson_end_object(&w);
	buf_add_char(&out, '\n');
	buf_add(&out, buf_str(&f->lines), f->lines.len);
	return fd_write_file(path, out.data, out.len, 0644, err);
}

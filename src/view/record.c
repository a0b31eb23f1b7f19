/* SPDX-License-Identifier: Apache-2.0 */
#include "view/record.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/event_log.h"
#include "view/record_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define PIECE_BYTES (256L << 10)

struct record *record_new(const char *path)
{
	struct record *r = xcalloc(1, sizeof(*r));

	r->path = xstrdup(path);
	r->events = str_ends(path, ".jsonl");
	r->baseline = NAN;
	splitter_init(&r->splitter, r->events);
	return r;
}

void record_free(struct record *r)
{
	if (!r)
		return;
	parts_release(r);
	free(r->path);
	free(r);
}

/* Starts to read from the beginning, because the file was replaced. */
static void record_restart(struct record *r)
{
	struct record fresh = {
		.path = r->path,
		.events = r->events,
		.is_written = r->is_written,
		.epoch = r->epoch + 1,
		.baseline = NAN,
	};

	parts_release(r);
	*r = fresh;
	splitter_init(&r->splitter, r->events);
}

static int record_read_fd(int fd, int64_t begin, int64_t end, struct buf *out, struct fh_error *err)
{
	if (end < begin || (uint64_t)(end - begin) > out->cap)
		return error_say(err, EFBIG, "the part has %lld bytes", (long long)(end - begin));
	while (begin < end) {
		size_t room = buf_reserve(out, (size_t)(end - begin));
		ssize_t n = room ? pread(fd, out->data + out->len, room, begin) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "read a record");
		if (n == 0)
			return error_say(err, ENODATA, "the record is shorter than before");
		out->len += (size_t)n;
		out->data[out->len] = '\0';
		begin += n;
	}
	return 0;
}

int record_read(const struct record *r, int64_t begin, int64_t end, struct buf *out,
		struct fh_error *err)
{
	auto_close int fd = fd_open_plain(r->path, err);

	return fd < 0 ? fd : record_read_fd(fd, begin, end, out, err);
}

struct record_reading {
	struct record *record;
	int fd;
	struct buf part;
};

/* Reads a part of the record again, now that its end is known. */
static void record_take(void *user, enum record_part part, int64_t begin, int64_t end)
{
	struct record_reading *q = user;
	struct run_part taken = { .part = part, .begin = begin, .end = end };

	if (part == PART_MESSAGE) {
		parts_add_message(q->record, begin, end);
		return;
	}
	buf_clear(&q->part);
	if (record_read_fd(q->fd, begin, end, &q->part, NULL) >= 0) {
		taken.data = buf_str(&q->part);
		taken.n = q->part.len;
	}
	parts_take(q->record, &taken);
}

static int record_read_pieces(struct record_reading *q, int64_t size, struct fh_error *err)
{
	auto_buf struct buf piece = BUF_INIT(PIECE_BYTES);
	struct splitter *splitter = &q->record->splitter;

	while (splitter->at < size) {
		int64_t left = size - splitter->at;
		int64_t end = splitter->at + (left < PIECE_BYTES ? left : PIECE_BYTES);
		int status;

		buf_clear(&piece);
		status = record_read_fd(q->fd, splitter->at, end, &piece, err);
		if (status < 0)
			return status;
		splitter_bytes(splitter, piece.data, piece.len, record_take, q);
	}
	return 0;
}

static int record_read_more(struct record *r, int fd, int64_t size, struct fh_error *err)
{
	struct record_reading q = {
		.record = r, .fd = fd, .part = BUF_INIT(RECORD_PART_BYTES_MAX)
	};
	int status = record_read_pieces(&q, size, err);

	buf_release(&q.part);
	return status;
}

int record_refresh(struct record *r, struct fh_error *err)
{
	auto_close int fd = fd_open_plain(r->path, err);
	struct stat st;
	int64_t mtime_ns;
	bool same, grew;
	int status;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return error_set(err, errno, "look at a record");
	mtime_ns = record_mtime_ns(&st);
	r->is_written = r->events && event_log_is_open(fd);
	same = r->opened && st.st_ino == r->inode && st.st_dev == r->device;
	if (same && st.st_size == r->size && mtime_ns == r->mtime_ns)
		return 0;
	grew = same && r->events && st.st_size > r->size;
	if (r->opened && !grew)
		record_restart(r);
	status = record_read_more(r, fd, st.st_size, err);
	if (!r->opened)
		parts_add_others(r);
	r->opened = true;
	if (!r->events)
		r->whole = splitter_is_whole(&r->splitter);
	r->device = st.st_dev;
	r->inode = st.st_ino;
	r->size = st.st_size;
	r->mtime_ns = mtime_ns;
	return status;
}

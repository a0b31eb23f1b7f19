/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A call to the environment. A file has the request, a byte in a pipe announces the request, and
 * another file gets the answer. The caller looks for the answer with growing pauses. inside/tools.h
 * has the formats, and env/calls.c answers.
 */

#define FOLDER GUEST_HOME "/" GUEST_EDITOR_FOLDER
#define CALL GUEST_HOME "/" GUEST_CALL
#define CALL_ANSWER GUEST_HOME "/" GUEST_ANSWER
#define LOCK FOLDER "/lock" /* lock file that allows one call at a time */
#define CALL_ANSWER_BYTES_MAX (64 << 20)
#define PAUSE_NS_MIN (1000L * 1000)
#define PAUSE_NS_MAX (50L * 1000 * 1000)

#define REFUSED 1 /* the answer is only a sentence, the reason of a failure */

/* Removes the first line of the environment's answer to a tool. Returns 0 if a document follows,
 * REFUSED if the reason of a failure does. -EAGAIN if the answer is not complete yet. */
static int call_take_head(struct buf *answer, const char *id)
{
	static const char *const words[] = { " ok ", " no " };
	size_t n = strlen(id), size;
	const char *text = buf_str(answer);
	char *end;

	for (size_t i = 0; str_starts(text, id) && i < 2; i++) {
		if (!str_starts(text + n, words[i]))
			continue;
		size = strtoul(text + n + strlen(words[i]), &end, 10);
		if (*end != '\n' || (size_t)(text + answer->len - end - 1) != size)
			break;
		buf_consume(answer, (size_t)(end + 1 - text));
		return i == 0 ? 0 : REFUSED;
	}
	return -EAGAIN;
}

/* Reads the answer's file. -EAGAIN: the file is missing or incomplete, or does not belong to the
 * agent yet. */
static int call_read_answer(const char *id, struct buf *out)
{
	struct stat st;
	int r;

	/* If the agent replaced the folder by a link, the environment writes no answer. */
	if (lstat(FOLDER, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	buf_clear(out);
	r = fd_read_file(CALL_ANSWER, out, NULL);
	if (r < 0)
		return r == -ENOENT || r == -EACCES ? -EAGAIN : r;
	return call_take_head(out, id);
}

static int call_await_answer(const char *id, int timeout_s, struct buf *out)
{
	int64_t end_ns = clock_now_ns() + timeout_s * NS_PER_S;
	long pause_ns = PAUSE_NS_MIN;
	int r;

	while (clock_now_ns() < end_ns) {
		r = call_read_answer(id, out);
		if (r != -EAGAIN)
			return r;
		nanosleep(&(struct timespec){ .tv_nsec = pause_ns }, NULL);
		pause_ns += pause_ns / 4;
		pause_ns = pause_ns < PAUSE_NS_MAX ? pause_ns : PAUSE_NS_MAX;
	}
	return -ETIMEDOUT;
}

static int call_exchange(const char *service, const char *text, int timeout_s, struct buf *out)
{
	auto_buf struct buf call = BUF_INIT(CALL_BYTES_MAX);
	char id[CALL_ID_MAX + 1];
	uint64_t number;
	int r;

	if (strlen(text) > CALL_TEXT_MAX)
		return -E2BIG;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(id, sizeof(id), "%016llx", (unsigned long long)number);
	buf_printf(&call, "%s %s\n%s", service, id, text);
	if (unlink(CALL_ANSWER) < 0 && errno != ENOENT)
		return -errno;
	r = fd_write_file(CALL, buf_str(&call), call.len, 0600, NULL);
	if (r < 0)
		return r;
	r = aci_tell_call() ? call_await_answer(id, timeout_s, out) : -EPIPE;
	unlink(CALL);
	unlink(CALL_ANSWER);
	return r;
}

bool aci_call(const char *service, const char *text, int timeout_s, struct buf *out)
{
	auto_close int lock = -1;
	int r;

	buf_init(out, CALL_ANSWER_BYTES_MAX);
	mkdir(FOLDER, 0700);
	lock = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
	r = lock < 0 || flock(lock, LOCK_EX) < 0 ? -errno
						 : call_exchange(service, text, timeout_s, out);
	if (r == REFUSED)
		fprintf(stderr, "%s\n", buf_str(out));
	else if (r == -E2BIG)
		fprintf(stderr, "that is too long to ask for: %d bytes at most\n", CALL_TEXT_MAX);
	else if (r < 0)
		fprintf(stderr, "no answer came through %s: %s\n", FOLDER, strerror(-r));
	return r == 0;
}

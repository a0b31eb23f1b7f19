/* SPDX-License-Identifier: Apache-2.0 */
#include "env/memory.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/job.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "env/memory_merge.h"
#include "inside/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/*
 * A memory file that comes out of a sandbox is untrusted. It is parsed, and only ever put into
 * sandboxes again. A malformed one is not kept. Episodes of several processes may keep the same
 * file at the same time, under a file lock of its folder.
 *
 * The task may be untrusted, too: its memory file must lie in the task's folder, even after links
 * are resolved.
 */

/* An agent's memory file up to this size is checked at once, in 1 to 2 ms. A larger one is checked
 * in a job (base/job.h). */
#define AT_ONCE_BYTES (128 << 10)
#define LOCK_MS 5000
#define LOCK_PAUSE_US 10000

void memory_init(struct memory *m)
{
	buf_init(&m->began, GUEST_MEMORY_BYTES_MAX);
}

static int memory_find_kept(const struct task *task, char **out, struct fh_error *err)
{
	return path_beneath_new(task->dir, task->memory, out, err);
}

int memory_check_task(const struct task *task, struct fh_error *err)
{
	auto_buf struct buf memory = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	auto_free char *path = NULL;
	int r = memory_find_kept(task, &path, err);

	if (r < 0)
		return r;
	if (path_exists(path)) {
		r = fd_read_plain(path, &memory, err);
		if (r < 0)
			return r;
	}
	return memory_check(&memory, path, err);
}

/* --- memory at an episode's beginning --------------------------------------------------------- */

const struct buf *memory_began(const struct memory *m)
{
	return m->has_began ? &m->began : NULL;
}

bool memory_is_busy(const struct memory *m)
{
	return m->job;
}

static int memory_check_began(void *memory, struct fh_error *err)
{
	return memory_check(&((struct memory *)memory)->began, "the task's memory", err);
}

static int memory_end_job(struct memory *m, struct fh_error *err)
{
	poller_unwatch(m->poller, job_fd(m->job));
	return job_end(take_ptr(m->job), err);
}

int memory_read(struct memory *m, struct fh_error *err)
{
	auto_free char *path = m->file ? xstrdup(m->file) : NULL;
	int r;

	if (m->job) /* end a job of an earlier reset, which timed out */
		memory_end_job(m, NULL);
	buf_clear(&m->began);
	m->has_began = false;
	if (!path && m->is_kept) {
		r = memory_find_kept(m->task, &path, err);
		if (r < 0)
			return r;
	}
	if (!path || !path_exists(path))
		return 0;
	r = fd_read_plain(path, &m->began, err);
	if (r < 0)
		return r;
	if (!m->file) { /* only a memory at memory_path gets new notes, so only that is checked */
		if (m->began.len > AT_ONCE_BYTES) {
			r = job_begin(memory_check_began, m, "read a memory", &m->job, err);
			return r < 0 ? r : 1;
		}
		r = memory_check(&m->began, path, err);
		if (r < 0)
			return r;
	}
	m->has_began = true;
	return 0;
}

int memory_read_advance(struct memory *m, struct fh_error *err)
{
	int r;

	if (!job_is_over(m->job))
		return 1;
	r = memory_end_job(m, err);
	m->has_began = r == 0;
	return r;
}

void memory_waits(const struct memory *m, const struct sandbox *sb, struct waits *w)
{
	if (m->job)
		waits_add(w, job_fd(m->job), POLLIN);
	else
		sandbox_answer_waits(sb, w);
}

/* --- keeping it ------------------------------------------------------------------------------- */

/* Data of the job that saves an agent's memory. The job's thread uses no other data of the
 * environment. */
struct keeping {
	/*
	 * path of the kept memory, with links resolved: the file that a link leads to is replaced,
	 * not the link
	 */
	char *path;
	const struct buf *began; /* memory at the episode's start; stays as it is meanwhile */
	struct buf ours;
};

static void keeping_free(struct keeping *k)
{
	if (!k)
		return;
	buf_release(&k->ours);
	free(k->path);
	free(k);
}

/*
 * Locks the folder and returns its descriptor, which unlocks when it is closed. If the file system
 * has no locks, the folder stays unlocked.
 */
static int keeping_lock(const char *folder, struct fh_error *err)
{
	int64_t end_ns = clock_now_ns() + LOCK_MS * NS_PER_MS;
	auto_close int fd = -1;
	int r = path_mkdirs(folder, 0755, err);

	if (r < 0)
		return r;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "open '%s'", folder);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
		if (clock_now_ns() >= end_ns)
			return error_say(err, EBUSY,
					"another process holds the lock of '%s': try again later",
					folder);
		usleep(LOCK_PAUSE_US);
	}
	return take_fd(&fd);
}

static int keeping_work(void *keeping, struct fh_error *err)
{
	const struct keeping *k = keeping;
	auto_buf struct buf now = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	auto_buf struct buf whole = BUF_INIT(GUEST_MEMORY_BYTES_MAX);
	struct memory_change change = { k->began, &now, &k->ours };
	auto_free char *folder = path_dirname(k->path);
	auto_close int lock = keeping_lock(folder, err);
	int r;

	if (lock < 0)
		return lock;
	r = path_exists(k->path) ? fd_read_plain(k->path, &now, err) : 0;
	if (r < 0)
		return r;
	r = memory_merge(&change, &whole, err);
	if (r < 0)
		return r;
	return fd_write_file(k->path, buf_str(&whole), whole.len, 0644, err);
}

int memory_keep_begin(struct memory *m, struct sandbox *sb, struct fh_error *err)
{
	return sandbox_get_begin(sb, GUEST_HOME, GUEST_MEMORY, GUEST_MEMORY_BYTES_MAX, &m->id, err);
}

/*
 * Takes the memory file that the sandbox has read. If the file has changed in the episode, begins a
 * job that saves its new notes. 1: a job runs; 0: nothing to save.
 */
static int memory_keep_take(struct memory *m, struct sandbox *sb, struct fh_error *err)
{
	struct keeping *k = m->keeping = xcalloc(1, sizeof(*k));
	struct sandbox_answer answer = { .fd = -1 };
	int r;

	k->began = &m->began;
	buf_init(&k->ours, GUEST_MEMORY_BYTES_MAX);
	r = sandbox_take(sb, &answer, err);
	if (r == -ENOENT) /* -ENOENT: the agent has no memory file */
		return 0;
	if (r < 0)
		return r;
	r = fd_read_all(answer.fd, &k->ours);
	close_fd(&answer.fd);
	if (r < 0 || (m->has_began && buf_equal(&k->ours, &m->began)))
		return r;
	r = memory_find_kept(m->task, &k->path, err);
	if (r < 0)
		return r;
	r = job_begin(keeping_work, k, "keep a memory", &m->job, err);
	return r < 0 ? r : 1;
}

int memory_keep_advance(struct memory *m, struct sandbox *sb, struct fh_error *err)
{
	int r;

	if (!m->job && !sandbox_answered(sb, m->id))
		return 1;
	r = m->job ? 1 : memory_keep_take(m, sb, err);
	if (r > 0) {
		if (!job_is_over(m->job))
			return 1;
		r = memory_end_job(m, err);
	}
	keeping_free(take_ptr(m->keeping));
	return r;
}

void memory_release(struct memory *m)
{
	if (m->job)
		memory_end_job(m, NULL);
	keeping_free(take_ptr(m->keeping));
	buf_release(&m->began);
}

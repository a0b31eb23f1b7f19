/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/program.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/scope.h"
#include "proto/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Most bytes that one advance reads of each pipe, so that a loud program keeps nobody waiting. */
#define READ_BYTES_MAX (256 << 10)

static int *guest_end(struct program *p, int special)
{
	return &p->guest_ends[-special - 1];
}

static void close_guest_ends(struct program *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->guest_ends); i++)
		close_fd(&p->guest_ends[i]);
	for (size_t i = 0; i < p->plan.n_fds; i++)
		if (p->plan.fds[i] >= 0)
			close_fd(&p->plan.fds[i]);
	close_fd(&p->plan.run.program_fd);
}

static int open_pipe(int *out_read, int *out_write, struct fh_error *err)
{
	int r = fd_pipe(out_read, out_write, 0);

	return r < 0 ? error_set(err, -r, "make a pipe") : 0;
}

static int open_ends(struct program *p, struct fh_error *err)
{
	int r;

	*guest_end(p, PROGRAM_NOTHING) = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (*guest_end(p, PROGRAM_NOTHING) < 0)
		return error_set(err, errno, "open /dev/null");
	r = open_pipe(&p->log_fd, guest_end(p, PROGRAM_LOG), err);
	if (r < 0)
		return r;
	return open_pipe(&p->result_fd, guest_end(p, PROGRAM_RESULT), err);
}

int program_start(struct program *p, struct owner *owner, const struct program_plan *plan,
		struct fh_error *err)
{
	int r;

	*p = (struct program){
		.owner = owner,
		.plan = *plan,
		.guest_ends = { -1, -1, -1 },
		.log_fd = -1,
		.result_fd = -1,
		.log = BUF_INIT(2 * PROGRAM_LOG_BYTES),
		.result = BUF_INIT(PROGRAM_RESULT_BYTES),
	};
	r = open_ends(p, err);
	if (r == 0)
		r = sandbox_start(owner, &p->plan.sandbox, &p->sb, err);
	if (r < 0)
		program_release(p);
	return r;
}

bool program_over(const struct program *p)
{
	return p->state == PROGRAM_ENDED || p->state == PROGRAM_BROKEN;
}

void program_waits(const struct program *p, struct waits *w)
{
	if (program_over(p))
		return;
	waits_add(w, sandbox_fd(p->sb), POLLIN);
	waits_add(w, p->log_fd, POLLIN);
	waits_add(w, p->result_fd, POLLIN);
}

/* Keeps the end of the log: its buffer holds twice as much, and loses its first half when full. */
static void keep_log(struct program *p, const char *data, size_t n)
{
	if (n > PROGRAM_LOG_BYTES) {
		data += n - PROGRAM_LOG_BYTES;
		n = PROGRAM_LOG_BYTES;
	}
	if (p->log.len + n > p->log.cap)
		buf_consume(&p->log, p->log.len - (p->log.cap - n));
	buf_add(&p->log, data, n);
}

static void keep_result(struct program *p, const char *data, size_t n)
{
	buf_add(&p->result, data, n);
}

static void read_pipe(struct program *p, int *fd,
		void (*keep)(struct program *p, const char *data, size_t n))
{
	char chunk[16384];
	size_t total = 0;

	while (*fd >= 0 && total < READ_BYTES_MAX) {
		ssize_t n = read(*fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close_fd(fd);
			return;
		}
		keep(p, chunk, (size_t)n);
		total += (size_t)n;
	}
}

static int put_file(struct program *p)
{
	const struct program_plan *plan = &p->plan;
	struct stat st;
	void *data = NULL;
	int r;

	if (!plan->put_path)
		return 0;
	if (fstat(plan->put_fd, &st) < 0)
		return error_set(&p->err, errno, "stat the copy of %s", plan->put_path);
	if (st.st_size > 0) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, plan->put_fd, 0);
		if (data == MAP_FAILED)
			return error_set(&p->err, errno, "map the copy of %s", plan->put_path);
	}
	r = sandbox_put(p->sb, GUEST_WORKSPACE, plan->put_path, data, (size_t)st.st_size, 0644,
			&p->err);
	if (data)
		munmap(data, (size_t)st.st_size);
	return r;
}

static int run(struct program *p)
{
	struct run_request request = p->plan.run;
	int fds[PROGRAM_FDS_MAX];
	int r;

	r = put_file(p);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->plan.n_fds; i++) {
		int fd = p->plan.fds[i];

		fds[i] = fd >= 0 ? fd : *guest_end(p, fd);
	}
	request.fds = fds;
	request.n_fds = p->plan.n_fds;
	return sandbox_run(p->sb, &request, &p->id, &p->err);
}

/* Nothing of the program ran yet. */
static bool start_again(struct program *p)
{
	if (p->state != PROGRAM_STARTING || ++p->starts == SANDBOX_STARTS_MAX)
		return false;
	sandbox_close(take_ptr(p->sb));
	if (sandbox_start(p->owner, &p->plan.sandbox, &p->sb, &p->err) < 0)
		p->state = PROGRAM_BROKEN;
	return true;
}

static void on_event(struct program *p, const struct sandbox_event *event)
{
	switch (event->kind) {
	case SANDBOX_READY:
		if (p->state != PROGRAM_STARTING)
			break;
		p->state = run(p) < 0 ? PROGRAM_BROKEN : PROGRAM_RUNNING;
		/* Whoever reads from the other ends must see it when the program goes. */
		close_guest_ends(p);
		break;
	case SANDBOX_FAILED:
		error_say(&p->err, EIO, "%s", event->text);
		p->state = PROGRAM_BROKEN;
		break;
	case SANDBOX_EXITED:
		if (p->state != PROGRAM_RUNNING || event->id != p->id)
			break;
		p->status = event->status;
		p->state = PROGRAM_ENDED;
		break;
	case SANDBOX_GONE:
		if (program_over(p) || start_again(p))
			break;
		error_say(&p->err, EIO, "its sandbox ended");
		p->state = PROGRAM_BROKEN;
		break;
	case SANDBOX_NONE:
	case SANDBOX_SHELL:
	case SANDBOX_REQUEST:
	case SANDBOX_INTERRUPTED:
		break;
	}
}

/* What the program left running holds its pipes open, which would keep others waiting. */
static void end(struct program *p)
{
	p->out_of_memory = p->sb && sandbox_oom_kills(p->sb) > 0;
	if (!p->plan.keep_sandbox) {
		sandbox_close(p->sb);
		p->sb = NULL;
	}
	close_guest_ends(p);
}

bool program_advance(struct program *p)
{
	struct sandbox_event event;

	if (program_over(p))
		return true;
	do {
		sandbox_next_event(p->sb, &event);
		on_event(p, &event);
	} while (event.kind != SANDBOX_NONE && !program_over(p));
	/* After the events: what the program wrote before its end is in the pipes by now. */
	read_pipe(p, &p->log_fd, keep_log);
	read_pipe(p, &p->result_fd, keep_result);
	if (program_over(p))
		end(p);
	return program_over(p);
}

int program_wait(struct program *p, int64_t timeout_ms, struct fh_error *err)
{
	int64_t deadline = clock_now_ns() + timeout_ms * NS_PER_MS;

	while (!program_advance(p)) {
		struct waits w = WAITS_INIT;

		if (clock_now_ns() >= deadline)
			return error_say(err, ETIMEDOUT, "took longer than %g s and was ended",
					(double)timeout_ms / 1e3);
		program_waits(p, &w);
		waits_until(&w, deadline);
		waits_poll(&w);
	}
	return 0;
}

void program_release(struct program *p)
{
	sandbox_close(p->sb);
	p->sb = NULL;
	close_guest_ends(p);
	close_fd(&p->log_fd);
	close_fd(&p->result_fd);
	buf_release(&p->log);
	buf_release(&p->result);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/program.h"

#include "base/clock.h"
#include "base/scope.h"
#include "inside/places.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void program_close_fds(struct program *p)
{
	for (size_t i = 0; i < p->plan.n_fds; i++)
		if (p->plan.fds[i] >= 0)
			close_fd(&p->plan.fds[i]);
	close_fd(&p->plan.run.program_fd);
}

/* Keeps the end of the log: its buffer holds twice as much, and loses its first half when full. */
static void program_keep_log(struct program *p, const char *data, size_t n)
{
	if (n > PROGRAM_LOG_BYTES) {
		data += n - PROGRAM_LOG_BYTES;
		n = PROGRAM_LOG_BYTES;
	}
	if (p->log.len + n > p->log.cap)
		buf_consume(&p->log, p->log.len - (p->log.cap - n));
	buf_add(&p->log, data, n);
}

static void program_take_output(void *arg, int slot, const char *data, size_t n)
{
	struct program *p = arg;

	if (slot == PROGRAM_LOG)
		program_keep_log(p, data, n);
	else if (slot == PROGRAM_RESULT)
		buf_add(&p->result, data, n);
}

void program_listen(struct program *p)
{
	sandbox_on_output(p->sb, program_take_output, p);
}

static int program_start_sandbox(struct program *p, struct fh_error *err)
{
	int r = sandbox_start(p->owner, &p->plan.sandbox, &p->sb, err);

	if (r == 0)
		program_listen(p);
	return r;
}

int program_start(struct program *p, struct owner *owner, const struct program_plan *plan,
		struct fh_error *err)
{
	int r;

	*p = (struct program){
		.owner = owner,
		.plan = *plan,
		.log = BUF_INIT(2 * PROGRAM_LOG_BYTES),
		.result = BUF_INIT(PROGRAM_RESULT_BYTES),
	};
	r = program_start_sandbox(p, err);
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
	if (!program_over(p))
		sandbox_waits(p->sb, w);
}

/* --- its states ------------------------------------------------------------------------------ */

/* It is held until our ends of its pipes are closed: once it runs, it may hold their locks. */
static int program_run(struct program *p)
{
	struct run_request request = p->plan.run;
	int r;

	request.fds = p->plan.fds;
	request.n_fds = p->plan.n_fds;
	request.held = true;
	r = sandbox_run(p->sb, &request, &p->id, &p->err);
	program_close_fds(p);
	if (r == 0)
		r = sandbox_go(p->sb, p->id, &p->err);
	p->state = PROGRAM_RUNNING;
	return r;
}

static int program_put(struct program *p)
{
	const struct program_plan *plan = &p->plan;

	if (!plan->put_path)
		return program_run(p);
	p->state = PROGRAM_PUTTING;
	return sandbox_put_begin(p->sb, GUEST_WORKSPACE, plan->put_path, plan->put_fd, 0644,
			&p->request, &p->err);
}

static int program_on_done(struct program *p)
{
	struct sandbox_answer answer = { .fd = -1 };
	int r = sandbox_take(p->sb, &answer, &p->err);

	if (r == 0 && p->state == PROGRAM_PUTTING)
		return program_run(p);
	if (r == 0)
		p->state = PROGRAM_ENDED;
	return r;
}

static int program_on_exit(struct program *p, int status)
{
	p->status = status;
	p->state = PROGRAM_DRAINING;
	return sandbox_drain_begin(p->sb, &p->request, &p->err);
}

/* Nothing of the program ran yet. */
static bool program_restart(struct program *p)
{
	if (p->state != PROGRAM_STARTING || ++p->starts == SANDBOX_STARTS_MAX)
		return false;
	sandbox_close(take_ptr(p->sb));
	if (program_start_sandbox(p, &p->err) < 0)
		p->state = PROGRAM_BROKEN;
	return true;
}

static int program_on_event(struct program *p, const struct sandbox_event *event)
{
	switch (event->kind) {
	case SANDBOX_READY:
		return p->state == PROGRAM_STARTING ? program_put(p) : 0;
	case SANDBOX_FAILED:
		return error_say(&p->err, EIO, "%s", event->text);
	case SANDBOX_EXITED:
		if (p->state == PROGRAM_RUNNING && event->id == p->id)
			return program_on_exit(p, event->status);
		return 0;
	case SANDBOX_DONE:
		return event->id == p->request ? program_on_done(p) : 0;
	case SANDBOX_GONE:
		if (program_over(p) || program_restart(p))
			return 0;
		return error_say(&p->err, EIO, "its sandbox ended");
	case SANDBOX_NONE:
	case SANDBOX_SHELL:
	case SANDBOX_REQUEST:
	case SANDBOX_INTERRUPTED:
	case SANDBOX_HUNGRY:
		break;
	}
	return 0;
}

/* What the program left running holds its pipes open, which would keep others waiting. */
static void program_end(struct program *p)
{
	p->out_of_memory = p->sb && sandbox_oom_kills(p->sb) > 0;
	if (!p->plan.keep_sandbox)
		sandbox_close(take_ptr(p->sb));
	program_close_fds(p);
}

bool program_advance(struct program *p)
{
	struct sandbox_event event;

	if (program_over(p))
		return true;
	do {
		sandbox_next_event(p->sb, &event);
		if (program_on_event(p, &event) < 0)
			p->state = PROGRAM_BROKEN;
	} while (event.kind != SANDBOX_NONE && !program_over(p));
	if (program_over(p))
		program_end(p);
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

/* The sandbox first: what runs there may hold the lock of a pipe whose end we have. */
void program_release(struct program *p)
{
	sandbox_close(p->sb);
	p->sb = NULL;
	program_close_fds(p);
	buf_release(&p->log);
	buf_release(&p->result);
}

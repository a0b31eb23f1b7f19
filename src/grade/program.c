/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/program.h"

#include "base/clock.h"
#include "base/job.h"
#include "base/scope.h"
#include "inside/places.h"

#include <errno.h>

static void program_close_fds(struct program *p)
{
	for (size_t i = 0; i < p->plan.n_streams; i++)
		if (p->plan.streams[i] >= 0)
			close_fd(&p->plan.streams[i]);
}

static void program_take_output(void *arg, int slot, const char *data, size_t n)
{
	struct program *p = arg;
	struct buf *log = &p->log;

	if (slot == PROGRAM_RESULT)
		buf_add(&p->result, data, n);
	if (slot != PROGRAM_LOG)
		return;
	/* Keeps the last bytes of a program's log. The buffer has twice the room, and drops its
	 * oldest bytes when full. */
	if (n > PROGRAM_LOG_BYTES) {
		data += n - PROGRAM_LOG_BYTES;
		n = PROGRAM_LOG_BYTES;
	}
	if (log->len + n > log->cap)
		buf_consume(log, log->len - (log->cap - n));
	buf_add(log, data, n);
}

void program_listen(struct program *p)
{
	sandbox_on_output(p->sb, program_take_output, p);
}

static int program_start_sandbox(struct program *p, struct fh_error *err)
{
	int r = sandbox_start(p->owner, &p->plan.sandbox, &p->sb, err);

	if (r < 0)
		return r;
	program_listen(p);
	return 0;
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

static bool program_over(const struct program *p)
{
	return p->state == PROGRAM_ENDED || p->state == PROGRAM_BROKEN;
}

void program_waits(const struct program *p, struct waits *w)
{
	if (!program_over(p))
		sandbox_waits(p->sb, w);
	else if (p->forgetting)
		waits_add(w, job_fd(p->forgetting), POLLIN);
}

static void program_close_sandbox(struct program *p)
{
	if (p->sb && p->plan.traceless)
		sandbox_close_traceless(take_ptr(p->sb), &p->forgetting);
	else
		sandbox_close(take_ptr(p->sb));
}

/* Returns true if the file pages of a program that is over are dropped, or need not be. */
static bool program_forgotten(struct program *p)
{
	if (p->forgetting && job_is_over(p->forgetting))
		job_end(take_ptr(p->forgetting), NULL);
	return !p->forgetting;
}

/* --- its states ------------------------------------------------------------------------------- */

/* Lets a program run that is set up but held. It waits until plan.after has ended and plan.peer has
 * begun. By then this process has closed its ends of the pipes between the two. */
static int program_go(struct program *p)
{
	const struct program *peer = p->plan.peer, *after = p->plan.after;

	if (peer && (peer->state < PROGRAM_RUNNING || peer->state == PROGRAM_BROKEN))
		return 0;
	if (after && (after->state != PROGRAM_ENDED || after->forgetting))
		return 0;
	p->state = PROGRAM_RUNNING;
	return sandbox_go(p->sb, p->id, &p->err);
}

static int program_run(struct program *p)
{
	const struct program_plan *plan = &p->plan;
	int r = sandbox_run(p->sb,
			&(struct program_request){
					.argv = plan->argv,
					.env = plan->env,
					.cwd = plan->cwd,
					.program = plan->program,
					.streams = plan->streams,
					.n_streams = plan->n_streams,
					.held = true,
			},
			&p->id, &p->err);

	/* Close this process's ends of the pipes before the grader's program begins. A running
	 * program could hold the kernel's locks of its pipes, and close() would wait. */
	program_close_fds(p);
	if (r < 0)
		return r;
	p->state = PROGRAM_HELD;
	return program_go(p);
}

static int program_on_ready(struct program *p)
{
	const struct program_plan *plan = &p->plan;

	if (p->state != PROGRAM_STARTING)
		return 0;
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

	if (r < 0)
		return r;
	if (p->state == PROGRAM_PUTTING)
		return program_run(p);
	p->state = PROGRAM_ENDED;
	return 0;
}

/* Starts another sandbox if the first ended before it was ready. The process that made it may have
 * been killed. */
static int program_on_gone(struct program *p)
{
	if (program_over(p))
		return 0;
	if (p->state != PROGRAM_STARTING || ++p->starts == SANDBOX_STARTS_MAX)
		return error_say(&p->err, EIO, "its sandbox ended");
	sandbox_close(take_ptr(p->sb));
	return program_start_sandbox(p, &p->err);
}

static int program_on_event(struct program *p, const struct sandbox_event *event)
{
	switch (event->kind) {
	case SANDBOX_READY:
		return program_on_ready(p);
	case SANDBOX_FAILED:
		return error_say(&p->err, EIO, "%s", event->text);
	case SANDBOX_EXITED:
		if (p->state != PROGRAM_RUNNING || event->id != p->id)
			return 0;
		p->status = event->status;
		p->state = PROGRAM_DRAINING;
		return sandbox_drain_begin(p->sb, &p->request, &p->err);
	case SANDBOX_DONE:
		return event->id == p->request ? program_on_done(p) : 0;
	case SANDBOX_GONE:
		return program_on_gone(p);
	case SANDBOX_NONE:
	case SANDBOX_REQUEST:
	case SANDBOX_HUNGRY:
		break;
	}
	return 0;
}

bool program_advance(struct program *p)
{
	struct sandbox_event event;

	if (program_over(p))
		return program_forgotten(p);
	if (p->state == PROGRAM_HELD && program_go(p) < 0)
		p->state = PROGRAM_BROKEN;
	do {
		sandbox_next_event(p->sb, &event);
		if (program_on_event(p, &event) < 0)
			p->state = PROGRAM_BROKEN;
	} while (event.kind != SANDBOX_NONE && !program_over(p));
	if (!program_over(p))
		return false;
	p->cpu_ns = program_cpu_ns(p);
	p->out_of_memory = p->sb && sandbox_count(p->sb, SANDBOX_OOM_KILLS) > 0;
	/* Close the sandbox first. Processes that the program left behind would keep its output
	 * pipes open. */
	if (!p->plan.keep_sandbox)
		program_close_sandbox(p);
	program_close_fds(p);
	return program_forgotten(p);
}

int64_t program_cpu_ns(const struct program *p)
{
	return p->sb ? sandbox_count(p->sb, SANDBOX_CPU_NS) : p->cpu_ns;
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
		waits_add(&w, cancel_fd(p->plan.cancel), POLLIN);
		waits_until(&w, deadline);
		if (cancel_is_asked(p->plan.cancel))
			return cancel_refuse(err);
		waits_poll(&w);
	}
	return 0;
}

void program_stop(struct program *p)
{
	if (!program_over(p))
		p->state = PROGRAM_BROKEN;
	/* Close the sandbox first. Otherwise processes in it may hold the kernel's locks of the
	 * pipes, and close() would wait for them. */
	program_close_sandbox(p);
	program_close_fds(p);
}

void program_release(struct program *p)
{
	program_stop(p);
	if (p->forgetting)
		job_end(take_ptr(p->forgetting), NULL);
	buf_release(&p->log);
	buf_release(&p->result);
}

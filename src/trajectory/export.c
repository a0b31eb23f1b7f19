/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/export.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS_MAX 1000000         /* of one run */
#define END_BYTES_MAX (64 * 1024) /* of the last event, where it is an end in order */

/* What is known of the run while its events are read, one after the other. */
struct reading {
	const char *path;
	struct traj *traj;
	struct arena *arena; /* of traj */
	const struct pyjson *open, *reset, *end;
	const struct pyjson *last_info; /* of the reset or step before */
	const char *exit_status;
	size_t steps_size, history_size, messages; /* room in the arrays; message events seen */
	struct pyjson *score;
	const struct pyjson **score_tail;
	bool at_limit; /* the last step was the last allowed */
};

/* --- pieces of the trajectory ----------------------------------------------------------------- */

static const struct pyjson *text(struct reading *r, const char *s)
{
	return pyjson_make_text(r->arena, s);
}

static const struct pyjson *number(struct reading *r, const char *digits)
{
	struct pyjson *v = arena_alloc(r->arena, sizeof(*v));

	v->kind = PYJSON_NUMBER;
	v->text = digits;
	v->len = strlen(digits);
	return v;
}

static struct pyjson *container(struct reading *r, enum pyjson_kind kind)
{
	struct pyjson *v = arena_alloc(r->arena, sizeof(*v));

	v->kind = kind;
	return v;
}

static void *grown(struct arena *a, const void *old, size_t n, size_t *size, size_t one)
{
	void *bigger;

	if (n < *size)
		return (void *)(uintptr_t)old;
	*size = *size ? 2 * *size : 64;
	bigger = arena_array(a, *size, one);
	if (n)
		memcpy(bigger, old, n * one);
	return bigger;
}

static struct traj_step *add_step(struct reading *r)
{
	struct traj *t = r->traj;

	t->steps = grown(r->arena, t->steps, t->n_steps, &r->steps_size, sizeof(*t->steps));
	return &t->steps[t->n_steps++];
}

static struct traj_message *add_message(struct reading *r)
{
	struct traj *t = r->traj;

	t->history = grown(
			r->arena, t->history, t->n_history, &r->history_size, sizeof(*t->history));
	return &t->history[t->n_history++];
}

/* The state that the model saw before it acted, as MLGym's state command prints it. */
static const struct pyjson *state_text(struct reading *r)
{
	static const char *const keys[] = { "open_file", "working_dir" };
	const struct pyjson *state = pyjson_get(r->last_info, "state");
	auto_buf struct buf out = BUF_INIT(256L * 1024);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct pyjson *v = pyjson_get(state, keys[i]);

		buf_printf(&out, "%s\"%s\": ", i ? ", " : "{", keys[i]);
		if (v && v->kind == PYJSON_STRING)
			pyjson_add_ascii(&out, v->text, v->len);
		else
			buf_add_str(&out, "\"n/a\"");
	}
	buf_add_char(&out, '}');
	return text(r, buf_str(&out));
}

/* The text of a member; where there is none, `otherwise`. */
static const struct pyjson *text_of(
		const struct pyjson *event, const char *key, const struct pyjson *otherwise)
{
	const struct pyjson *v = pyjson_get(event, key);

	return v && v->kind == PYJSON_STRING ? v : otherwise;
}

static const struct pyjson *agent_name(struct reading *r)
{
	const struct pyjson *run = pyjson_get(r->open, "run");

	return text(r,
			arena_printf(r->arena, "primary_%s",
					run && run->kind == PYJSON_NUMBER ? run->text : "0"));
}

/* --- the history of a run without a conversation ---------------------------------------------- */

static void say(struct reading *r, const char *role, const struct pyjson *content)
{
	*add_message(r) = (struct traj_message){
		.role = text(r, role), .content = content, .agent = agent_name(r)
	};
}

static void say_step(struct reading *r, const struct traj_step *step)
{
	*add_message(r) = (struct traj_message){
		.role = text(r, "assistant"),
		.content = step->response,
		.thought = step->thought,
		.action = step->action,
		.agent = agent_name(r),
	};
}

static void make_history(struct reading *r)
{
	say(r, "user", text_of(r->reset, "observation", text(r, "")));
	for (size_t i = 0; i < r->traj->n_steps; i++) {
		say_step(r, &r->traj->steps[i]);
		if (i + 1 < r->traj->n_steps)
			say(r, "user", r->traj->steps[i].observation);
	}
}

/* --- events ----------------------------------------------------------------------------------- */

static int on_open(struct reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *format = pyjson_get(event, "format");

	if (!format || !str_eq(format->text, "1"))
		return pyjson_complain(r->path, event, err,
				"made by another version: its format is not 1");
	if (!pyjson_string(pyjson_get(event, "task")))
		return pyjson_complain(r->path, event, err, "'task' should be a string");
	r->open = event;
	return 0;
}

static int on_reset(struct reading *r, const struct pyjson *event, struct fh_error *err)
{
	r->reset = event;
	r->last_info = pyjson_get(event, "info");
	return 0;
}

static void note_info(struct reading *r, const struct pyjson *event, const struct pyjson *info)
{
	const struct pyjson *truncated = pyjson_get(event, "truncated");
	const char *status = pyjson_string(pyjson_get(info, "exit_status"));

	if (status)
		r->exit_status = status;
	/* An episode whose time is over is truncated as well, and nothing was asked after it. */
	r->at_limit = truncated && truncated->boolean && status && strstr(status, "(max_steps)");
	r->last_info = info;
}

static int on_step(struct reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *action = pyjson_get(event, "action");
	const struct pyjson *info = pyjson_get(event, "info");
	const struct pyjson *seconds = pyjson_get(info, "duration_s");
	struct traj_step *step;

	if (!action || action->kind != PYJSON_STRING)
		return pyjson_complain(r->path, event, err, "'action' should be a string");
	if (r->traj->n_steps >= STEPS_MAX)
		return pyjson_complain(r->path, event, err, "more than %d steps", STEPS_MAX);
	step = add_step(r);
	step->state = state_text(r);
	step->action = action;
	step->response = text_of(event, "response", action);
	step->thought = text_of(event, "thought", text(r, ""));
	step->observation = text_of(event, "observation", text(r, ""));
	step->execution_time = seconds && seconds->kind == PYJSON_NUMBER ? seconds
									 : number(r, "0.0");
	note_info(r, event, info);
	return 0;
}

static int on_score(struct reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *score = pyjson_get(event, "score");
	struct pyjson *entry;

	if (!score || score->kind != PYJSON_OBJECT)
		return 0;
	entry = container(r, PYJSON_OBJECT);
	entry->first = score->first;
	entry->n = score->n;
	*r->score_tail = entry;
	r->score_tail = &entry->next;
	r->score->n++;
	return 0;
}

static int on_message(struct reading *r, const struct pyjson *event, struct fh_error *err)
{
	const struct pyjson *role = pyjson_get(event, "role");
	const struct pyjson *is_demo = pyjson_get(event, "is_demo");

	if (!role || role->kind != PYJSON_STRING)
		return pyjson_complain(r->path, event, err, "'role' should be a string");
	r->messages++;
	*add_message(r) = (struct traj_message){
		.role = role,
		.content = text_of(event, "content", text(r, "")),
		.thought = text_of(event, "thought", NULL),
		.action = text_of(event, "action", NULL),
		.agent = text_of(event, "agent", agent_name(r)),
		.is_demo = is_demo && is_demo->kind == PYJSON_BOOL ? is_demo : NULL,
	};
	return 0;
}

static int on_end(struct reading *r, const struct pyjson *event, struct fh_error *err)
{
	const char *status = pyjson_string(pyjson_get(event, "exit_status"));

	r->end = event;
	if (status)
		r->exit_status = status;
	return 0;
}

/* What was said after the last step that holds is said again. */
static int on_resumed(struct reading *r, const struct pyjson *event, struct fh_error *err)
{
	int64_t messages;

	if (!pyjson_i64(pyjson_get(event, "messages"), &messages) || messages < 0)
		return pyjson_complain(r->path, event, err, "'messages' should be a number");
	if ((size_t)messages < r->messages)
		r->traj->n_history = r->messages = (size_t)messages;
	r->end = NULL;
	r->exit_status = NULL;
	r->at_limit = false;
	return 0;
}

struct event_kind {
	const char *name;
	int (*read)(struct reading *r, const struct pyjson *event, struct fh_error *err);
};

/* Kinds that are not here (integrity, and those of later versions) say nothing about these files. */
static const struct event_kind kinds[] = {
	{ "open", on_open },
	{ "reset", on_reset },
	{ "step", on_step },
	{ "score", on_score },
	{ "message", on_message },
	{ "end", on_end },
	{ "resumed", on_resumed },
};

static int read_event(struct reading *r, const struct pyjson *event, struct fh_error *err)
{
	const char *name = pyjson_string(pyjson_get(event, "event"));

	if (!name)
		return pyjson_complain(r->path, event, err, "expected an object with 'event'");
	if (!r->open && !str_eq(name, "open"))
		return pyjson_complain(r->path, event, err, "the first event should be 'open'");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (str_eq(name, kinds[i].name))
			return kinds[i].read(r, event, err);
	}
	return 0;
}

static int read_lines(struct reading *r, const char *at, const char *end, struct fh_error *err)
{
	unsigned line = 1;

	for (const char *stop; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
		struct pyjson_source source = {
			.name = r->path, .data = at, .n = (size_t)(stop - at), .first_line = line++
		};
		const struct pyjson *event;
		int n = pyjson_read(r->arena, &source, &event, err);

		if (n == 0)
			n = read_event(r, event, err);
		if (n < 0)
			return n;
	}
	if (!r->open)
		return error_say(err, EINVAL, "%s:1:1: there is no whole event in it", r->path);
	return 0;
}

/* --- the end of the run ----------------------------------------------------------------------- */

/* MLGym asks once more after the last step, and records that it ended there. */
static void add_limit_step(struct reading *r)
{
	struct traj_step *step = add_step(r);

	step->state = state_text(r);
	step->response = text(r, "Exit due to the limit of steps");
	step->thought = step->response;
	step->action = text(r, "exit_max_steps");
	step->execution_time = number(r, "0.0");
	step->observation = text(r, "Exited (max_steps)");
}

static const struct pyjson *no_costs(struct reading *r)
{
	static const char zeros[] = "{\"total_cost\": 0.0, \"task_cost\": 0.0, \"tokens_sent\": 0, "
				    "\"tokens_received\": 0, \"api_calls\": 0}";
	struct pyjson_source source = { .name = "", .data = zeros, .n = sizeof(zeros) - 1 };
	const struct pyjson *v = NULL;

	pyjson_read(r->arena, &source, &v, NULL);
	return v;
}

static void fill_info(struct reading *r)
{
	struct traj_info *info = &r->traj->info;
	const char *status = r->exit_status ? r->exit_status : "";
	const struct pyjson *stats = pyjson_get(r->end, "model_stats");
	bool graded = str_eq(status, "submitted") || str_starts(status, "autosubmission");

	info->model_stats = stats && stats->kind == PYJSON_OBJECT ? stats : no_costs(r);
	info->exit_status = text(r, status);
	info->submission = graded ? text_of(r->open, "submission", text(r, NULL)) : text(r, NULL);
	info->score = r->score;
	info->summarizer = container(r, PYJSON_OBJECT);
}

char *export_traj_name(const char *task, const char *variant)
{
	auto_free char *id = xasprintf("%s%s%s", task, *variant ? "-" : "", variant);
	auto_free char *part = run_dir_part(id);

	return xasprintf("%s.traj", part);
}

static void scope_traj(struct traj **t)
{
	traj_free(*t);
}

int export_parse(const char *name, const char *data, size_t n, struct exported *out,
		struct fh_error *err)
{
	__attribute__((cleanup(scope_traj))) struct traj *t = traj_new();
	struct reading r = { .path = name, .traj = t, .arena = &t->arena };
	const char *variant;
	int result;

	r.score = container(&r, PYJSON_ARRAY);
	r.score_tail = &r.score->first;
	t->environment = text(&r, "mlgym_main");
	result = read_lines(&r, data, data + n, err);
	if (result < 0)
		return result;
	if (r.at_limit)
		add_limit_step(&r);
	if (!r.messages)
		make_history(&r);
	fill_info(&r);
	variant = pyjson_string(pyjson_get(r.open, "variant"));
	out->traj_name = export_traj_name(
			pyjson_string(pyjson_get(r.open, "task")), variant ? variant : "");
	out->baseline = pyjson_get(r.open, "baseline");
	if (!out->baseline)
		out->baseline = text(&r, NULL);
	out->open = r.open;
	out->reset = r.reset;
	out->n_messages = r.messages;
	out->traj = take_ptr(t);
	return 0;
}

int export_read(const char *dir, struct exported *out, struct fh_error *err)
{
	auto_buf struct buf data = BUF_INIT(EXPORT_EVENTS_BYTES_MAX);
	auto_free char *path = path_join(dir, EXPORT_EVENTS);
	int r = fd_read_file(path, &data, err);

	return r < 0 ? r : export_parse(path, buf_str(&data), data.len, out, err);
}

void export_release(struct exported *e)
{
	traj_free(e->traj);
	free(e->traj_name);
	*e = (struct exported){ 0 };
}

bool export_status_is_end(const char *status)
{
	return *status && !str_eq(status, "early_exit") && !str_starts(status, "environment_error");
}

bool export_has_ended(const char *dir)
{
	auto_free char *path = path_join(dir, EXPORT_EVENTS);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_arena struct arena arena = ARENA_INIT;
	char tail[END_BYTES_MAX];
	const struct pyjson *event;
	const char *line, *status;
	ssize_t n;

	if (fd < 0 || (lseek(fd, -(off_t)sizeof(tail), SEEK_END) < 0 && errno != EINVAL))
		return false;
	n = fd_read_full(fd, tail, sizeof(tail));
	if (n < 2 || tail[n - 1] != '\n')
		return false;
	line = memrchr(tail, '\n', (size_t)n - 1);
	line = line ? line + 1 : tail;
	if (pyjson_read(&arena,
			    &(struct pyjson_source){ path, line, (size_t)(tail + n - 1 - line), 1 },
			    &event, NULL) < 0)
		return false;
	status = pyjson_string(pyjson_get(event, "exit_status"));
	return status && export_status_is_end(status);
}

static int write_file(
		const char *dir, const char *name, const struct buf *data, struct fh_error *err)
{
	auto_free char *path = path_join(dir, name);

	if (data->truncated)
		return error_say(
				err, EFBIG, "'%s' would be larger than %zu bytes", path, data->cap);
	return fd_write_file(path, buf_str(data), data->len, 0666, err);
}

int export_write(const char *dir, const struct exported *e, struct fh_error *err)
{
	auto_buf struct buf out = BUF_INIT(TRAJ_BYTES_MAX);
	int r;

	traj_write(&out, e->traj);
	r = write_file(dir, e->traj_name, &out, err);
	if (r < 0)
		return r;
	buf_clear(&out);
	traj_write_results(&out, e->traj, e->baseline);
	return write_file(dir, EXPORT_RESULTS, &out, err);
}

int export_run(const char *dir, struct fh_error *err)
{
	__attribute__((cleanup(export_release))) struct exported e = { 0 };
	int r = export_read(dir, &e, err);

	return r < 0 ? r : export_write(dir, &e, err);
}

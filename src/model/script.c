/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/node.h"
#include "model/backend.h"
#include "model/json_lines.h"
#include "task/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Models that play a fixed list of actions, then submit:
 *
 *   baseline      the task's baseline command
 *   solution      the task's known good solution
 *   demo          recorded actions in the task's folder
 *   actions:FILE  a file of JSON lines, a string in each
 */

struct script_action {
	const char *text;
	struct script_action *next;
};

struct script {
	struct arena arena;
	struct script_action *first, **tail;
	/* next action that script_next() returns; NULL after the last */
	struct script_action **at;
};

static struct script *script_new(void)
{
	struct script *s = xcalloc(1, sizeof(*s));

	s->tail = s->at = &s->first;
	return s;
}

static void script_close(void *state)
{
	struct script *s = state;

	arena_release(&s->arena);
	free(s);
}

static void script_add(struct script *s, const char *action)
{
	struct script_action *a = arena_alloc(&s->arena, sizeof(*a));

	a->text = arena_strdup(&s->arena, action);
	*s->tail = a;
	s->tail = &a->next;
}

static int script_take_line(
		void *data, const char *path, const struct pyjson *v, struct fh_error *err)
{
	const char *text;
	int r = json_lines_text(path, v, "an action", FH_ACTION_BYTES_MAX, &text, err);

	if (r < 0)
		return r;
	script_add(data, text);
	return 0;
}

static int script_read(const char *path, void **out_state, struct fh_error *err)
{
	struct script *s = script_new();
	int r = json_lines_read(path, script_take_line, s, err);

	if (r < 0)
		script_close(s);
	else
		*out_state = s;
	return r;
}

static int script_next(void *state, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err)
{
	struct script *s = state;
	struct script_action *a = *s->at;

	*out = (struct model_turn){ .action = a ? a->text : "submit" };
	if (a)
		s->at = &a->next;
	return 0;
}

/* --- models ----------------------------------------------------------------------------------- */

static int script_open_actions(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	if (!*argument)
		return error_say(err, EINVAL, "the model 'actions' wants a file: actions:FILE");
	return script_read(argument, out_state, err);
}

#define FILE_END "END_OF_FILE"

/*
 * Adds an action that writes a file of the task into the workspace. An agent would use a
 * here-document too.
 */
static int script_add_file(struct script *s, const struct task_file *file, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(FH_ACTION_BYTES_MAX);
	const char *slash = strrchr(file->target, '/'), *folder = "", *end;
	int r = fd_read_file(file->source, &text, err);

	if (r < 0)
		return r;
	if (memchr(buf_str(&text), '\0', text.len) || strstr(buf_str(&text), FILE_END) ||
			strchr(file->target, '\''))
		return error_say(err, EINVAL,
				"'%s' can't be played: a command can't write such a file",
				file->source);
	if (slash)
		folder = arena_printf(&s->arena, "mkdir -p '%.*s' && ", (int)(slash - file->target),
				file->target);
	end = str_ends(buf_str(&text), "\n") ? "" : "\n";
	script_add(s,
			arena_printf(&s->arena, "%scat >'%s' <<'" FILE_END "'\n%s%s" FILE_END,
					folder, file->target, buf_str(&text), end));
	return 0;
}

/* Makes a list of actions: they write the files and run the command. */
static int script_make(const struct task_file *files, size_t n_files, const char *command,
		void **out_state, struct fh_error *err)
{
	struct script *s = script_new();

	for (size_t i = 0; i < n_files; i++) {
		int r = script_add_file(s, &files[i], err);

		if (r < 0) {
			script_close(s);
			return r;
		}
	}
	script_add(s, command);
	*out_state = s;
	return 0;
}

static int script_open_task(const struct model_request *request, bool solution, void **out_state,
		struct fh_error *err)
{
	const char *command;
	struct task *task;
	int r = task_load(request->places, request->task, request->variant, &task, err);

	if (r < 0)
		return r;
	command = solution ? task->solution_command : task->baseline_command;
	if (command)
		r = script_make(solution ? task->solution : task->baseline_files,
				solution ? task->n_solution : task->n_baseline_files, command,
				out_state, err);
	else
		r = error_say(err, EINVAL, "the task '%s' has no %s", request->task,
				solution ? "solution" : "baseline");
	task_free(task);
	return r;
}

static int script_open_baseline(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	return script_open_task(request, false, out_state, err);
}

static int script_open_solution(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	return script_open_task(request, true, out_state, err);
}

static int script_open_demo(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	struct task *task;
	const char *variant = "", *colon = "";
	int r = task_load(request->places, request->task, request->variant, &task, err);

	if (r < 0)
		return r;
	/* Name the task's variant in the error message: other variants may have a demonstration. */
	if (node_get(task->keys, "variants")) {
		variant = task_variant_name(task->variant);
		colon = ":";
	}
	if (task->demo)
		r = script_read(task->demo, out_state, err);
	else
		r = error_say(err, EINVAL, "the task '%s%s%s' has no demonstration", task->id,
				colon, variant);
	task_free(task);
	return r;
}

const struct model_backend model_actions = {
	.name = "actions",
	.takes_argument = true,
	.open = script_open_actions,
	.next = script_next,
	.close = script_close,
};

const struct model_backend model_baseline = {
	.name = "baseline",
	.open = script_open_baseline,
	.next = script_next,
	.close = script_close,
};

const struct model_backend model_solution = {
	.name = "solution",
	.open = script_open_solution,
	.next = script_next,
	.close = script_close,
};

const struct model_backend model_demo = {
	.name = "demo",
	.open = script_open_demo,
	.next = script_next,
	.close = script_close,
};

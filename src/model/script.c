/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "config/node.h"
#include "model/backend.h"
#include "model/json_lines.h"
#include "task/load.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Models that play a fixed list of actions, then submit:
 *
 *   baseline      the task's baseline command
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
	struct script_action **at; /* pointer to set to the next action */
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

static int script_open_baseline(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	struct script *s;
	struct task *task;
	int r = task_load(request->places, request->task, request->variant, &task, err);

	if (r < 0)
		return r;
	if (task->baseline_command) {
		s = script_new();
		script_add(s, task->baseline_command);
		*out_state = s;
	} else {
		r = error_say(err, EINVAL, "the task '%s' has no baseline", request->task);
	}
	task_free(task);
	return r;
}

static int script_open_demo(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	struct task *task;
	const char *variant = "", *colon = "";
	int r = task_load(request->places, request->task, request->variant, &task, err);

	if (r < 0)
		return r;
	/* Name the variant in the error: only some variants have a demonstration. */
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

const struct model_backend model_demo = {
	.name = "demo",
	.open = script_open_demo,
	.next = script_next,
	.close = script_close,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/backend.h"
#include "model/json_lines.h"
#include "task/load.h"

#include <errno.h>
#include <stdlib.h>

/*
 * replay:FILE.jsonl: recorded replies of a language model, in the format of MLGym's replay model.
 * Each line is an object with one member: a task's name and its list of replies. The agent's parser
 * reads them. After the last reply, the episode is submitted.
 */

#define RESPONSE_BYTES_MAX (16 << 20)

struct responses {
	struct arena arena;
	const char **texts;
	size_t n, next;
};

/* State while the file of recorded replies is read. */
struct responses_reading {
	struct responses *r;
	const struct task *task;
	const char *spec; /* name of the task, as the user wrote it */
	size_t n_lines;
	bool found; /* the file has a line for the played task */
};

static int responses_keep(struct responses *r, const char *path, const struct pyjson *list,
		struct fh_error *err)
{
	r->texts = arena_array(&r->arena, list->n, sizeof(*r->texts));
	r->n = 0;
	for (const struct pyjson *v = list->first; v; v = v->next) {
		const char *text;
		int n = json_lines_text(path, v, "a reply", RESPONSE_BYTES_MAX, &text, err);

		if (n < 0)
			return n;
		r->texts[r->n++] = arena_strdup(&r->arena, text);
	}
	return 0;
}

/* Takes the recorded replies of the first line that names the task. If the file has a single line,
 * takes that, whatever task it names: MLGym ignores the names. */
static int responses_take_line(
		void *data, const char *path, const struct pyjson *v, struct fh_error *err)
{
	struct responses_reading *reading = data;
	const struct task *task = reading->task;
	auto_free char *whole = xasprintf("%s:%s", task->id, task->variant);
	const struct pyjson *list = v->first;

	if (v->kind != PYJSON_OBJECT || v->n != 1 || list->kind != PYJSON_ARRAY)
		return pyjson_complain(path, v, err,
				"expected {\"TASK\": [\"a reply\", ...]}, one task in a line");
	reading->n_lines++;
	if (reading->found)
		return 0;
	reading->found = str_eq(list->key, reading->spec) || str_eq(list->key, task->id) ||
			str_eq(list->key, whole) || str_eq(list->key, task->name);
	return reading->found || reading->n_lines == 1 ? responses_keep(reading->r, path, list, err)
						       : 0;
}

static void responses_close(void *state)
{
	struct responses *r = state;

	arena_release(&r->arena);
	free(r);
}

static int responses_read(struct responses_reading *reading, const char *path, struct fh_error *err)
{
	int r = json_lines_read(path, responses_take_line, reading, err);

	if (r < 0)
		return r;
	if (!reading->n_lines)
		return error_say(err, EINVAL, "%s: there is no line with replies", path);
	if (!reading->found && reading->n_lines > 1)
		return error_say(err, EINVAL, "%s: none of its %zu lines is for the task '%s'",
				path, reading->n_lines, reading->task->id);
	return 0;
}

static int responses_open(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	struct responses_reading reading = { .spec = request->task };
	struct task *task;
	int r = task_load(request->places, request->task, request->variant, &task, err);

	if (r < 0)
		return r;
	reading.task = task;
	reading.r = xcalloc(1, sizeof(*reading.r));
	r = responses_read(&reading, argument, err);
	task_free(task);
	if (r < 0)
		responses_close(reading.r);
	else
		*out_state = reading.r;
	return r;
}

/*
 * Gives the next recorded reply. The reply "submit" is given as an action too, because agents'
 * parsers would refuse it.
 */
static int responses_next(void *state, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err)
{
	struct responses *r = state;
	const char *text = r->next < r->n ? r->texts[r->next++] : "submit";

	*out = (struct model_turn){ .response = text };
	if (str_eq(text, "submit"))
		out->action = text;
	return 0;
}

const struct model_backend model_responses = {
	.name = "replay",
	.suffix = ".jsonl",
	.takes_argument = true,
	.speaks = true,
	.open = responses_open,
	.next = responses_next,
	.close = responses_close,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load.h"

#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

/*
 * sandbox.bind: what every episode of the task sees of this machine, or of the task's own folder. It is
 * mounted where the agent reads, so nothing that scores it or another may lie there, above or below. The same
 * goes for what a user binds: task_check_bind().
 */
#define BINDS_MAX 16

static bool bind_touches(const char *source, const char *secret)
{
	return secret && (path_lies_within(secret, source) || path_lies_within(source, secret));
}

static bool bind_touches_files(const char *source, const struct task_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bind_touches(source, files[i].source))
			return true;
	return false;
}

static bool bind_touches_hidden_data(const char *source, const struct task *task)
{
	for (size_t i = 0; i < task->n_datasets; i++)
		for (size_t j = 0; j < task->datasets[i].n_files; j++)
			if (task->datasets[i].files[j].hidden &&
					bind_touches(source, task->datasets[i].files[j].source))
				return true;
	return false;
}

/* It holds the machine's key, and the data of other tasks. */
static bool bind_touches_state(const char *state_dir, const char *source)
{
	auto_free char *state = NULL;

	return places_state_path(state_dir, &state, NULL) >= 0 && bind_touches(source, state);
}

int task_check_bind(const struct task *task, const char *state_dir, const char *source,
		struct fh_error *err)
{
	if (bind_touches(source, task->grader.answers) ||
			bind_touches(source, task->grader.program) ||
			bind_touches(source, task->demo) ||
			bind_touches_files(source, task->hidden, task->n_hidden) ||
			bind_touches_files(source, task->solution, task->n_solution) ||
			bind_touches_hidden_data(source, task) ||
			bind_touches_state(state_dir, source))
		return error_say(err, EPERM, "the agent would see what is hidden, by '%s'", source);
	return 0;
}

/* An absolute path is of this machine, any other of the task's folder. */
static int bind_find_source(
		struct task_loading *l, const struct node *at, const char *path, const char **out)
{
	auto_free char *real = NULL;
	int r;

	if (*path != '/')
		return task_path(&l->folder, at, path, out, l->err);
	real = realpath(path, NULL);
	if (!real) {
		r = -errno;
		node_complain(at, l->err, "find '%s': %s", path, strerrordesc_np(-r));
		return r;
	}
	*out = arena_strdup(&l->task->arena, real);
	return 0;
}

static int bind_load(struct task_loading *l, const struct node *at, const char *text,
		struct sandbox_bind *out)
{
	size_t n = strcspn(text, ":");
	const char *path = arena_strndup(&l->task->arena, text, n);
	struct fh_error why;
	int r;

	if (!n || (!text[n] && *path != '/'))
		return node_complain(at, l->err,
				"'%s': expected SRC:DST, or the absolute path of a SRC that is seen "
				"at the same place",
				text);
	r = bind_find_source(l, at, path, &out->source);
	if (r < 0)
		return r;
	out->target = text[n] ? arena_strdup(&l->task->arena, text + n + 1) : path;
	r = sandbox_bind_check(out, &why);
	if (r < 0)
		return node_complain(at, l->err, "%s", why.message);
	r = task_check_bind(l->task, l->places ? l->places->state_dir : NULL, out->source, &why);
	return r < 0 ? node_complain(at, l->err, "%s", why.message) : 0;
}

int task_load_binds(struct task_loading *l)
{
	const struct texts *texts = &l->config.sandbox.bind;
	const struct node *at = task_at(l, "sandbox.bind");
	struct sandbox_bind *binds;

	if (texts->n > BINDS_MAX)
		return node_complain(at, l->err, "more than %d binds", BINDS_MAX);
	binds = arena_array(&l->task->arena, texts->n, sizeof(*binds));
	for (size_t i = 0; i < texts->n; i++) {
		int r = bind_load(l, at->items[i], texts->items[i], &binds[i]);

		if (r < 0)
			return r;
	}
	l->task->binds = binds;
	l->task->n_binds = texts->n;
	return 0;
}

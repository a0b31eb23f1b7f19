/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load_parts.h"

#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

/*
 * sandbox.bind: files of this machine, or of the task's folder, that each episode of the task sees.
 * The agent can read these files. So no bind may be, contain or lie within a file or folder that is
 * hidden from the agent. task_check_bind() checks a user's binds by the same rule.
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

int task_check_bind(const struct task *task, const char *state_dir, const char *source,
		struct fh_error *err)
{
	/* Path of the state folder, with the machine's secret and data of tasks. No bind may show
	 * it to agents. */
	auto_free char *state = NULL;
	bool shows = bind_touches(source, task->grader.answers) ||
			bind_touches(source, task->grader.program) ||
			bind_touches(source, task->demo) ||
			bind_touches_files(source, task->hidden, task->n_hidden) ||
			bind_touches_files(source, task->solution, task->n_solution) ||
			bind_touches_files(source, task->baseline_files, task->n_baseline_files);

	for (size_t i = 0; i < task->n_datasets; i++) {
		const struct dataset *dataset = &task->datasets[i];

		for (size_t j = 0; j < dataset->n_files; j++)
			shows |= dataset->files[j].hidden &&
					bind_touches(source, dataset->files[j].source);
	}
	if (shows ||
			(places_state_path(state_dir, &state, NULL) >= 0 &&
					bind_touches(source, state)))
		return error_say_kind(err, FH_ERROR_INPUT, EPERM,
				"the agent could read hidden files in '%s': bind a folder without them",
				source);
	return 0;
}

static int bind_load(struct task_loading *l, const struct node *at, const char *text,
		struct sandbox_bind *out)
{
	size_t n = strcspn(text, ":");
	const char *path = arena_strndup(&l->task->arena, text, n);
	auto_free char *real = NULL;
	struct fh_error why;
	int r;

	if (!n || (!text[n] && *path != '/'))
		return node_complain(at, l->err,
				"'%s': expected SRC:DST, or the absolute path of a SRC that is seen "
				"at the same place",
				text);
	if (*path != '/') { /* a relative path starts at the task's folder */
		r = task_path(&l->folder, at, path, &out->source, l->err);
		if (r < 0)
			return r;
	} else {
		real = realpath(path, NULL);
		if (!real) {
			r = -errno;
			node_complain(at, l->err, "find '%s': %s", path, strerrordesc_np(-r));
			return r;
		}
		out->source = arena_strdup(&l->task->arena, real);
	}
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

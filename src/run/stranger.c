/* SPDX-License-Identifier: Apache-2.0 */
#include "run/stranger.h"

#include "agent/pytext.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "run/mlgym_root.h"

#include <errno.h>
#include <stdlib.h>

/* --- what is said again ----------------------------------------------------------------------- */

/* The sentence will be copied into a shell. */
void stranger_wish(struct buf *wishes, const char *option, const char *value)
{
	buf_printf(wishes, " --%s", option);
	if (!value)
		return;
	buf_add_char(wishes, ' ');
	pytext_add_quoted(wishes, value);
}

int stranger_refuse(const struct buf *wishes, struct fh_error *err)
{
	if (!wishes->len)
		return 0;
	return error_say(err, EPERM,
			"a record may be a stranger's: where keys and requests go, and what of this "
			"machine is used, is not taken from it. If that is as you want it, say it "
			"again:%s%s",
			buf_str(wishes), wishes->truncated ? " ..." : "");
}

/* --- its task --------------------------------------------------------------------------------- */

static bool stranger_place_is_given(const struct stranger_task *t, const struct task *task)
{
	auto_arena struct arena arena = ARENA_INIT;
	const char *ours = t->given->tasks_dir;
	auto_free char *real = NULL;

	if (task->mlgym && mlgym_root(&arena, t->given->mlgym_root, NULL, &ours, NULL) < 0)
		return t->is_given;
	real = ours ? realpath(ours, NULL) : NULL;
	return t->is_given || (real && path_is_within(task->dir, real));
}

static bool stranger_shows_the_machine(const struct task *task)
{
	for (size_t i = 0; i < task->n_binds; i++)
		if (!path_is_within(task->binds[i].source, task->dir))
			return true;
	return task->mlgym; /* all that lies beneath a root, which may be any folder */
}

int stranger_check_task(const struct stranger_task *t, struct fh_error *err)
{
	auto_free char *dir = NULL;
	auto_buf struct buf option = BUF_INIT(STRANGER_WISHES_BYTES_MAX);
	const char *what = NULL;
	struct task *task;
	int r = 0;

	if (task_load(t->places, t->task, t->variant, &task, NULL) < 0)
		return 0;
	if (task->network == NETWORK_HOST)
		what = "the network of this machine";
	else if (stranger_shows_the_machine(task))
		what = "files of this machine";
	dir = task->mlgym ? xstrdup(task->dir) : path_dirname(task->dir);
	stranger_wish(&option, task->mlgym ? "mlgym-root" : "tasks-dir", dir);
	if (what && !stranger_place_is_given(t, task))
		r = error_say(err, EPERM,
				"the record's task '%s' gives its actions %s, and a record may be a "
				"stranger's:%s plays it all the same",
				task->id, what, buf_str(&option));
	task_free(task);
	return r;
}

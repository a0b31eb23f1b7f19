/* SPDX-License-Identifier: Apache-2.0 */
#include "run/untrusted.h"

#include "agent/pytext.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "run/mlgym_root.h"

#include <errno.h>
#include <stdlib.h>

void untrusted_wish(struct buf *wishes, const char *option, const char *value)
{
	buf_printf(wishes, " --%s", option);
	if (!value)
		return;
	buf_add_char(wishes, ' ');
	/* Quote the option's value, because users copy the option into a shell. */
	pytext_add_quoted(wishes, value);
}

int untrusted_refuse(const struct buf *wishes, struct fh_error *err)
{
	if (!wishes->len)
		return 0;
	return error_say(err, EPERM,
			"a record is untrusted, so it can't choose servers, keys or files "
			"of this machine. Repeat these options to allow it:%s%s",
			buf_str(wishes), wishes->truncated ? " ..." : "");
}

/*
 * Names the resources of this machine (files, network) that a task shows to its actions. NULL:
 * none.
 */
static const char *untrusted_gift(const struct task *task)
{
	if (task->network == NETWORK_HOST)
		return "the network of this machine";
	/* Report a task of MLGym: it copies files of its checkout into the workspace. A record may
	 * name any folder as the checkout. */
	if (task->mlgym)
		return "files of this machine";
	for (size_t i = 0; i < task->n_binds; i++)
		if (!path_is_within(task->binds[i].source, task->dir))
			return "files of this machine";
	return NULL;
}

static bool untrusted_place_is_given(const struct untrusted_task *t)
{
	auto_arena struct arena arena = ARENA_INIT;
	const struct task *task = t->task;
	const char *place = t->given->tasks_dir;
	auto_free char *real = NULL;

	if (task->mlgym && mlgym_root(&arena, t->given->mlgym_root, NULL, &place, NULL) < 0)
		return t->is_given;
	real = place ? realpath(place, NULL) : NULL;
	return t->is_given || (real && path_is_within(task->dir, real));
}

int untrusted_check_task(const struct untrusted_task *t, struct fh_error *err)
{
	const struct task *task = t->task;
	const char *gift = untrusted_gift(task);
	auto_free char *dir = task->mlgym ? xstrdup(task->dir) : path_dirname(task->dir);
	auto_buf struct buf option = BUF_INIT(UNTRUSTED_WISHES_BYTES_MAX);

	if (!gift || untrusted_place_is_given(t))
		return 0;
	untrusted_wish(&option, task->mlgym ? "mlgym-root" : "tasks-dir", dir);
	return error_say(err, EPERM,
			"the record's task '%s' gives its actions %s, and a record is "
			"untrusted. To allow it, give%s",
			task->id, gift, buf_str(&option));
}

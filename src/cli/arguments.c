/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "base/str.h"

#include <errno.h>

/* A task is what is most often named without its option. */
static int arguments_say_unexpected(const struct command *c, const char *word, struct fh_error *err)
{
	const struct cmd_option *o = c->options;

	while (o && o->kind && !str_eq(o->name, "task"))
		o++;
	return error_say(err, EINVAL, "unexpected argument '%s'%s%s%s", word,
			o && o->kind ? "; did you mean --task " : "", o && o->kind ? word : "",
			o && o->kind ? "?" : "");
}

int options_check_arguments(const struct command *c, const struct texts *args, struct fh_error *err)
{
	if (args->n < c->min_args)
		return error_say(err, EINVAL, "%s is missing",
				c->arguments ? c->arguments : "an argument");
	if (args->n > c->max_args)
		return arguments_say_unexpected(c, args->items[c->max_args], err);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "env/variables.h"

#include "base/scope.h"
#include "base/str.h"

#include <fumehood/env.h>

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define PATH_PREFIX "PATH="
#define PATH_FIELD "$PATH"

/* Variables that the shell sets itself. Names that begin with BASH are among them. */
static const char *const variables_own[] = { "UID", "EUID", "PPID", "PWD", "OLDPWD", "SHELLOPTS",
	"RANDOM", "LAST_ACTION" };

static int variable_check(const char *variable, struct fh_error *err)
{
	size_t n = 0;

	while (isalnum((unsigned char)variable[n]) || variable[n] == '_')
		n++;
	if (!n || isdigit((unsigned char)*variable) || variable[n] != '=')
		return error_say(err, EINVAL, "'%.*s' is not a variable: expected NAME=VALUE",
				(int)str_utf8_cut(variable, strlen(variable), 60), variable);
	for (size_t i = 0; i < ARRAY_SIZE(variables_own); i++)
		if (strlen(variables_own[i]) == n && str_starts(variable, variables_own[i]))
			return error_say(err, EINVAL, "the shell itself sets %s", variables_own[i]);
	if (str_starts(variable, "BASH"))
		return error_say(err, EINVAL, "the shell itself sets %.*s", (int)n, variable);
	return 0;
}

int variables_copy(struct arena *a, const char *const *given, size_t n, struct variables *out,
		struct fh_error *err)
{
	const char **items;
	size_t bytes = 0;

	if (n > FH_VARIABLES_MAX)
		return error_say(err, E2BIG, "more than %d variables", FH_VARIABLES_MAX);
	items = arena_array(a, n + 1, sizeof(*items));
	for (size_t i = 0; i < n; i++) {
		int r = given[i] ? variable_check(given[i], err)
				 : error_say(err, EINVAL, "a variable is NULL");

		if (r < 0)
			return r;
		bytes += strlen(given[i]);
		if (bytes > FH_VARIABLES_BYTES_MAX)
			return error_say(err, E2BIG, "variables of more than %d bytes",
					FH_VARIABLES_BYTES_MAX);
		items[i] = arena_strdup(a, given[i]);
	}
	*out = (struct variables){ items, n };
	return 0;
}

const char *variable_expand(struct arena *a, const char *variable, const char *path)
{
	const char *at = str_starts(variable, PATH_PREFIX) ? strstr(variable, PATH_FIELD) : NULL;

	if (!at)
		return variable;
	return arena_printf(a, "%.*s%s%s", (int)(at - variable), variable, path,
			at + strlen(PATH_FIELD));
}

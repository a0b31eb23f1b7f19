/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_folders.h"

#include "base/path.h"
#include "base/scope.h"
#include "cli/cmd.h"

#include <stdlib.h>
#include <string.h>

/* True if `outer` has the runs of `inner` too. Both are real paths. Hidden folders are not searched
 * for runs. */
static bool run_folders_cover(const char *outer, const char *inner)
{
	size_t n = strlen(outer);

	if (str_eq(outer, inner))
		return true;
	return path_is_dir(inner) && str_starts(inner, outer) && inner[n] == '/' &&
			!strstr(inner + n, "/.");
}

/* Finds the place that has the runs of the place i too. Returns i if none has. */
static size_t run_folders_find(const char *const *reals, size_t n, size_t i)
{
	for (size_t k = 0; reals[i] && k < n; k++)
		if (reals[k] && run_folders_cover(reals[k], reals[i]) &&
				(k < i || !str_eq(reals[k], reals[i])))
			return k;
	return i;
}

/* Returns the record that a search of a folder finds: the events.jsonl beside a .traj. */
static const char *run_folders_record(struct arena *a, const char *path)
{
	const char *events = arena_printf(
			a, "%.*s%s", (int)(path_basename(path) - path), path, "events.jsonl");

	return str_ends(path, ".traj") && path_exists(events) ? events : path;
}

/* Gives a place its name. A record may lie in a folder that is named too. It gets the name that it
 * has there, so that it is known as the same record. */
static const char *run_folders_name(struct arena *a, const char *const *places,
		const char *const *reals, size_t n, size_t i)
{
	if (!reals[i] || path_is_dir(reals[i]))
		return places[i];
	for (size_t k = 0; k < n; k++) {
		size_t length = reals[k] ? strlen(reals[k]) : 0;

		if (length && str_starts(reals[i], reals[k]) && reals[i][length] == '/' &&
				run_folders_find(reals, n, k) == k)
			return arena_printf(a, "%s%s", places[k],
					run_folders_record(a, reals[i]) + length);
	}
	return places[i];
}

struct texts run_folders_once(struct arena *a, const char *const *places, size_t n)
{
	struct texts out = { .items = arena_array(a, n, sizeof(*out.items)) };
	const char **reals = arena_array(a, n, sizeof(*reals));

	for (size_t i = 0; i < n; i++) {
		auto_free char *real = realpath(places[i], NULL);

		reals[i] = real ? arena_strdup(a, real) : NULL;
	}
	for (size_t i = 0; i < n; i++) {
		size_t cover = run_folders_find(reals, n, i);

		if (cover == i)
			out.items[out.n++] = run_folders_name(a, places, reals, n, i);
		else
			cmd_warn("'%s' is left out, because '%s' has its runs too", places[i],
					places[cover]);
	}
	return out;
}

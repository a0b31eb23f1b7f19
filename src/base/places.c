/* SPDX-License-Identifier: Apache-2.0 */
#include "base/places.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"

#include "fumehood-build.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Number of parent folders of this program in which Fumehood's files are searched. Unit tests are
 * build/tests/unit/test_x; a library may be <prefix>/lib/<machine>/libfumehood.so. */
#define CLIMB_MAX 4

/* Places of Fumehood's files, relative to a build folder or an installation prefix. They are taken
 * if `programs` has fumehood-guest.so and the folder `sign` exists. */
struct places_layout {
	const char *programs;
	const char *share;
	const char *graders;
	const char *sign;
};

static const struct places_layout layouts[] = {
	/* places relative to the build folder of a checkout */
	{ ".", "..", "../src/grade/python", "../tasks" },
	/* places relative to an installation prefix such as /usr/local */
	{ "libexec/fumehood", "share/fumehood", "share/fumehood/graders", "share/fumehood/tasks" },
};

static struct places found;

/* Path of the file that contains this code: a program or libfumehood.so. NULL: unknown. */
static char *places_own_path(void)
{
	struct link_map *map;
	Dl_info info;

	/* For the program itself the link map has no name. dladdr() would give its argv[0], which
	 * the caller of exec chose. */
	if (dladdr1(&found, &info, (void **)&map, RTLD_DL_LINKMAP) && map->l_name && *map->l_name)
		return realpath(map->l_name, NULL);
	return realpath("/proc/self/exe", NULL);
}

static char *places_join(const char *dir, const char *name)
{
	auto_free char *joined = path_join(dir, name);

	return path_normalise(joined);
}

static void places_set_programs(const char *dir)
{
	auto_free char *bash = path_join(dir, "bash");
	auto_free char *libwebsockets = path_join(dir, "libwebsockets.so");

	found.guest_plugin = path_join(dir, "fumehood-guest.so");
	found.bash = path_exists(bash) ? take_ptr(bash) : "/bin/bash";
	found.libwebsockets = path_exists(libwebsockets) ? take_ptr(libwebsockets) : NULL;
	found.aci = path_join(dir, "fh-aci");
	found.grade_csv = path_join(dir, "fh-grade-csv");
	found.sat = path_join(dir, "fh-sat.so");
	found.floors = path_join(dir, "bench");
	found.simulators = path_join(dir, "python/simulators");
}

static bool places_try_layout(const char *dir, const struct places_layout *layout)
{
	auto_free char *programs = places_join(dir, layout->programs);
	auto_free char *plugin = path_join(programs, "fumehood-guest.so");
	auto_free char *sign = places_join(dir, layout->sign);

	if (!path_exists(plugin) || !path_is_dir(sign))
		return false;
	places_set_programs(programs);
	found.share_dir = places_join(dir, layout->share);
	found.graders = places_join(dir, layout->graders);
	return true;
}

static void places_find(void)
{
	auto_free char *path = places_own_path();

	for (int i = 0; path && i < CLIMB_MAX; i++) {
		char *dir = path_dirname(path);

		free(path);
		path = dir;
		for (size_t j = 0; j < ARRAY_SIZE(layouts); j++)
			if (places_try_layout(dir, &layouts[j]))
				return;
	}
	places_set_programs(FUMEHOOD_LIBEXECDIR);
	found.share_dir = FUMEHOOD_DATADIR;
	found.graders = FUMEHOOD_DATADIR "/graders";
}

const struct places *places_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, places_find);
	return &found;
}

/* Value of an environment variable; NULL if it is unset or no absolute path. */
static const char *places_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value == '/' ? value : NULL;
}

static char *places_default_state_dir(void)
{
	const char *base = places_variable("XDG_STATE_HOME");
	const char *home = places_variable("HOME");

	if (geteuid() == 0)
		return xstrdup("/var/lib/fumehood");
	if (base)
		return path_join(base, "fumehood");
	if (home)
		return path_join(home, ".local/state/fumehood");
	return NULL;
}

int places_state_path(const char *dir, char **out, struct fh_error *err)
{
	const char *variable = getenv("FUMEHOOD_STATE");
	auto_free char *chosen = NULL;

	if (!dir && variable && *variable)
		dir = variable;
	chosen = dir ? xstrdup(dir) : places_default_state_dir();
	if (!chosen)
		return error_say(err, ENOENT, "no folder for state: set FUMEHOOD_STATE or HOME");
	return path_absolute(chosen, out, err);
}

int places_state_dir(const char *dir, char **out, struct fh_error *err)
{
	auto_free char *path = NULL;
	int r = places_state_path(dir, &path, err);

	if (r < 0)
		return error_wrap(err, "state folder (FUMEHOOD_STATE)");
	r = path_mkdirs(path, 0700, err);
	if (r < 0)
		return error_wrap(err, "state folder (FUMEHOOD_STATE)");
	*out = take_ptr(path);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/python.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG "pyvenv.cfg"
#define CONFIG_BYTES_MAX 65536
#define LINKS_MAX 40 /* most symbolic links to follow in a path: as many as the kernel follows */

/* Paths of this machine that every sandbox sees at the same path. */
static const char *const visible[] = { "/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt" };

struct python_finding {
	struct arena *arena;
	struct python_env *env;
	struct fh_error *err;
};

static bool python_is_visible(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(visible); i++)
		if (path_is_within(path, visible[i]))
			return true;
	return false;
}

static bool python_is_shown(const struct python_env *env, const char *path)
{
	for (size_t i = 0; i < env->n_binds; i++)
		if (path_is_within(path, env->binds[i].target))
			return true;
	return python_is_visible(path);
}

/* Returns true if the folder is a Python installation or environment: it has a folder with
 * packages. */
static bool python_has_packages(const char *dir)
{
	auto_free char *pattern = xasprintf("%s/lib*/python3*", dir);
	glob_t found = { 0 };
	bool any = glob(pattern, GLOB_NOSORT | GLOB_ONLYDIR, NULL, &found) == 0;
	globfree(&found);
	return any;
}

/* Returns true for folders that are too large to show to a sandbox. These are the root and those
 * that contain this user's home. */
static bool python_is_too_much(const char *real)
{
	const char *home = getenv("HOME");
	struct passwd entry, *user = NULL;
	char text[4096];

	(void)getpwuid_r(getuid(), &entry, text, sizeof(text), &user);
	return str_eq(real, "/") || (home && path_is_within(home, real)) ||
			(user && path_is_within(user->pw_dir, real));
}

static int python_add_bind(struct python_finding *f, const char *source, const char *target)
{
	struct python_env *env = f->env;
	int r;

	if (env->n_binds == PYTHON_BINDS_MAX)
		return error_say(f->err, ELOOP,
				"Python environment %s: too many links to its interpreter",
				env->dir);
	env->binds[env->n_binds++] = (struct sandbox_bind){
		.source = arena_strdup(f->arena, source),
		.target = arena_strdup(f->arena, target),
	};
	r = sandbox_bind_check(&env->binds[env->n_binds - 1], f->err);
	return r < 0 ? error_wrap(f->err, "Python environment %s", env->spec) : 0;
}

/* Binds a folder of this machine at the path at which programs look for it. */
static int python_show(struct python_finding *f, const char *place)
{
	struct python_env *env = f->env;
	auto_free char *real = realpath(place, NULL);

	if (python_is_shown(env, place))
		return 0;
	if (!real)
		return error_say(f->err, ENOENT,
				"Python environment %s: its interpreter's folder '%s' does not exist",
				env->dir, place);
	if (!python_has_packages(real) || python_is_too_much(real))
		return error_say(f->err, EINVAL,
				"Python environment %s: sandboxes would see all of '%s', which holds more "
				"than a Python: use an interpreter in a folder of its own",
				env->dir, place);
	return python_add_bind(f, real, place);
}

/*
 * Binds the Python environment at the path that the user gave, and at the path behind symbolic
 * links. A writable environment is bound even if every sandbox sees these paths.
 */
static int python_show_itself(struct python_finding *f, const char *real)
{
	int r = python_show(f, f->env->dir);

	if (r < 0)
		return r;
	return f->env->writable && python_is_visible(real) ? python_add_bind(f, real, real)
							   : python_show(f, real);
}

/*
 * Moves the binds of the environment's own folder to the end of the list. Otherwise a later bind of
 * a folder that contains the environment would hide them.
 */
static void python_move_to_end(struct python_env *env, size_t n_own)
{
	struct sandbox_bind own[PYTHON_BINDS_MAX];
	size_t n_others = env->n_binds - n_own;

	memcpy(own, env->binds, n_own * sizeof(*own));
	memmove(env->binds, env->binds + n_own, n_others * sizeof(*own));
	memcpy(env->binds + n_others, own, n_own * sizeof(*own));
}

/* Binds the folder that contains the `bin` folder of Python's interpreter. */
static int python_show_around(struct python_finding *f, const char *program)
{
	auto_free char *bin = path_dirname(program);
	auto_free char *dir = path_dirname(bin);

	return python_show(f, dir);
}

/* If a path, a heap string, is a symbolic link, replaces it by the path that the link names. False:
 * it is not a link. */
static bool python_follow(char **path)
{
	char link[PATH_MAX];
	ssize_t n = readlink(*path, link, sizeof(link) - 1);
	auto_free char *dir = path_dirname(*path);
	auto_free char *whole = NULL;

	if (n < 0)
		return false;
	link[n] = '\0';
	whole = *link == '/' ? xstrdup(link) : path_join(dir, link);
	free(*path);
	*path = path_normalise(whole);
	return true;
}

/* Binds each folder to which the links from the environment's interpreter lead. */
static int python_show_interpreter(struct python_finding *f)
{
	auto_free char *at = path_join(f->env->dir, "bin/python3");

	for (int i = 0; i < LINKS_MAX; i++) {
		int r;

		if (!python_follow(&at))
			return 0;
		r = python_show_around(f, at);
		if (r < 0)
			return r;
	}
	return error_say(f->err, ELOOP, "Python environment %s: too many links to its interpreter",
			f->env->dir);
}

/* Binds the installation that the venv was made with: `home = FOLDER` in pyvenv.cfg. */
static int python_show_home(struct python_finding *f)
{
	auto_free char *path = path_join(f->env->dir, CONFIG);
	auto_buf struct buf text = BUF_INIT(CONFIG_BYTES_MAX);

	if (fd_read_file(path, &text, NULL) < 0)
		return 0;
	for (const char *line = buf_str(&text); *line;
			line += strcspn(line, "\n"), line += *line == '\n') {
		const char *value = line + 4;
		auto_free char *home = NULL;
		auto_free char *dir = NULL;
		size_t n;

		if (!str_starts(line, "home"))
			continue;
		value += strspn(value, " \t");
		if (*value++ != '=')
			continue;
		value += strspn(value, " \t");
		n = strcspn(value, "\r\n");
		home = xstrndup(value, n);
		dir = *home == '/' ? path_dirname(home) : NULL;
		return dir ? python_show(f, dir) : 0;
	}
	return 0;
}

/* Sets the error why a Python environment's interpreter can't be run. `path` is the interpreter's
 * path. */
static int python_say_not_there(const char *dir, const char *path, struct fh_error *err)
{
	int error = errno;
	auto_free char *at = xstrdup(path);
	int links = 0;

	while (links < LINKS_MAX && python_follow(&at))
		links++;
	if (links)
		return error_say(err, error,
				"Python environment '%s': its bin/python3 is a link that can't be followed to '%s': %s",
				dir, at, strerrordesc_np(error));
	return error_say(err, ENOENT, "Python environment '%s': it has no bin/python3", dir);
}

static int python_check(const char *dir, struct fh_error *err)
{
	auto_free char *program = path_join(dir, "bin/python3");
	struct stat st;

	if (stat(dir, &st) < 0)
		return error_set(err, errno, "Python environment '%s'", dir);
	if (!S_ISDIR(st.st_mode))
		return error_say(err, ENOTDIR, "Python environment '%s': it is not a folder", dir);
	if ((st.st_mode & 05) != 05)
		return error_say(err, EACCES,
				"Python environment '%s': a sandbox is another user, who can't read it: chmod -R o+rX",
				dir);
	if (access(program, X_OK) < 0)
		return python_say_not_there(dir, program, err);
	return 0;
}

/*
 * Splits the text "ENV" or "ENV:rw" at the colon. An environment's path has no colon, because the
 * path becomes a part of PATH.
 */
static int python_read_spec(
		struct arena *a, const char *spec, struct python_env *env, struct fh_error *err)
{
	const char *colon = strrchr(spec, ':');
	const char *dir = colon ? arena_strndup(a, spec, (size_t)(colon - spec)) : spec;
	auto_free char *whole = NULL;
	auto_free char *real = realpath(dir, NULL);
	int r;

	if (colon && !str_eq(colon, ":rw"))
		return error_say(err, EINVAL, "Python environment '%s': it should be ENV or ENV:rw",
				spec);
	r = python_check(dir, err);
	if (r < 0)
		return r;
	r = path_absolute(dir, &whole, err);
	if (r < 0)
		return r;
	env->dir = arena_strdup(a, whole);
	env->writable = colon ? arena_strdup(a, real) : NULL;
	env->spec = colon ? arena_printf(a, "%s:rw", whole) : env->dir;
	return 0;
}

int python_env_find(struct arena *a, const char *spec, struct python_env *out, struct fh_error *err)
{
	struct python_env env = { 0 };
	struct python_finding f = { .arena = a, .env = &env, .err = err };
	auto_free char *real = NULL;
	size_t n_own;
	int r = python_read_spec(a, spec, &env, err);

	if (r < 0)
		return r;
	real = realpath(env.dir, NULL);
	if (!real)
		return error_set(err, errno, "Python environment '%s'", env.dir);
	r = python_show_itself(&f, real);
	if (r < 0)
		return r;
	n_own = env.n_binds;
	r = python_show_interpreter(&f);
	if (r < 0)
		return r;
	r = python_show_home(&f);
	if (r < 0)
		return r;
	python_move_to_end(&env, n_own);
	*out = env;
	return 0;
}

const char *python_env_path(struct arena *a, const char *dir, const char *rest)
{
	return arena_printf(a, "PATH=%s/bin:%s", dir, rest);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "data/packages.h"

#include "base/scope.h"
#include "grade/program.h"
#include "inside/places.h"

#include <errno.h>
#include <string.h>

#define CHECK_MS 60000

/* Python program that prints the names of missing packages, and nothing else. */
static const char packages_script[] =
		"import sys\n"
		"from importlib.metadata import PackageNotFoundError, version\n"
		"missing = []\n"
		"for name in sys.argv[1:]:\n"
		"    try:\n"
		"        version(name)\n"
		"    except PackageNotFoundError:\n"
		"        missing.append(name)\n"
		"print(' '.join(missing), end='')\n";

static int packages_take(
		struct program *program, const struct python_env *python, struct fh_error *err)
{
	int r = program_wait(program, CHECK_MS, err);

	if (r < 0)
		return r;
	if (program->state == PROGRAM_BROKEN || program->status)
		return error_say(err, EIO, "the packages of python3 can't be listed: %s",
				program->state == PROGRAM_BROKEN ? program->err.message
								 : buf_str(&program->log));
	if (program->log.len)
		return error_say(err, ENODATA,
				"%s lacks packages that lay out the data: %s. Install them (pip install "
				"%s), or name an environment that has them by --python ENV",
				python->dir ? python->dir : "python3", buf_str(&program->log),
				buf_str(&program->log));
	return 0;
}

int packages_check(struct owner *owner, const struct python_env *python,
		const char *const *packages, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	const char *env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" GUEST_HOME,
		"LANG=C.UTF-8", NULL };
	struct program program;
	const char **argv;
	size_t n = 0;
	int r;

	while (packages[n])
		n++;
	if (!n)
		return 0;
	argv = arena_array(&arena, n + 5, sizeof(*argv));
	memcpy(argv, (const char *[]){ "python3", "-s", "-c", packages_script }, 4 * sizeof(*argv));
	memcpy(argv + 4, packages, n * sizeof(*argv));
	if (python->dir)
		env[0] = python_env_path(&arena, python->dir, "/usr/local/bin:/usr/bin:/bin");
	r = program_start(&program, owner,
			&(struct program_plan){ .sandbox = { .binds = python->binds,
								.n_binds = python->n_binds },
					.argv = argv,
					.env = env,
					.cwd = GUEST_HOME,
					.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG },
					.n_streams = 3 },
			err);
	if (r < 0)
		return r;
	r = packages_take(&program, python, err);
	program_release(&program);
	return r;
}

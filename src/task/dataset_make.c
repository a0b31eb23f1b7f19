/* SPDX-License-Identifier: Apache-2.0 */
#include "task/dataset_parts.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Adds the path of a Python module that a generating program imports. When the program runs, all
 * its files lie in one folder, so their names have to differ. */
static int dataset_make_add_module(struct arena *a, const char *path,
		const struct dataset_make *make, const char **modules, struct fh_error *err)
{
	size_t n = 0;

	for (const char *other = make->program; other; other = modules[n++])
		if (str_eq(path_basename(other), path_basename(path)))
			return error_say(err, EINVAL, "two files of a program are named '%s'",
					path_basename(path));
	modules[n - 1] = arena_strdup(a, path);
	return 0;
}

int dataset_make_load(struct arena *a, const char *home, const struct make_config *config,
		struct dataset_make **out, struct fh_error *err)
{
	static const char *const none[] = { NULL };
	const struct texts *names = &config->modules;
	struct dataset_make *make = arena_alloc(a, sizeof(*make));
	const char **modules = arena_array(a, names->n + 1, sizeof(*modules));
	auto_free char *program = NULL;
	int r = path_beneath(home, config->program, &program, err);

	if (r < 0)
		return r;
	if (names->n > DATASET_MODULES_MAX)
		return error_say(err, EINVAL, "more than %d modules", DATASET_MODULES_MAX);
	*make = (struct dataset_make){
		.program = arena_strdup(a, program),
		.modules = modules,
		.args = config->args.n ? config->args.items : none,
		.timeout_ms = config->timeout_ms,
	};
	for (size_t i = 0; i < names->n; i++) {
		auto_free char *path = NULL;

		r = path_beneath(home, names->items[i], &path, err);
		if (r < 0)
			return r;
		r = dataset_make_add_module(a, path, make, modules, err);
		if (r < 0)
			return r;
	}
	*out = make;
	return 0;
}

static int dataset_make_hash_file(struct sha256 *h, const char *path, struct fh_error *err)
{
	char hex[SHA256_HEX_BYTES];
	int r = sha256_file(path, hex, err);

	if (r < 0)
		return r;
	sha256_add_str(h, hex);
	return 0;
}

static int dataset_make_hash_files(
		struct sha256 *h, const struct dataset_make *make, struct fh_error *err)
{
	int r = dataset_make_hash_file(h, make->program, err);

	if (r < 0)
		return r;
	for (const char *const *module = make->modules; *module; module++) {
		sha256_add_str(h, NULL);
		sha256_add_str(h, path_basename(*module));
		r = dataset_make_hash_file(h, *module, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int dataset_make_hash(struct arena *a, const struct dataset_config *config, uint64_t data_seed,
		struct dataset_make *make, struct fh_error *err)
{
	const struct data_file_config *files = config->files.items;
	char hex[SHA256_HEX_BYTES], seed[32];
	struct sha256 h;
	int r;

	sha256_init(&h);
	r = dataset_make_hash_files(&h, make, err);
	if (r < 0)
		return r;
	for (const char *const *arg = make->args; *arg; arg++)
		sha256_add_str(&h, *arg);
	sha256_add_str(&h, NULL);
	for (size_t i = 0; i < config->files.n; i++) {
		sha256_add_str(&h, files[i].path);
		sha256_add_str(&h, files[i].hidden ? "hidden" : NULL);
	}
	if (data_seed) {
		snprintf(seed, sizeof(seed), "data seed %" PRIu64, data_seed);
		sha256_add_str(&h, seed);
	}
	sha256_end_hex(&h, hex);
	make->recipe = arena_strdup(a, hex);
	return 0;
}

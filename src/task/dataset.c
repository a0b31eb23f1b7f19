/* SPDX-License-Identifier: Apache-2.0 */
#include "task/dataset.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/secret.h"
#include "base/sha256.h"
#include "base/str.h"
#include "config/yaml.h"
#include "task/config.h"
#include "task/dataset_parts.h"
#include "task/find.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DIR_DIGITS 16 /* number of hash digits in the name of a data set's folder */

struct dataset_loading {
	struct arena *arena;
	const struct dataset_places *places;
	struct dataset *dataset;
	struct dataset_config config;
	const struct node *root;
	const char *home; /* folder in which `datasets/<id>.yaml` was found */
	struct fh_error *err;
};

static const char *dataset_find_yaml(struct dataset_loading *l)
{
	const char *homes[] = { l->places->task_dir, l->places->root, places_get()->share_dir };

	for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
		const char *path;

		if (!homes[i])
			continue;
		l->home = homes[i];
		path = arena_printf(l->arena, "%s/datasets/%s.yaml", homes[i], l->dataset->id);
		if (path_exists(path))
			return path;
	}
	return NULL;
}

static int dataset_read_yaml(struct dataset_loading *l)
{
	const char *path = dataset_find_yaml(l);
	int r;

	if (!path)
		return error_say(l->err, ENOENT, "no data set '%s': there is no datasets/%s.yaml",
				l->dataset->id, l->dataset->id);
	r = yaml_load(l->arena, path, &l->root, l->err);
	if (r < 0)
		return r;
	r = schema_read(l->arena, &dataset_schema, l->root, NULL, &l->config, l->err);
	if (r < 0)
		return r;
	if (l->config.id && !str_eq(l->config.id, l->dataset->id))
		return node_complain(node_path(l->root, "id"), l->err,
				"id '%s' is not the file's name, '%s'", l->config.id,
				l->dataset->id);
	l->dataset->name = l->config.name;
	l->dataset->description = l->config.description;
	return 0;
}

/* --- paths of a data set's files -------------------------------------------------------------- */

char *dataset_store(const char *id, const char *tasks_dir)
{
	auto_free char *joined = path_join(places_get()->share_dir, "tasks");
	auto_free char *ours = realpath(joined, NULL);
	char hex[SHA256_HEX_BYTES];
	struct sha256 h;

	if (str_eq(tasks_dir, ours))
		return xstrdup(id);
	sha256_init(&h);
	sha256_add_str(&h, tasks_dir);
	sha256_end_hex(&h, hex);
	return xasprintf("%s@%.*s", id, DIR_DIGITS, hex);
}

static int dataset_dir_made(struct dataset_loading *l, const char *state_dir)
{
	struct secret secret = { 0 };
	struct dataset_make *make;
	char hex[SHA256_HEX_BYTES];
	int r = dataset_make_load(l->arena, l->home, &l->config.make, &make, l->err);

	if (r < 0)
		return r;
	r = dataset_make_hash(l->arena, &l->config, l->places->data_seed, make, l->err);
	if (r < 0)
		return r;
	l->dataset->make = make;
	/* Go on without the machine's secret. No data was generated yet, so any hash names a folder
	 * that does not exist. */
	r = secret_read(state_dir, &secret, l->err);
	if (r < 0 && r != -ENOENT)
		return r;
	secret_key(&secret, "folder", l->dataset->store, make->recipe, hex);
	l->dataset->dir = arena_printf(
			l->arena, "%s/data/%s/%.*s", state_dir, l->dataset->store, DIR_DIGITS, hex);
	return 0;
}

static int dataset_find_dir(struct dataset_loading *l)
{
	bool made = l->config.make.program != NULL;
	auto_free char *state_dir = NULL, *dir = NULL, *tasks_dir = NULL, *store = NULL;
	int r;

	if (made && l->config.location)
		return node_complain(node_path(l->root, "make"), l->err,
				"a data set has a 'location' or is made, not both");
	if (l->config.location) {
		r = path_beneath(l->home, l->config.location, &dir, l->err);
		if (r < 0)
			return error_wrap(l->err, "location of data set '%s'", l->dataset->id);
		l->dataset->dir = arena_strdup(l->arena, dir);
		return 0;
	}
	r = places_state_path(l->places->state_dir, &state_dir, l->err);
	if (r < 0)
		return r;
	tasks_dir = path_dirname(l->places->task_dir);
	store = dataset_store(l->dataset->id, tasks_dir);
	l->dataset->store = arena_strdup(l->arena, store);
	if (made) {
		r = dataset_dir_made(l, state_dir);
		return r < 0 ? error_wrap(l->err, "how data set '%s' is made", l->dataset->id) : 0;
	}
	l->dataset->dir = arena_printf(l->arena, "%s/data/%s", state_dir, l->dataset->store);
	l->dataset->fetched = arena_printf(l->arena, "%s/fetched/%s", state_dir, l->dataset->store);
	return 0;
}

/* --- files of a data set ---------------------------------------------------------------------- */

/* Replaces the first `word` in the text `how` by `path`, in a sentence that tells how to get a
 * file. The result lives in the arena. */
static const char *dataset_fill_in(
		struct dataset_loading *l, const char *how, const char *word, const char *path)
{
	const char *at = strstr(how, word);

	return at ? arena_printf(l->arena, "%.*s%s%s", (int)(at - how), how, path,
				    at + strlen(word))
		  : how;
}

/* Sets the sentence that tells users how to get missing files of a data set. */
static void dataset_find_how(struct dataset_loading *l)
{
	auto_free char *tasks_dir = path_dirname(l->places->task_dir);
	bool ours = l->dataset->store && !strchr(l->dataset->store, '@');
	const char *how = l->config.how_to_get;

	if (how) {
		how = dataset_fill_in(l, how, "{home}", l->home);
		if (l->dataset->fetched)
			how = dataset_fill_in(l, how, "{fetched}", l->dataset->fetched);
	} else if (l->config.fetch.n) {
		how = arena_printf(l->arena, "run `fumehood data fetch %s%s%s`", l->dataset->id,
				ours ? "" : " --tasks-dir ", ours ? "" : tasks_dir);
	}
	l->dataset->how_to_get = how;
}

/* Makes the sentence about a missing file of a data set. It tells the user how to get the file. */
static const char *dataset_missing_text(
		struct arena *a, const struct dataset *dataset, const char *path)
{
	const char *how = dataset->how_to_get;

	return arena_printf(a, "data set '%s' lacks %s in %s%s%s", dataset->id, path, dataset->dir,
			how ? ": " : "", how ? how : "");
}

/* Makes the path of a data set's file absolute. In a data set that came with tasks, no link may
 * lead out of the set's folder. In the state folder, links are the user's own and are allowed. */
static int dataset_find_source(struct dataset_loading *l, const char *path, const char **out)
{
	auto_free char *source = path_join(l->dataset->dir, path);
	auto_free char *real = NULL;
	int r;

	if (l->dataset->make || (l->places->missing_ok && !path_exists(source))) {
		*out = arena_strdup(l->arena, source);
		return 0;
	}
	if (!path_exists(source))
		return error_say(l->err, ENODATA, "%s",
				dataset_missing_text(l->arena, l->dataset, path));
	if (l->config.location) {
		r = path_beneath(l->dataset->dir, path, &real, l->err);
		if (r < 0)
			return r;
	}
	*out = arena_strdup(l->arena, real ? real : source);
	return 0;
}

static int dataset_add_file(struct dataset_loading *l, const struct data_file_config *config,
		const struct node *at, struct dataset_file *out)
{
	const char *target = config->target ? config->target : config->path;
	auto_free char *normal = path_normalise(target);

	if (!path_stays_inside(config->path) || !path_stays_inside(target))
		return node_complain(at, l->err, "'%s' leads out of its folder",
				path_stays_inside(target) ? config->path : target);
	*out = (struct dataset_file){
		.path = config->path,
		.target = arena_strdup(l->arena, normal),
		.sha256 = config->sha256,
		.hidden = config->hidden,
		.at = at,
	};
	return dataset_find_source(l, config->path, &out->source);
}

static int dataset_add_files(struct dataset_loading *l)
{
	const struct data_file_config *configs = l->config.files.items;
	const struct node *nodes = node_path(l->root, "files");
	struct dataset_file *files;

	if (l->config.files.n > DATASET_FILES_MAX)
		return node_complain(nodes, l->err, "more than %d files", DATASET_FILES_MAX);
	files = arena_array(l->arena, l->config.files.n, sizeof(*files));
	for (size_t i = 0; i < l->config.files.n; i++) {
		int r = dataset_add_file(l, &configs[i], nodes->items[i], &files[i]);

		if (r < 0)
			return r;
	}
	l->dataset->files = files;
	l->dataset->n_files = l->config.files.n;
	return 0;
}

/* --- files of a data set to fetch ------------------------------------------------------------- */

/* Chooses name and folder of a fetched file. The input files of a layout program lie in a folder
 * of their own. */
static int dataset_aim_source(struct dataset_loading *l, const struct fetch_config *config,
		const struct node *at, struct dataset_source *out)
{
	const struct data_file_config *files = l->config.files.items;
	const char *from = config->huggingface ? config->path : config->url;
	bool has_layout = l->config.layout.make.program, is_file = false;

	if (!config->to && !from)
		return node_complain(at, l->err, "a file for the user to bring needs 'to'");
	out->name = config->to ? config->to : path_basename(from);
	if (!task_name_is_valid(out->name))
		return node_complain(at, l->err,
				"'%s' can't be the name of a fetched file: give a simple one by 'to'",
				out->name);
	for (size_t i = 0; i < l->config.files.n; i++)
		is_file = is_file || str_eq(files[i].path, out->name);
	if (!has_layout && !is_file)
		return node_complain(at, l->err,
				"'%s' is not in 'files', and there is no 'layout' that reads it",
				out->name);
	out->target = arena_printf(l->arena, "%s/%s",
			has_layout ? l->dataset->fetched : l->dataset->dir, out->name);
	return 0;
}

static int dataset_add_source(struct dataset_loading *l, const struct fetch_config *config,
		const struct node *at, struct dataset_source *out)
{
	size_t n_hex = config->sha256 ? strspn(config->sha256, "0123456789abcdef") : 64;

	if (config->huggingface && (config->url || !config->path))
		return node_complain(at, l->err, "'huggingface' goes with 'path', not with 'url'");
	if (!config->huggingface && config->path)
		return node_complain(at, l->err, "'path' needs 'huggingface'");
	if (config->path && !path_stays_inside(config->path))
		return node_complain(at, l->err, "'%s' leads out of its repository", config->path);
	if (config->sha256 && (n_hex != 64 || config->sha256[n_hex]))
		return node_complain(at, l->err, "sha256 wants 64 lower-case hexadecimal digits");
	*out = (struct dataset_source){
		.huggingface = config->huggingface,
		.path = config->path,
		.revision = config->revision,
		.url = config->url,
		.sha256 = config->sha256,
	};
	return dataset_aim_source(l, config, at, out);
}

static int dataset_add_layout(struct dataset_loading *l)
{
	static const char *const none[] = { NULL };
	const struct texts *packages = &l->config.layout.packages;
	struct dataset_make *layout;
	int r = dataset_make_load(l->arena, l->home, &l->config.layout.make, &layout, l->err);

	if (r < 0)
		return error_wrap(l->err, "layout of data set '%s'", l->dataset->id);
	l->dataset->layout = layout;
	l->dataset->packages = packages->n ? packages->items : none;
	return 0;
}

static int dataset_add_sources(struct dataset_loading *l)
{
	const struct fetch_config *configs = l->config.fetch.items;
	const struct node *nodes = node_path(l->root, "fetch");
	size_t n = l->config.fetch.n;
	struct dataset_source *sources = arena_array(l->arena, n, sizeof(*sources));

	if (n && (l->config.make.program || l->config.location))
		return node_complain(nodes, l->err,
				"a data set with a 'location' or 'make' has nothing to fetch");
	if (n > DATASET_FILES_MAX)
		return node_complain(nodes, l->err, "more than %d files", DATASET_FILES_MAX);
	if (!n && l->config.layout.make.program)
		return node_complain(node_path(l->root, "layout"), l->err,
				"'layout' needs files of 'fetch'");
	for (size_t i = 0; i < n; i++) {
		int r = dataset_add_source(l, &configs[i], nodes->items[i], &sources[i]);

		if (r < 0)
			return r;
		for (size_t j = 0; j < i; j++)
			if (str_eq(sources[j].name, sources[i].name))
				return node_complain(nodes->items[i], l->err,
						"two fetched files are named '%s': give one a "
						"'to'",
						sources[i].name);
	}
	l->dataset->sources = sources;
	l->dataset->n_sources = n;
	return l->config.layout.make.program ? dataset_add_layout(l) : 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

int dataset_load(struct arena *a, const struct dataset_places *places, const char *name,
		struct dataset *out, struct fh_error *err)
{
	size_t skip = str_starts(name, "datasets/") ? strlen("datasets/") : 0;
	size_t n = strlen(name) - skip - (str_ends(name, ".yaml") ? strlen(".yaml") : 0);
	struct dataset dataset = { .id = arena_strndup(a, name + skip, n) };
	struct dataset_loading l = {
		.arena = a, .places = places, .dataset = &dataset, .err = err
	};
	int r;

	if (!task_name_is_valid(dataset.id))
		return error_say(err, EINVAL, "'%s' can't be the name of a data set", name);
	r = dataset_read_yaml(&l);
	if (r < 0)
		return r;
	r = dataset_find_dir(&l);
	if (r < 0)
		return r;
	dataset_find_how(&l);
	r = dataset_add_sources(&l);
	if (r < 0)
		return r;
	r = dataset_add_files(&l);
	if (r < 0)
		return r;
	*out = dataset;
	return 0;
}

bool dataset_is_there(const struct dataset *dataset)
{
	return !dataset->make || path_is_dir(dataset->dir);
}

const struct dataset_file *dataset_missing(const struct dataset *dataset)
{
	for (size_t i = 0; i < dataset->n_files; i++)
		if (!path_exists(dataset->files[i].source))
			return &dataset->files[i];
	return NULL;
}

const char *dataset_tell_missing(struct arena *a, const struct dataset *dataset)
{
	const struct dataset_file *file = dataset->make ? NULL : dataset_missing(dataset);

	return file ? dataset_missing_text(a, dataset, file->path) : NULL;
}

int dataset_verify(const struct dataset *dataset, struct fh_error *err)
{
	if (!dataset_is_there(dataset))
		return 0;
	for (size_t i = 0; i < dataset->n_files; i++) {
		const struct dataset_file *file = &dataset->files[i];
		char hex[SHA256_HEX_BYTES];
		int r;

		if (!file->sha256)
			continue;
		r = sha256_file(file->source, hex, err);
		if (r < 0)
			return r;
		if (strcasecmp(hex, file->sha256) != 0)
			return node_complain(node_path(file->at, "sha256"), err,
					"%s has sha256 %s, not %s", file->source, hex,
					file->sha256);
	}
	return 0;
}

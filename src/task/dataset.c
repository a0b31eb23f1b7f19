/* SPDX-License-Identifier: Apache-2.0 */
#include "task/dataset.h"

#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "config/yaml.h"
#include "task/config.h"
#include "task/find.h"

#include <errno.h>
#include <string.h>

struct loading {
	struct arena *arena;
	const struct dataset_places *places;
	struct dataset *dataset;
	struct dataset_config config;
	const struct node *root;
	const char *home; /* the folder that holds `datasets` */
	struct fh_error *err;
};

/* "datasets/titanic.yaml" gives "titanic". */
static const char *id_of(struct arena *a, const char *name)
{
	size_t n;

	if (str_starts(name, "datasets/"))
		name += strlen("datasets/");
	n = strlen(name);
	if (str_ends(name, ".yaml"))
		n -= strlen(".yaml");
	return arena_strndup(a, name, n);
}

static int find_file(struct loading *l, const char **out_path)
{
	const char *homes[] = { l->places->task_dir, l->places->root, places_get()->share_dir };

	for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
		const char *path;

		if (!homes[i])
			continue;
		path = arena_printf(l->arena, "%s/datasets/%s.yaml", homes[i], l->dataset->id);
		if (!path_exists(path))
			continue;
		l->home = homes[i];
		*out_path = path;
		return 0;
	}
	return error_say(l->err, ENOENT, "no data set '%s': there is no datasets/%s.yaml",
			l->dataset->id, l->dataset->id);
}

static int read_file(struct loading *l, const char *path)
{
	int r = yaml_load(l->arena, path, &l->root, l->err);

	if (r >= 0)
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

static int find_dir(struct loading *l)
{
	const char *location = l->config.location;
	auto_free char *dir = NULL;
	int r;

	if (!location) {
		r = places_state_path(l->places->state_dir, &dir, l->err);
		if (r >= 0)
			l->dataset->dir = arena_printf(l->arena, "%s/data/%s", dir, l->dataset->id);
		return r;
	}
	r = path_beneath(l->home, location, &dir, l->err);
	if (r < 0) {
		error_wrap(l->err, "location of data set '%s'", l->dataset->id);
		return r;
	}
	l->dataset->dir = arena_strdup(l->arena, dir);
	return 0;
}

static int missing(const struct loading *l, const char *path)
{
	const char *how = l->config.how_to_get;

	return error_say(l->err, ENODATA, "data set '%s' lacks %s in %s%s%s", l->dataset->id, path,
			l->dataset->dir, how ? ": " : "", how ? how : "");
}

/* In a folder of ours a path may not lead out; what users put into their own state is theirs to
 * link as they like. */
static int find_source(struct loading *l, const char *path, const char **out)
{
	auto_free char *source = path_join(l->dataset->dir, path);
	auto_free char *real = NULL;
	int r;

	if (!path_exists(source))
		return missing(l, path);
	if (l->config.location) {
		r = path_beneath(l->dataset->dir, path, &real, l->err);
		if (r < 0)
			return r;
	}
	*out = arena_strdup(l->arena, real ? real : source);
	return 0;
}

static int add_file(struct loading *l, const struct data_file_config *config, const struct node *at,
		struct dataset_file *out)
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
	};
	return find_source(l, config->path, &out->source);
}

static int add_files(struct loading *l)
{
	const struct data_file_config *configs = l->config.files.items;
	const struct node *nodes = node_path(l->root, "files");
	struct dataset_file *files;
	int r = 0;

	files = arena_array(l->arena, l->config.files.n, sizeof(*files));
	for (size_t i = 0; i < l->config.files.n && r >= 0; i++)
		r = add_file(l, &configs[i], nodes->items[i], &files[i]);
	l->dataset->files = files;
	l->dataset->n_files = l->config.files.n;
	return r;
}

int dataset_load(struct arena *a, const struct dataset_places *places, const char *name,
		struct dataset *out, struct fh_error *err)
{
	struct dataset dataset = { .id = id_of(a, name) };
	struct loading l = { .arena = a, .places = places, .dataset = &dataset, .err = err };
	const char *path = NULL;
	int r;

	if (!task_name_is_valid(dataset.id))
		return error_say(err, EINVAL, "'%s' can't be the name of a data set", name);
	r = find_file(&l, &path);
	if (r >= 0)
		r = read_file(&l, path);
	if (r >= 0)
		r = find_dir(&l);
	if (r >= 0)
		r = add_files(&l);
	if (r < 0)
		return r;
	*out = dataset;
	return 0;
}

int dataset_verify(const struct dataset *dataset, struct fh_error *err)
{
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
			return error_say(err, EBADMSG, "data set '%s': %s has sha256 %s, not %s",
					dataset->id, file->source, hex, file->sha256);
	}
	return 0;
}

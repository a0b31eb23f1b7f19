/* SPDX-License-Identifier: Apache-2.0 */
#include "model/prices.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/schema.h"
#include "config/yaml.h"

#include <ctype.h>
#include <string.h>

#define DOLLARS_MOST 1e6

#define FIELD(f) offsetof(struct price, f)
static const struct field price_fields[] = {
	{ "input", FIELD_NUMBER, FIELD(input), "dollars for a million tokens sent",
			.required = true, .max = DOLLARS_MOST },
	{ "output", FIELD_NUMBER, FIELD(output), "for a million tokens received", .required = true,
			.max = DOLLARS_MOST },
	{ "cached_input", FIELD_NUMBER, FIELD(cached_input),
			"for a million of those sent that the provider had cached; -1: as `input`",
			.preset = "-1", .min = -1, .max = DOLLARS_MOST },
	{ "cache_write", FIELD_NUMBER, FIELD(cache_write),
			"for a million of those sent that it caches; -1: as `input`",
			.preset = "-1", .min = -1, .max = DOLLARS_MOST },
	{ "context", FIELD_INT, FIELD(context), "tokens that a conversation may have; 0: not known",
			.preset = "0", .max = 1e9 },
	{},
};
#undef FIELD

static const struct schema price_schema = {
	.name = "price",
	.help = "Price of a model.",
	.size = sizeof(struct price),
	.fields = price_fields,
};

struct price_entry {
	const char *name;
	struct price price;
};

/*
 * Prices of language models. The table is searched from start to end: fast enough, because each
 * model is looked up once.
 */
struct price_table {
	struct price_entry *entries;
	size_t n;
};

struct prices {
	struct arena arena;
	struct price_table user, own;
};

/* --- reading ---------------------------------------------------------------------------------- */

static int prices_load(
		struct arena *a, const char *path, struct price_table *out, struct fh_error *err)
{
	const struct node *root;
	int r = yaml_load(a, path, &root, err);

	if (r < 0)
		return r;
	if (root->kind != NODE_MAP)
		return node_complain(root, err, "expected an object of models and their prices");
	out->entries = arena_array(a, root->n, sizeof(struct price_entry));
	for (size_t i = 0; i < root->n; i++) {
		struct price_entry *entry = &out->entries[i];

		entry->name = root->pairs[i].key->text;
		r = schema_read(a, &price_schema, root->pairs[i].value, NULL, &entry->price, err);
		if (r < 0)
			return r;
	}
	out->n = root->n;
	return 0;
}

int prices_open(const char *path, struct prices **out, struct fh_error *err)
{
	auto_free char *own = path_join(places_get()->share_dir, "models/prices.json");
	struct prices *p = xcalloc(1, sizeof(*p));
	if (prices_load(&p->arena, own, &p->own, err) < 0 ||
			(path && prices_load(&p->arena, path, &p->user, err) < 0)) {
		prices_close(p);
		return error_wrap(err, "table of prices");
	}
	*out = p;
	return 0;
}

void prices_close(struct prices *p)
{
	if (!p)
		return;
	arena_release(&p->arena);
	free(p);
}

/* --- finding ---------------------------------------------------------------------------------- */

static const struct price *prices_in_table(const struct price_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->entries[i].name, name))
			return &t->entries[i].price;
	return NULL;
}

static const struct price *prices_find_exact(
		const struct prices *p, const char *vendor, const char *name)
{
	auto_free char *full = xasprintf("%s/%s", vendor, name);
	const char *const names[] = { full, name };
	const struct price_table *const tables[] = { &p->user, &p->own };

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (prices_in_table(tables[t], names[i]))
				return prices_in_table(tables[t], names[i]);
	return NULL;
}

/*
 * Returns the model's name without a date or "-latest" at its end, as a heap string. NULL if it
 * ends in neither.
 */
static char *prices_without_date(const char *name)
{
	/* Dates and words that may end a model's name. A 0 stands for any digit. */
	static const char *const endings[] = { "-0000-00-00", "-00000000", "@00000000", "-0000",
		"-latest" };
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t length = strlen(endings[i]), at = n - length, same = 0;

		while (n > length && same < length &&
				(endings[i][same] == '0' ? isdigit((unsigned char)name[at + same])
							 : endings[i][same] == name[at + same]))
			same++;
		if (same == length)
			return xstrndup(name, at);
	}
	return NULL;
}

const struct price *prices_find(const struct prices *p, const char *vendor, const char *name)
{
	const char *slash = strrchr(name, '/');
	auto_free char *undated = prices_without_date(name);
	const struct price *found = prices_find_exact(p, vendor, name);

	if (!found && undated)
		found = prices_find_exact(p, vendor, undated);
	if (!found && slash)
		found = prices_find(p, vendor, slash + 1);
	return found;
}

double price_of(const struct price *price, int64_t sent, int64_t cached, int64_t stored,
		int64_t received)
{
	double cached_input = price->cached_input < 0 ? price->input : price->cached_input;
	double cache_write = price->cache_write < 0 ? price->input : price->cache_write;
	int64_t fresh = sent - cached - stored;

	if (fresh < 0)
		fresh = 0;
	return ((double)fresh * price->input + (double)cached * cached_input +
			       (double)stored * cache_write + (double)received * price->output) /
			1e6;
}

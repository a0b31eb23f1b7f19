/* SPDX-License-Identifier: Apache-2.0 */
#include "report/mix.h"

#include "base/scope.h"

#include <string.h>

#define MIX_VALUES_MAX 4   /* most values that a cell names; it counts the others */
#define MIX_HASH_LETTERS 8 /* letters of a hash that are shown */

/* --- what a score depends on ------------------------------------------------------------------ */

static const char *mix_short(struct arena *a, const char *hash)
{
	return hash ? arena_strndup(a, hash, strnlen(hash, MIX_HASH_LETTERS)) : NULL;
}

static const char *mix_version(struct arena *a, const struct run_row *row)
{
	return mix_short(a, row->version);
}

static const char *mix_root(struct arena *a, const struct run_row *row)
{
	return mix_short(a, row->root);
}

static const char *mix_seed(struct arena *a, const struct run_row *row)
{
	const char *seed = row->judge ? strstr(row->judge, " seed ") : NULL;

	return seed ? seed + strlen(" seed ") : NULL;
}

static const char *mix_keys(struct arena *a, const struct run_row *row)
{
	const char *keys = row->judge, *end = keys ? strstr(keys, " seed ") : NULL;

	if (!end || !str_starts(keys, "keys "))
		return keys;
	keys += strlen("keys ");
	return arena_strndup(a, keys, (size_t)(end - keys));
}

static const char *mix_metric(struct arena *a, const struct run_row *row)
{
	return row->metric;
}

static const struct {
	const char *title;
	const char *(*text)(struct arena *a, const struct run_row *row);
} mixables[] = {
	{ "Version", mix_version },
	{ "Root files", mix_root },
	{ "Data seed", mix_seed },
	{ "Judge keys", mix_keys },
	{ "Metric", mix_metric },
};

/* --- a cell ----------------------------------------------------------------------------------- */

struct mix_values {
	const char **texts;
	size_t *runs;
	size_t n;
};

static void mix_count(struct arena *a, struct mix_values *v, const char *text)
{
	size_t i = 0;

	while (i < v->n && !str_eq(v->texts[i], text))
		i++;
	if (i == v->n) {
		v->texts = arena_grow(a, v->texts, v->n, sizeof(*v->texts));
		v->runs = arena_grow(a, v->runs, v->n, sizeof(*v->runs));
		v->texts[v->n] = text;
		v->runs[v->n++] = 0;
	}
	v->runs[i]++;
}

/* Tells how many runs of a task have which value. NULL: all have the same. */
static const char *mix_cell(const struct report *r, size_t task, size_t which)
{
	struct arena *a = r->doc->arena;
	struct mix_values v = { 0 };
	auto_buf struct buf out = BUF_INIT(1024);

	for (size_t m = 0; m < r->models.n; m++)
		for (size_t i = 0; i < report_at(r, task, m)->n; i++) {
			const char *text = mixables[which].text(a, report_at(r, task, m)->runs[i]);

			mix_count(a, &v, text ? text : "unknown");
		}
	if (v.n < 2)
		return NULL;
	for (size_t i = 0; i < v.n && i < MIX_VALUES_MAX; i++)
		buf_printf(&out, "%s%zu of %.60s", i ? ", " : "", v.runs[i], v.texts[i]);
	if (v.n > MIX_VALUES_MAX)
		buf_printf(&out, ", %zu more values", v.n - MIX_VALUES_MAX);
	return arena_strdup(a, buf_str(&out));
}

void mix_table(const struct report *r)
{
	struct report_doc *doc = r->doc;
	const char *columns[ARRAY_SIZE(mixables) + 2] = { "Task" };
	struct report_table *t = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(mixables); i++)
		columns[i + 1] = mixables[i].title;
	for (size_t task = 0; task < r->n_tasks; task++) {
		struct cell *cells = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(mixables); i++) {
			const char *text = mix_cell(r, task, i);

			if (!text)
				continue;
			if (!t)
				t = doc_add(doc, "mixed", "Runs that differ in more than the model",
						"Scores of these tasks depend on that too. Cells tell how "
						"many runs have which value. They are empty if all have "
						"the same.",
						columns);
			if (!cells) {
				cells = table_add_row(doc, t);
				cells[0] = cell_text(r->tasks[task].name);
			}
			cells[i + 1] = cell_text(text);
		}
	}
	if (t)
		doc_note(doc,
				"Runs of %zu of %zu tasks differ in more than the model: see the table "
				"mixed. This command makes a task of each kind: fumehood report --split",
				t->n_rows, r->n_tasks);
}

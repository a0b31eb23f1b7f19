/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_tables.h"

#include "base/scope.h"

#include <errno.h>

#define BRIEF_CELLS_MAX 80 /* cells of a table that is not long */
#define BRIEF_COMPARED 3   /* first tables of `brief`, which answer --compare alone */

/* Tables that text has without --tables: a comparison, models, scores, noise, costs, and runs in
 * which something went wrong. */
static const struct {
	const char *id;
	bool is_kept; /* true: print the table even if it is long */
} brief[] = {
	{ "compare-total", true },
	{ "compare", true },
	{ "models", true },
	{ "mixed", true },
	{ "scores-attempt", true },
	{ "spread", false },
	{ "over-steps", false },
	{ "policy-steps", true },
	{ "costs", false },
	{ "times", false },
	{ "errors", false },
	{ "troubles", true },
};

/* Tables that a report has only if there is something to tell, and the sentence if there is not. */
static const struct {
	const char *id, *sentence;
} absent[] = {
	{ "mixed",
			"Nothing is mixed: by their records, the runs of a task do not differ in version, "
			"root file system, data seed, judge keys or metric." },
	{ "over-steps", "No score is normalised, or no run tells its steps." },
	{ "over-cost", "No score is normalised, or no run tells its cost." },
	{ "times", "No run tells its times." },
	{ "policy-steps", "No run is of a policy that is being trained." },
	{ "actions-by-step", "No run tells its actions." },
	{ "troubles", "Nothing is wrong with any run." },
};

/* Adds a table, unless it is there. */
static void report_tables_add(struct report_doc *doc, struct report_table *t)
{
	if (!doc_find(doc, t->id))
		doc->tables[doc->n_tables++] = t;
}

/* Takes all tables out of a report. */
static struct report_doc report_tables_take(struct report_doc *doc)
{
	struct report_doc all = *doc;

	doc->tables = arena_array(doc->arena, all.n_tables + 1, sizeof(struct report_table *));
	doc->n_tables = 0;
	return all;
}

static int report_tables_refuse(const struct report_doc *doc, const char *id, struct fh_error *err)
{
	auto_buf struct buf ids = BUF_INIT(4096);

	if (str_eq(id, "compare") || str_eq(id, "compare-total"))
		return error_say(err, EINVAL, "--tables %s needs two models: --compare A B", id);
	for (size_t i = 0; i < doc->n_tables; i++)
		buf_printf(&ids, "%s, ", doc->tables[i]->id);
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		if (!doc_find(doc, absent[i].id))
			buf_printf(&ids, "%s, ", absent[i].id);
	return error_say(err, ENOENT, "--tables: there is no table '%s'; there are %sall", id,
			buf_str(&ids));
}

/* Notes that a table is absent. False: there is no such table. */
static bool report_tables_note(struct report_doc *doc, const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		if (str_eq(absent[i].id, id)) {
			doc_note(doc, "%s", absent[i].sentence);
			return true;
		}
	return false;
}

int report_tables_keep(struct report_doc *doc, const struct texts *ids, struct fh_error *err)
{
	struct report_doc all = report_tables_take(doc);

	for (size_t i = 0; i < ids->n; i++) {
		struct report_table *t = doc_find(&all, ids->items[i]);

		if (t)
			report_tables_add(doc, t);
		else if (str_eq(ids->items[i], "all"))
			for (size_t k = 0; k < all.n_tables; k++)
				report_tables_add(doc, all.tables[k]);
		else if (!report_tables_note(doc, ids->items[i]))
			return report_tables_refuse(&all, ids->items[i], err);
	}
	return 0;
}

void report_tables_keep_brief(struct report_doc *doc)
{
	struct report_doc all = report_tables_take(doc);
	auto_buf struct buf long_ids = BUF_INIT(1024);
	bool is_compared = doc_find(&all, "compare") != NULL;

	for (size_t i = 0; i < (is_compared ? BRIEF_COMPARED : ARRAY_SIZE(brief)); i++) {
		struct report_table *t = doc_find(&all, brief[i].id);

		if (t && (brief[i].is_kept || t->n_rows * t->n_columns <= BRIEF_CELLS_MAX))
			report_tables_add(doc, t);
		else if (t)
			buf_printf(&long_ids, "%s%s", long_ids.len ? "," : "", t->id);
	}
	doc->more = arena_printf(doc->arena,
			"%zu more tables: --tables all, or --format html --out report.html%s%s\n"
			"What a run did: fumehood show RUN, or fumehood view DIR%s",
			all.n_tables - doc->n_tables,
			long_ids.len ? "\nTables that are long here: --tables " : "",
			buf_str(&long_ids),
			is_compared ? "" : "\nIs a difference noise: --compare MODEL MODEL");
}

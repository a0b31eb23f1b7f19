/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "env/words.h"
#include "report/scan_inside.h"
#include "trajectory/told.h"

#include <string.h>

/* Scores of a .traj that was cut before its list of scores: those that its observations tell. */

static bool told_is(const char *action, const char *word)
{
	action += strspn(action, " \t\r\n");
	return str_starts(action, word) && str_is_blank(action + strlen(word));
}

/* Reads what the observation of a validate or submit tells. Others are left out, because a program
 * that runs beside `validate` may print such a line itself. */
static const struct pyjson *told_value(
		struct scan *s, const struct traj_step *step, const char *word)
{
	const struct pyjson *seen = step->observation;
	const char *action = pyjson_text(step->action);

	if (!pyjson_string(seen) || !(told_is(action, "validate") || told_is(action, "submit")))
		return NULL;
	return told_read(&s->own, seen->text, seen->len, word);
}

const struct pyjson *scan_told_scores(struct scan *s, const struct traj *t)
{
	struct pyjson *list = arena_alloc(&s->own, sizeof(*list));
	const struct pyjson **end = &list->first;

	*list = (struct pyjson){ .kind = PYJSON_ARRAY };
	for (size_t i = 0; i < t->n_steps; i++) {
		struct pyjson *entry;
		const struct pyjson *told;

		if (!strstr(pyjson_text(t->steps[i].observation), WORDS_EVALUATION))
			continue;
		told = told_value(s, &t->steps[i], WORDS_EVALUATION);
		s->row->told += told != NULL;
		entry = arena_alloc(&s->own, sizeof(*entry));
		*entry = told ? *told : (struct pyjson){ .kind = PYJSON_OBJECT };
		entry->next = NULL;
		*end = entry;
		end = &entry->next;
		list->n++;
	}
	return list;
}

const struct pyjson *scan_told_baseline(struct scan *s, const struct traj *t)
{
	const struct pyjson *told = NULL;

	for (size_t i = 0; i < t->n_steps && !told; i++)
		told = told_value(s, &t->steps[i], WORDS_BASELINE);
	return told;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/row.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

#define ROW(name, kind)                                                                            \
	{                                                                                          \
#name, kind, offsetof(struct run_row, name)                                        \
	}

const struct row_field row_fields[] = {
	ROW(path, ROW_TEXT),
	ROW(problem, ROW_TEXT),
	ROW(damage, ROW_TEXT),
	ROW(task, ROW_TEXT),
	ROW(version, ROW_TEXT),
	ROW(root, ROW_TEXT),
	ROW(judge, ROW_TEXT),
	ROW(metric, ROW_TEXT),
	ROW(maximize, ROW_COUNT),
	ROW(guessed, ROW_COUNT),
	ROW(model, ROW_TEXT),
	ROW(agent, ROW_TEXT),
	ROW(agent_hash, ROW_TEXT),
	ROW(number, ROW_COUNT),
	ROW(policy_step, ROW_COUNT),
	ROW(started, ROW_TEXT),
	ROW(exit_status, ROW_TEXT),
	ROW(complete, ROW_COUNT),
	ROW(steps, ROW_COUNT),
	ROW(baseline, ROW_NUMBER),
	ROW(best, ROW_NUMBER),
	ROW(last, ROW_NUMBER),
	ROW(is_apart, ROW_COUNT),
	ROW(told, ROW_COUNT),
	ROW(reward, ROW_NUMBER),
	ROW(cost, ROW_NUMBER),
	ROW(tokens_sent, ROW_COUNT),
	ROW(tokens_received, ROW_COUNT),
	ROW(calls, ROW_COUNT),
	ROW(seconds, ROW_NUMBER),
	ROW(model_s, ROW_NUMBER),
	ROW(tool_s, ROW_NUMBER),
	ROW(graded_s, ROW_NUMBER),
	ROW(failed, ROW_COUNT),
	ROW(timeouts, ROW_COUNT),
	ROW(format_errors, ROW_COUNT),
	ROW(blocked, ROW_COUNT),
	ROW(refused, ROW_COUNT),
	ROW(integrity, ROW_COUNT),
	ROW(helped, ROW_COUNT),
	ROW(kinds, ROW_TEXT),
	ROW(points, ROW_TEXT),
	{ NULL },
};

const struct action_letter action_letters[] = {
	{ 'E', "edit" },
	{ 'V', "view" },
	{ 'S', "search" },
	{ 'P', "python" },
	{ 'L', "validate" },
	{ 'U', "submit" },
	{ 'X', "exit" },
	{ 'B', "bash" },
	{ 0, NULL },
};

static const struct {
	const char *beginning;
	char letter;
	bool whole; /* the whole word must be equal */
} words[] = {
	{ "edit", 'E', true },
	{ "insert", 'E', true },
	{ "create", 'E', true },
	{ "str_replace", 'E', true },
	{ "open", 'V', true },
	{ "goto", 'V', true },
	{ "scroll_", 'V', false },
	{ "search_", 'S', false },
	{ "find_file", 'S', true },
	{ "python", 'P', false },
	{ "torchrun", 'P', true },
	{ "accelerate", 'P', true },
	{ "deepspeed", 'P', true },
	{ "validate", 'L', true },
	{ "submit", 'U', true },
	{ "exit_", 'X', false },
	{ "skip", 'X', true },
};

/* Skips blanks, and a `cd FOLDER &&` at the beginning of an action. */
static const char *row_first_word(const char *action)
{
	const char *rest, *end;

	action += strspn(action, " \t\n");
	if (!str_starts(action, "cd "))
		return action;
	end = action + strcspn(action, "\n");
	rest = strstr(action, "&&");
	return rest && rest < end ? rest + 2 + strspn(rest + 2, " \t\n") : action;
}

char action_letter_of(const char *action)
{
	const char *word = row_first_word(action);
	size_t n = strcspn(word, " \t\n;|&<>");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i].beginning);

		if (n >= length && strncmp(word, words[i].beginning, length) == 0 &&
				(!words[i].whole || n == length))
			return words[i].letter;
	}
	return 'B';
}

bool run_row_is_human(const struct run_row *row)
{
	return row->model && str_starts(row->model, "human");
}

bool run_row_is_unpriced(const struct run_row *row)
{
	return isnan(row->cost) && (row->tokens_sent > 0 || row->tokens_received > 0);
}

struct run_row *run_rows_add(struct arena *a, struct run_rows *rows)
{
	rows->items = arena_grow(a, rows->items, rows->n, sizeof(*rows->items));
	rows->items[rows->n] = (struct run_row)RUN_ROW_INIT;
	return &rows->items[rows->n++];
}

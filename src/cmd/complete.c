/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/complete.h"

#include "cli/help.h"
#include "cli/options.h"
#include "run/mlgym_root.h"

#include "agent/config.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/backend.h"
#include "task/task.h"

#include <string.h>

/*
 * Candidates for the last word of a command line, for the completions of shells. The commands' tables
 * say it; names of tasks and agents are looked up where the command would. A line for each is
 * "CANDIDATE\tWHAT IT IS". ":files\tPREFIX" and ":folders\tPREFIX" leave paths to the shell, which knows
 * its own quotes; they begin after the prefix.
 */
struct completion_line {
	struct buf *out;
	const struct command *command;
	const struct cmd_option *open; /* whose value comes next; NULL: none */
	bool only_args;                /* after "--" */
	size_t n_args;
	const char *tasks_dir, *mlgym_root; /* as given so far */
	const char *kept;                   /* the word's beginning, which stays as it is */
	size_t n_kept;
	const char *rest; /* what is to be completed */
};

static void add(const struct completion_line *l, const char *candidate, const char *what)
{
	if (str_starts(candidate, l->rest))
		buf_printf(l->out, "%.*s%s\t%.*s\n", (int)l->n_kept, l->kept, candidate,
				(int)strcspn(what, "\n"), what);
}

static void add_paths(const struct completion_line *l, const char *kind)
{
	buf_printf(l->out, ":%s\t%.*s\n", kind, (int)l->n_kept, l->kept);
}

static void add_files(const struct completion_line *l)
{
	add_paths(l, "files");
}

static void add_folders(const struct completion_line *l)
{
	add_paths(l, "folders");
}

static void add_variants(
		const struct completion_line *l, const struct task_places *places, const char *task)
{
	char **variants = NULL;

	if (task_variants(places, task, &variants, NULL) < 0)
		return;
	for (char **v = variants; *v; v++) {
		auto_free char *spec = xasprintf("%s:%s", task, *v);

		add(l, spec, "a variant");
	}
	task_list_free(variants);
}

static void add_tasks(const struct completion_line *l)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct task_places places = { .tasks_dir = l->tasks_dir };
	char **ids = NULL;

	if (mlgym_root(&arena, l->mlgym_root, NULL, &places.mlgym_root, NULL) < 0 ||
			task_list(&places, &ids, NULL) < 0)
		return;
	for (char **id = ids; *id; id++) {
		add(l, *id, "a task");
		add_variants(l, &places, *id);
	}
	task_list_free(ids);
}

static void add_agents(const struct completion_line *l)
{
	auto_free char *names = agent_config_list();
	char *rest = names, *name;

	while ((name = strsep(&rest, ",")))
		add(l, name + strspn(name, " "), "an agent");
	add_files(l);
}

/* Once a kind that plays a file is named, the file follows. */
static void add_models(const struct completion_line *l)
{
	const char *path = model_path(l->rest);
	const char *name;

	if (path) {
		struct completion_line after = *l;

		after.n_kept += (size_t)(path - l->rest);
		add_files(&after);
		return;
	}
	for (size_t i = 0; (name = model_kind(i)); i++)
		add(l, name, "a model");
}

/* By how the value is called in the tables. */
static const struct {
	const char *value;
	void (*add)(const struct completion_line *l);
} values[] = {
	{ "T[:V]", add_tasks },
	{ "M", add_models },
	{ "AGENT", add_agents },
	{ "FILE", add_files },
	{ "RUN", add_files },
	{ "SRC", add_files },
	{ "-- COMMAND", add_files },
	{ "DIR", add_folders },
};

static void add_value(const struct completion_line *l, const char *value)
{
	for (size_t i = 0; value && i < ARRAY_SIZE(values); i++) {
		size_t n = strlen(values[i].value);

		/* "M" is that of "M,...", and not of "MODEL". */
		if (str_starts(value, values[i].value) && !(value[n] >= 'A' && value[n] <= 'Z')) {
			values[i].add(l);
			return;
		}
	}
}

/* The value of an option begins at `text`, in or as the last word. */
static void add_option_value(
		struct completion_line *l, const struct cmd_option *o, const char *text)
{
	const char *comma = o->kind == OPTION_LIST ? strrchr(text, ',') : NULL;

	l->rest = comma ? comma + 1 : text;
	l->n_kept = (size_t)(l->rest - l->kept);
	for (int i = 0; o->choices && o->choices[i]; i++)
		add(l, o->choices[i], "");
	if (!o->choices)
		add_value(l, o->value);
}

static void add_options(const struct completion_line *l, const struct cmd_option *table)
{
	for (const struct cmd_option *o = table; o && o->kind; o++) {
		auto_free char *name = o->help ? xasprintf("--%s", o->name) : NULL;

		if (name)
			add(l, name, o->help);
	}
}

static void add_commands(const struct completion_line *l, const struct command *group)
{
	for (size_t i = 0; group->commands[i]; i++)
		add(l, group->commands[i]->name, group->commands[i]->summary);
}

/* --- the words before it ---------------------------------------------------------------------- */

static bool is_named(const struct cmd_option *o, const char *word)
{
	size_t n = strcspn(word, "=");

	if (word[1] != '-')
		return o->letter && word[1] == o->letter && !word[2];
	for (size_t i = 2; i < n; i++)
		if ((word[i] == '_' ? '-' : word[i]) !=
				(o->name[i - 2] == '_' ? '-' : o->name[i - 2]))
			return false;
	return !o->name[n - 2];
}

static const struct cmd_option *find_option(const struct command *c, const char *word)
{
	for (const struct cmd_option *o = c->options; o && o->kind; o++)
		if (is_named(o, word))
			return o;
	return NULL;
}

static bool takes_value(const struct cmd_option *o)
{
	return o && o->kind != OPTION_FLAG && o->kind != OPTION_NOTED && o->kind != OPTION_REFUSED;
}

static bool takes_many(const struct completion_line *l)
{
	return !l->command->max_args &&
			(l->open->kind == OPTION_LIST || l->open->kind == OPTION_REPEAT);
}

/* Where tasks are looked up depends on two options. */
static void note_value(struct completion_line *l, const struct cmd_option *o, const char *value)
{
	if (str_eq(o->name, "tasks-dir"))
		l->tasks_dir = value;
	if (str_eq(o->name, "mlgym-root"))
		l->mlgym_root = value;
}

static void pass_option(struct completion_line *l, const char *word)
{
	const struct cmd_option *o = find_option(l->command, word);
	const char *equals = strchr(word, '=');

	l->open = takes_value(o) && !equals ? o : NULL;
	if (o && equals)
		note_value(l, o, equals + 1);
}

static void pass(struct completion_line *l, const char *word)
{
	if (l->only_args || (word[0] != '-' && !l->open)) {
		l->n_args++;
		l->only_args = l->only_args || l->command->args_end_options;
	} else if (str_eq(word, "--")) {
		l->only_args = true;
	} else if (word[0] == '-') {
		pass_option(l, word);
	} else {
		note_value(l, l->open, word);
		l->open = takes_many(l) ? l->open : NULL;
	}
}

static void add_last(struct completion_line *l, const char *word)
{
	const char *equals = strchr(word, '=');
	const struct cmd_option *o = NULL;

	l->kept = l->rest = word;
	if (l->open && word[0] != '-') {
		add_option_value(l, l->open, word);
		return;
	}
	if (!l->only_args && str_starts(word, "--") && equals)
		o = find_option(l->command, word);
	if (takes_value(o)) {
		add_option_value(l, o, equals + 1);
	} else if (!l->only_args && (word[0] == '-' || !l->command->max_args)) {
		add_options(l, l->command->options);
		add_options(l, options_common);
	} else if (l->n_args < l->command->max_args) {
		add_value(l, l->command->arguments);
	}
}

void cmd_complete(struct buf *out, const char *const *words, size_t n)
{
	struct completion_line l = {
		.out = out, .command = &cmd_root, .rest = n ? words[n - 1] : ""
	};
	bool of_help = false;
	size_t at = 0;

	for (; l.command->commands && at + 1 < n; at++) {
		l.command = cmd_find(l.command, words[at]);
		if (!l.command)
			return;
		if (l.command == &command_help && l.rest[0] != '-') {
			l.command = &cmd_root; /* its arguments are commands */
			of_help = true;
		}
	}
	if (l.command->commands) {
		add_commands(&l, l.command);
		add(&l, "--help", "show this text");
		return;
	}
	for (; at + 1 < n && !of_help; at++)
		pass(&l, words[at]);
	if (n && !of_help)
		add_last(&l, words[n - 1]);
}

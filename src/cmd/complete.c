/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/complete.h"

#include "cli/help.h"
#include "cli/options.h"
#include "cmd/config.h"
#include "run/mlgym_root.h"

#include "agent/config.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/backend.h"
#include "report/table.h"
#include "task/load.h"

#include <string.h>

#define PHRASE_BYTES_MAX 60

/*
 * Lists candidates for the last word of a command line, for the completions of shells. They come
 * from the tables of the commands, and from the folders of tasks and agents. An output line is
 * "CANDIDATE\tPHRASE", and the phrase explains the candidate. The lines ":files\tPREFIX" and
 * ":folders\tPREFIX" ask the shell to complete a path after PREFIX, because the shell quotes paths
 * itself.
 */

struct completion_line {
	struct buf *out;
	const struct command *command;
	/* option that still awaits its value, the next word; NULL: none */
	const struct cmd_option *open;
	const struct command *topic; /* command that the arguments of `help` name; NULL: unknown */
	bool only_args;              /* all words after "--" are arguments */
	size_t n_args;
	/* values of --tasks-dir and --mlgym-root in earlier words; NULL: not given */
	const char *tasks_dir, *mlgym_root;
	/* first n_kept bytes of the word to complete; every candidate begins with them */
	const char *kept;
	size_t n_kept;
	const char *rest; /* rest of the word to complete; candidates replace it */
};

/* Returns the length of the first clause of a help text. Cuts it to PHRASE_BYTES_MAX, at a comma if
 * there is one. */
static size_t complete_phrase(const char *text)
{
	static const char *const ends[] = { "\n", ". ", "; ", " (" };
	size_t n = strlen(text), cut = PHRASE_BYTES_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *end = strstr(text, ends[i]);

		n = end && (size_t)(end - text) < n ? (size_t)(end - text) : n;
	}
	if (n <= PHRASE_BYTES_MAX)
		return n;
	while (cut && !(strchr(",:", text[cut]) && text[cut + 1] == ' '))
		cut--;
	for (n = PHRASE_BYTES_MAX; !cut && n && text[n] != ' ';)
		n--;
	return cut ? cut : n;
}

static void complete_add(const struct completion_line *l, const char *candidate, const char *what)
{
	if (str_starts(candidate, l->rest))
		buf_printf(l->out, "%.*s%s\t%.*s\n", (int)l->n_kept, l->kept, candidate,
				(int)complete_phrase(what), what);
}

static void complete_add_files(const struct completion_line *l)
{
	buf_printf(l->out, ":files\t%.*s\n", (int)l->n_kept, l->kept);
}

static void complete_add_folders(const struct completion_line *l)
{
	buf_printf(l->out, ":folders\t%.*s\n", (int)l->n_kept, l->kept);
}

static void complete_add_variants(
		const struct completion_line *l, const struct task_places *places, const char *task)
{
	char **variants = NULL;

	if (task_variants(places, task, &variants, NULL) < 0)
		return;
	for (char **v = variants; variants[1] && *v; v++) {
		auto_free char *spec = xasprintf("%s:%s", task, *v);

		complete_add(l, spec, "a variant");
	}
	xfree_strings(variants);
}

static void complete_add_tasks(const struct completion_line *l)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct task_places places = { .tasks_dir = l->tasks_dir };
	const char *colon = strchr(l->rest, ':');
	char **ids = NULL;

	if (mlgym_root(&arena, l->mlgym_root, NULL, &places.mlgym_root, NULL) < 0)
		return;
	/* before ":VARIANT" the task may be a folder or an alias, which task_list() does not
	 * list */
	if (colon) {
		complete_add_variants(l, &places,
				arena_strndup(&arena, l->rest, (size_t)(colon - l->rest)));
		return;
	}
	if (task_list(&places, &ids, NULL) < 0)
		return;
	for (char **id = ids; *id; id++) {
		complete_add(l, *id, "a task");
		complete_add_variants(l, &places, *id);
	}
	xfree_strings(ids);
}

static void complete_add_agents(const struct completion_line *l)
{
	auto_free char *names = agent_config_list();
	char *rest = names, *name;

	while ((name = strsep(&rest, ",")))
		complete_add(l, name + strspn(name, " "), "an agent");
	complete_add_files(l);
}

/* Adds candidates for a model's spec. In "actions:FILE" and the like, completes the file. */
static void complete_add_models(const struct completion_line *l)
{
	const char *path = model_path(l->rest);
	const char *name;

	if (path) {
		struct completion_line after = *l;

		after.n_kept += (size_t)(path - l->rest);
		complete_add_files(&after);
		return;
	}
	for (size_t i = 0; (name = model_kind(i)); i++)
		complete_add(l, name, "a model");
}

static void complete_add_structs(const struct completion_line *l)
{
	auto_arena struct arena arena = ARENA_INIT;

	for (const char *const *name = config_struct_names(&arena); *name; name++)
		complete_add(l, *name, "a struct");
}

static void complete_add_tables(const struct completion_line *l)
{
	for (const char *const *id = report_table_ids; *id; id++)
		complete_add(l, *id, "a table");
	complete_add(l, "all", "all tables");
}

static void complete_add_commands(const struct completion_line *l)
{
	const struct command *const *c = l->topic ? l->topic->commands : NULL;

	for (; c && *c; c++)
		complete_add(l, (*c)->name, (*c)->summary);
}

/* Functions that add candidates for a value. `value` is the name of an option's value in help. */
static const struct {
	const char *value;
	void (*add)(const struct completion_line *l);
} values[] = {
	{ "T[:V]", complete_add_tasks },
	{ "M", complete_add_models },
	{ "AGENT", complete_add_agents },
	{ "FILE", complete_add_files },
	{ "RUN", complete_add_files },
	{ "SRC", complete_add_files },
	{ "-- COMMAND", complete_add_files },
	{ "DIR", complete_add_folders },
	{ "STRUCT", complete_add_structs },
	{ "ID", complete_add_tables },
	{ "COMMAND", complete_add_commands },
};

static void complete_add_value(const struct completion_line *l, const char *value)
{
	if (value && *value == '[') /* skip the "[" of an optional argument */
		value++;
	for (size_t i = 0; value && i < ARRAY_SIZE(values); i++) {
		size_t n = strlen(values[i].value);

		/* In help, an option's value is named "M" or "M,..." for example. The entry "M" of
		 * `values` is for both, but not for "MODEL". */
		if (str_starts(value, values[i].value) && !(value[n] >= 'A' && value[n] <= 'Z')) {
			values[i].add(l);
			return;
		}
	}
}

/* Adds candidates for the value of an option. The value begins at `text` in the last word. */
static void complete_add_option_value(
		struct completion_line *l, const struct cmd_option *o, const char *text)
{
	const char *comma = o->kind == OPTION_LIST ? strrchr(text, ',') : NULL;

	l->rest = comma ? comma + 1 : text;
	l->n_kept = (size_t)(l->rest - l->kept);
	for (int i = 0; o->choices && o->choices[i]; i++)
		complete_add(l, o->choices[i], "");
	if (!o->choices)
		complete_add_value(l, o->value);
}

static void complete_add_options(const struct completion_line *l, const struct cmd_option *table)
{
	for (const struct cmd_option *o = table; o && o->kind; o++) {
		auto_free char *name = o->help ? xasprintf("--%s", o->name) : NULL;

		if (name)
			complete_add(l, name, o->help);
	}
}

/* --- words before the last one ---------------------------------------------------------------- */

static bool complete_is_named(const struct cmd_option *o, const char *word)
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

static const struct cmd_option *complete_find_option(const struct command *c, const char *word)
{
	for (const struct cmd_option *o = c->options; o && o->kind; o++)
		if (complete_is_named(o, word))
			return o;
	return NULL;
}

static bool complete_takes_value(const struct cmd_option *o)
{
	return o && o->kind != OPTION_FLAG && o->kind != OPTION_NOTED && o->kind != OPTION_REFUSED;
}

/* If `o` is --tasks-dir or --mlgym-root, stores its value: a folder whose tasks are candidates. */
static void complete_note_value(
		struct completion_line *l, const struct cmd_option *o, const char *value)
{
	if (str_eq(o->name, "tasks-dir"))
		l->tasks_dir = value;
	if (str_eq(o->name, "mlgym-root"))
		l->mlgym_root = value;
}

static void complete_pass_option(struct completion_line *l, const char *word)
{
	const struct cmd_option *o = complete_find_option(l->command, word);
	const char *equals = strchr(word, '=');

	l->open = complete_takes_value(o) && !equals ? o : NULL;
	if (o && equals)
		complete_note_value(l, o, equals + 1);
}

static void complete_pass(struct completion_line *l, const char *word)
{
	if (l->only_args || (word[0] != '-' && !l->open)) {
		l->n_args++;
		l->topic = l->topic && l->topic->commands ? cmd_find(l->topic, word) : NULL;
		l->only_args = l->only_args || l->command->args_end_options;
	} else if (str_eq(word, "--")) {
		l->only_args = true;
	} else if (word[0] == '-') {
		complete_pass_option(l, word);
	} else {
		complete_note_value(l, l->open, word);
		/*
		 * An option with a list, or one that may be repeated, takes more words if the
		 * command has no arguments.
		 */
		if (l->command->max_args ||
				(l->open->kind != OPTION_LIST && l->open->kind != OPTION_REPEAT))
			l->open = NULL;
	}
}

static void complete_add_last(struct completion_line *l, const char *word)
{
	const char *equals = strchr(word, '=');
	const struct cmd_option *o = NULL;

	l->kept = l->rest = word;
	if (l->open && word[0] != '-') {
		complete_add_option_value(l, l->open, word);
		return;
	}
	if (!l->only_args && str_starts(word, "--") && equals)
		o = complete_find_option(l->command, word);
	if (complete_takes_value(o)) {
		complete_add_option_value(l, o, equals + 1);
	} else if (!l->only_args && (word[0] == '-' || !l->command->max_args)) {
		complete_add_options(l, l->command->options);
		complete_add_options(l, options_common(l->command));
	} else if (l->n_args < l->command->max_args) {
		complete_add_value(l, l->command->arguments);
	}
}

void cmd_complete(struct buf *out, const char *const *words, size_t n)
{
	struct completion_line l = {
		.out = out, .command = &cmd_root, .rest = n ? words[n - 1] : "", .topic = &cmd_root
	};
	size_t at = 0;

	for (; l.command->commands && at + 1 < n; at++) {
		l.command = cmd_find(l.command, words[at]);
		if (!l.command)
			return;
	}
	if (l.command->commands) {
		l.topic = l.command;
		complete_add_commands(&l);
		complete_add_options(&l, l.command->options);
		complete_add(&l, "--help", "show this text");
		return;
	}
	for (; at + 1 < n; at++)
		complete_pass(&l, words[at]);
	if (n)
		complete_add_last(&l, words[n - 1]);
}

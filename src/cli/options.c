/* SPDX-License-Identifier: Apache-2.0 */
/* Written by hand, because one table must fill a struct and make help, man pages and completion.
 * getopt_long() only parses, and argp also makes help: neither does the rest. */
#include "cli/options.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/value.h"

#include <errno.h>
#include <string.h>

#define OPTIONS_MAX 128      /* most options of a command; more is a bug of Fumehood */
#define LIST_ITEMS_MAX 10000 /* most items of one list on a command line */

struct common {
	bool help, json;
};

#define HELP_OPTION                                                                                \
	{                                                                                          \
		"help", 'h', OPTION_FLAG, offsetof(struct common, help), .help = "show this text"  \
	}

static const struct cmd_option options_usual[] = {
	HELP_OPTION,
	{ "json", 0, OPTION_FLAG, offsetof(struct common, json),
			.help = "print results as JSON, an object a line (docs/json.md)" },
	{},
};

static const struct cmd_option options_without_json[] = { HELP_OPTION, {} };

const struct cmd_option *options_common(const struct command *c)
{
	for (const struct cmd_option *o = c->options; o && o->kind; o++)
		if (str_eq(o->name, "json"))
			return options_without_json;
	return options_usual;
}

struct parser {
	const struct command *command;
	const char *const *words;
	size_t n, at;
	struct arena *arena;
	struct buf *notes;
	/* rest of a word of short options, "-j2" after -q of "-qj2"; NULL: none */
	const char *bundle;
	bool only_args; /* all further words are arguments, no options */
	bool *given;
	void *values;
	struct common common;
};

bool option_same(const struct cmd_option *a, const struct cmd_option *b)
{
	if (a == b)
		return true;
	if (a->kind == OPTION_NOTED || a->kind == OPTION_REFUSED)
		return false;
	return a->kind == b->kind && a->offset == b->offset;
}

/* Compares a name as the user typed it with an option's name. 2: equal; 1: `typed` is the beginning
 * of `name`; 0: different. "_" equals "-". */
static int options_name_match(const char *typed, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		char c = typed[i] == '_' ? '-' : typed[i];

		if (!name[i] || c != (name[i] == '_' ? '-' : name[i]))
			return 0;
	}
	return name[n] ? 1 : 2;
}

static int options_say_unknown(
		const struct parser *p, const char *word, size_t n, struct fh_error *err)
{
	const char *names[2 * OPTIONS_MAX];
	auto_free char *typed = xstrndup(word + 2, n);
	const char *close;
	size_t count = 0;

	for (const struct cmd_option *o = p->command->options; o && o->kind; o++)
		names[count++] = o->name;
	for (const struct cmd_option *o = options_common(p->command); o->kind; o++)
		names[count++] = o->name;
	close = str_closest(typed, names, count);
	return error_say(err, EINVAL, "unknown option --%s%s%s%s", typed,
			close ? "; did you mean --" : "", close ? close : "", close ? "?" : "");
}

static int options_say_ambiguous(const struct cmd_option *a, const struct cmd_option *b,
		const char *word, size_t n, struct fh_error *err)
{
	return error_say(err, EINVAL, "option --%.*s is ambiguous: --%s or --%s?", (int)n, word + 2,
			a->name, b->name);
}

/* Finds the option "--name" in one table. An exact name wins over a beginning of a longer name. */
static int options_find_in(const struct cmd_option *table, const char *word, size_t n,
		const struct cmd_option **found, bool *exact, struct fh_error *err)
{
	for (const struct cmd_option *o = table; o && o->kind; o++) {
		int match = options_name_match(word + 2, n, o->name);

		if (match == 2) {
			*found = o;
			*exact = true;
			return 0;
		}
		if (match == 1 && !*found)
			*found = o;
	}
	if (!*found || *exact)
		return 0;
	for (const struct cmd_option *o = table; o && o->kind; o++) {
		if (options_name_match(word + 2, n, o->name) == 1 && !option_same(*found, o))
			return options_say_ambiguous(*found, o, word, n, err);
	}
	return 0;
}

static int options_spot_long(
		struct parser *p, const char *word, struct spotted *out, struct fh_error *err)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
	const struct cmd_option *own = NULL, *common = NULL;
	bool exact = false, common_exact = false;
	int r;

	if (!n)
		return error_say(err, EINVAL, "'%s' lacks the name of an option", word);
	r = options_find_in(p->command->options, word, n, &own, &exact, err);
	if (r < 0)
		return r;
	r = options_find_in(options_common(p->command), word, n, &common, &common_exact, err);
	if (r < 0)
		return r;
	if (own && common && !exact && !common_exact)
		return options_say_ambiguous(own, common, word, n, err);
	if (!own && !common)
		return options_say_unknown(p, word, n, err);
	if (!own || common_exact)
		*out = (struct spotted){ .option = common, .base = &p->common };
	else
		*out = (struct spotted){ .option = own, .base = p->values };
	out->word = arena_strndup(p->arena, word, n + 2);
	out->value = equals ? equals + 1 : NULL;
	return 0;
}

static int options_spot_short(
		struct parser *p, const char *word, struct spotted *out, struct fh_error *err)
{
	const struct cmd_option *tables[] = { p->command->options, options_common(p->command) };
	void *bases[] = { p->values, &p->common };

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct cmd_option *o = tables[t]; o && o->kind; o++) {
			if (!o->letter || o->letter != word[1])
				continue;
			*out = (struct spotted){ .option = o, .base = bases[t] };
			out->word = arena_strndup(p->arena, word, 2);
			if (o->kind == OPTION_FLAG && word[2] && word[2] != '=')
				p->bundle = arena_printf(p->arena, "-%s", word + 2);
			else if (word[2])
				out->value = word + 2 + (word[2] == '=');
			return 0;
		}
	}
	return error_say(err, EINVAL, "unknown option -%c", word[1]);
}

/* True if a word looks like an option. "-" is a file, and "-5" is a number. */
static bool options_is_option(const char *word)
{
	return word[0] == '-' && word[1] && (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

/* True if the next word is not an option, so that it can be the value of the last one. */
static bool options_value_follows(const struct parser *p)
{
	return p->at < p->n && !options_is_option(p->words[p->at]);
}

static bool options_flag_value(const char *text, bool *out)
{
	static const char *const yes[] = { "true", "True", "yes", "on", "1" };
	static const char *const no[] = { "false", "False", "no", "off", "0" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (str_eq(text, yes[i]) || str_eq(text, no[i])) {
			*out = str_eq(text, yes[i]);
			return true;
		}
	}
	return false;
}

static int options_set_flag(struct parser *p, const struct spotted *s, struct fh_error *err)
{
	bool *field = (bool *)((char *)s->base + s->option->offset);
	bool value = true;

	if (s->value && !options_flag_value(s->value, &value))
		return value_refuse(s, s->value, "no value, or true or false", err);
	/* In `--verbose True`, True is the flag's value only if the command takes no arguments. */
	if (!s->value && !p->bundle && !p->command->max_args && p->at < p->n &&
			(str_eq(p->words[p->at], "True") || str_eq(p->words[p->at], "False")))
		options_flag_value(p->words[p->at++], &value);
	*field = value;
	return 0;
}

static int options_list_add(
		struct parser *p, struct texts *list, const char *item, struct fh_error *err)
{
	if (list->n >= LIST_ITEMS_MAX)
		return error_say(err, EINVAL, "more than %d values in a list", LIST_ITEMS_MAX);
	list->items = arena_grow(p->arena, list->items, list->n, sizeof(*list->items));
	list->items[list->n++] = item;
	return 0;
}

static int options_list_split(
		struct parser *p, const struct spotted *s, const char *text, struct fh_error *err)
{
	struct texts *list = (struct texts *)((char *)s->base + s->option->offset);
	bool whole = s->option->kind == OPTION_REPEAT;

	for (;;) {
		size_t n = strcspn(text, whole ? "" : ",");
		const char *item = arena_strndup(p->arena, text, n);
		int choice, r;

		if (!n && !whole)
			return error_say(err, EINVAL, "%s has an empty value in its list", s->word);
		if (s->option->choices && value_find_choice(s, item, &choice, err) < 0)
			return -EINVAL;
		r = options_list_add(p, list, item, err);
		if (r < 0 || !text[n])
			return r;
		text += n + 1;
	}
}

static int options_set_list(
		struct parser *p, const struct spotted *s, const char *text, struct fh_error *err)
{
	const struct texts *list = (struct texts *)((char *)s->base + s->option->offset);
	int r = options_list_split(p, s, text, err);

	if (r < 0 || s->value)
		return r;
	while ((!p->command->max_args || (int64_t)list->n < s->option->min) &&
			options_value_follows(p)) {
		r = options_list_split(p, s, p->words[p->at++], err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int options_set_value(
		struct parser *p, const struct spotted *s, const char *text, struct fh_error *err)
{
	if (s->option->kind == OPTION_FLAG)
		return options_set_flag(p, s, err);
	if (s->option->kind == OPTION_LIST || s->option->kind == OPTION_REPEAT)
		return options_set_list(p, s, text, err);
	return value_set(s, text, err);
}

/* Marks an option as given, with all of its spellings. */
static void options_mark_given(struct parser *p, const struct cmd_option *option)
{
	for (size_t i = 0; p->command->options && p->command->options[i].kind; i++) {
		const struct cmd_option *o = &p->command->options[i];

		if (!option_same(o, option))
			continue;
		p->given[i] = true;
		if (o->given)
			*((bool *)p->values + o->given) = true;
	}
}

static int options_take_option(struct parser *p, struct fh_error *err)
{
	const char *word = p->bundle ? p->bundle : p->words[p->at++];
	struct spotted s = { 0 };
	int r;

	p->bundle = NULL;
	r = word[1] == '-' ? options_spot_long(p, word, &s, err)
			   : options_spot_short(p, word, &s, err);
	if (r < 0 || !s.option)
		return r;
	if (s.base == p->values)
		options_mark_given(p, s.option);
	if (s.option->kind == OPTION_REFUSED)
		return error_say(err, EINVAL, "%s %s", s.word, s.option->why);
	if (s.option->kind == OPTION_NOTED) {
		while (!s.value && !p->command->max_args && options_value_follows(p))
			p->at++;
		buf_printf(p->notes, "fumehood: %s has no effect: %s\n", s.word, s.option->why);
		return 0;
	}
	if (s.option->kind == OPTION_FLAG)
		return options_set_flag(p, &s, err);
	if (!s.value && !options_value_follows(p))
		return error_say(err, EINVAL, "%s wants a value (%s)", s.word,
				s.option->value ? s.option->value : "VALUE");
	return options_set_value(p, &s, s.value ? s.value : p->words[p->at++], err);
}

/* Sets options that the user did not give to their defaults. */
static int options_set_presets(struct parser *p, struct fh_error *err)
{
	const struct cmd_option *options = p->command->options;

	for (size_t i = 0; options && options[i].kind; i++) {
		const struct cmd_option *o = &options[i];
		struct spotted s = { .option = o, .base = p->values, .value = o->preset };
		int r;

		if (!o->preset || p->given[i])
			continue;
		s.word = arena_printf(p->arena, "--%s", o->name);
		r = options_set_value(p, &s, o->preset, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* True if the user gave an option. `--quiet=false` is as if --quiet were not given. */
static bool options_is_set(const struct parser *p, size_t i)
{
	const struct cmd_option *o = &p->command->options[i];

	return p->given[i] && (o->kind != OPTION_FLAG || *(bool *)((char *)p->values + o->offset));
}

static bool options_is_given(const struct parser *p, const char *name)
{
	const struct cmd_option *o = p->command->options;

	for (size_t i = 0; name && o[i].kind; i++)
		if (str_eq(o[i].name, name))
			return options_is_set(p, i);
	return false;
}

/* Refuses options that have no effect without another one, or beside it. */
static int options_check_pairs(const struct parser *p, struct fh_error *err)
{
	for (size_t i = 0; p->command->options && p->command->options[i].kind; i++) {
		const struct cmd_option *o = &p->command->options[i];

		if (options_is_set(p, i) && o->needs && !options_is_given(p, o->needs))
			return error_say(err, EINVAL, "--%s needs --%s", o->name, o->needs);
		if (options_is_set(p, i) && options_is_given(p, o->not_with))
			return error_say(err, EINVAL, "--%s and --%s can't be used together",
					o->name, o->not_with);
	}
	return 0;
}

/* Says that an argument is missing. A list of several words may have taken the last one. */
static int options_say_missing(const struct parser *p, struct fh_error *err)
{
	const struct command *c = p->command;
	const char *what = c->arguments ? c->arguments : "an argument";

	for (size_t i = 0; c->options && c->options[i].kind; i++) {
		const struct cmd_option *o = &c->options[i];
		const struct texts *list = (const struct texts *)((char *)p->values + o->offset);

		if (o->kind == OPTION_LIST && o->min && list->n)
			return error_say(err, EINVAL,
					"the argument %s is missing: '%s' belongs to --%s %s", what,
					list->items[list->n - 1], o->name, o->value);
	}
	return error_say(err, EINVAL, "the argument %s is missing", what);
}

static int options_check_arguments(
		const struct parser *p, const struct texts *args, struct fh_error *err)
{
	const struct command *c = p->command;
	const char *more = args->n > c->max_args ? args->items[c->max_args] : NULL;
	const struct cmd_option *o = c->options;

	if (args->n < c->min_args)
		return options_say_missing(p, err);
	if (!more)
		return 0;
	/* Users often leave out the word --task before a task: suggest it in the message. */
	while (o && o->kind && !str_eq(o->name, "task"))
		o++;
	if (o && o->kind)
		return error_say(err, EINVAL, "unexpected argument '%s'; did you mean --task %s?",
				more, more);
	return error_say(err, EINVAL, "unexpected argument '%s'", more);
}

/* Takes the next word of the command line: an option, "--" or an argument. */
static int options_take_word(struct parser *p, struct texts *args, struct fh_error *err)
{
	const char *word = p->words[p->at];

	if (p->bundle)
		return options_take_option(p, err);
	if (p->only_args || !options_is_option(word)) {
		p->only_args = p->only_args || p->command->args_end_options;
		p->at++;
		return options_list_add(p, args, word, err);
	}
	if (!str_eq(word, "--"))
		return options_take_option(p, err);
	p->only_args = true;
	p->at++;
	return 0;
}

int options_parse(const struct command *command, const char *const *words, size_t n_words,
		struct arena *arena, struct buf *notes, struct parsed_options *out,
		struct fh_error *err)
{
	struct parser p = { .command = command, .words = words, .n = n_words, .arena = arena };
	struct texts args = {};
	int r;

	p.notes = notes;
	p.values = arena_alloc(arena, command->options_size + 1);
	p.given = arena_array(arena, OPTIONS_MAX, sizeof(bool));
	while (p.bundle || p.at < p.n) {
		r = options_take_word(&p, &args, err);
		if (r < 0)
			return r;
	}
	r = options_set_presets(&p, err);
	if (r < 0)
		return r;
	if (!p.common.help) {
		r = options_check_pairs(&p, err);
		if (r < 0)
			return r;
		r = options_check_arguments(&p, &args, err);
		if (r < 0)
			return r;
	}
	*out = (struct parsed_options){ .values = p.values,
		.given = p.given,
		.args = args.items,
		.n_args = args.n,
		.help = p.common.help,
		.json = p.common.json };
	return 0;
}

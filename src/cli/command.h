/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The command line. A command is one file with one const entry: its name, its table of options
 * and its function. To add a command, write src/cmd/<name>.c, name it in meson.build, and add the
 * entry to `commands` in main.c. The tables parse words, and print --help and docs/cli.md.
 *
 *   struct show_options {
 *           const char *variant;
 *           int lines;
 *   };
 *   #define FIELD(f) offsetof(struct show_options, f)
 *   static const struct cmd_option options[] = {
 *           { "variant", 0, OPTION_TEXT, FIELD(variant), "V", "variant of the task" },
 *           { "lines", 'n', OPTION_INT, FIELD(lines), "N", "lines to print", .preset = "10" },
 *           {},
 *   };
 *   const struct command command_task_show = {
 *           .name = "show", .arguments = "TASK", .min_args = 1, .max_args = 1,
 *           .summary = "show what a task asks for",
 *           .options = options, .options_size = sizeof(struct show_options), .run = run_show };
 *
 * Every command has --help and --json, unless its table refuses --json. `--max-steps 5`,
 * `--max-steps=5`, `--max_steps 5` and any unique beginning (`--max`) mean the same.
 */

enum cmd_option_kind {
	OPTION_END, /* the row that ends a table */
	/* an option without a value; the field is a bool. `--flag=false` works, too, and
	 * `--flag False` if the command takes no arguments. */
	OPTION_FLAG,
	OPTION_TEXT,   /* any text; the field is a const char * */
	OPTION_PATH,   /* a text, not empty: "" is often an unset variable */
	OPTION_INT,    /* a whole number from `min` to `max`; the field is an int */
	OPTION_UINT64, /* a whole number from 0 to `max`; the field is a uint64_t */
	OPTION_NUMBER, /* a finite number from `min` to `max`; the field is a double */
	/* a duration, "25", "2.5s", "300ms" or "5m"; the field is a double in seconds */
	OPTION_SECONDS,
	/* a size, "512M" or "2GiB", 0 or at least `min` bytes; the field is an int64_t in bytes */
	OPTION_BYTES,
	OPTION_CHOICE, /* a word of `choices`; the field is an int, the word's index */
	/* Several words: `--option a,b`, or the option repeated. If the command takes no arguments,
	 * or the list has fewer than `min` words, also `--option a b`. The field is a struct
	 * texts. */
	OPTION_LIST,
	OPTION_REPEAT,  /* like OPTION_LIST, but a comma is part of a word */
	OPTION_NOTED,   /* accepted without effect: prints `why` on stderr */
	OPTION_REFUSED, /* refused with the error "--name <why>" */
};

struct cmd_option {
	const char *name; /* name without the leading "--", with dashes: "max-steps" */
	char letter;      /* letter of the short option; 0: none */
	enum cmd_option_kind kind;
	size_t offset;     /* offset of the field in the command's struct of options */
	const char *value; /* name of the value in help, "N"; not for flags */
	/* explanation in help; NULL: help leaves the option out, for example another spelling of an
	 * option that it shows */
	const char *help;
	const char *preset; /* default value, as typed; shown in help */
	/* words of an OPTION_CHOICE or OPTION_LIST, NULL-terminated; NULL: a list of any words */
	const char *const *choices;
	/* range of a number; both 0: any that the field can hold; a list has only `min` */
	int64_t min, max;
	/* least value of an OPTION_NUMBER besides 0, which means no limit; 0: `min` applies */
	double least;
	const char *heading; /* title of a group of options in help, which begins here */
	/* reason, for OPTION_NOTED and OPTION_REFUSED; for OPTION_CHOICE, help for users who expect
	 * another word among the choices */
	const char *why;
	/* names of an option that has to be given too, and of one that must not be; NULL: none */
	const char *needs, *not_with;
	size_t given; /* offset of a bool to set if the user gives the option; 0: none */
};

struct command_context {
	const struct command *command;
	const char *path; /* words that name the command: "task list" */
	void *options;    /* the command's struct of options, filled in */
	const char *const *args;
	size_t n_args;
	struct arena *arena; /* arena that is released when the command ends */
	bool json;           /* the user gave --json */
	const bool *given;   /* true for given options, by index into the table of options */
};

/* An exit status in the help of a command. */
struct cmd_status {
	const char *status, *meaning;
};

struct command {
	const char *name;
	const char *summary;   /* explanation in a few words: lower case, no full stop */
	const char *arguments; /* arguments, as the usage line shows them; NULL: none */
	size_t min_args, max_args;
	/* after the first argument of the command, words are not options: `exec ls -l` */
	bool args_end_options;
	int misuse_status; /* exit status after wrong options; 0: CMD_USAGE */
	const char *about; /* paragraphs of help below the usage line; NULL: none */
	/* examples in help, lines of "command   # what it does"; NULL: none */
	const char *examples;
	/* exit statuses in help, ended by {}; NULL: those of cmd_root apply, and help shows none */
	const struct cmd_status *statuses;
	/* table of options, ended by {}; NULL: only --help and --json */
	const struct cmd_option *options;
	size_t options_size;
	const struct command *const *commands;   /* for a group: its commands, NULL-terminated */
	int (*run)(struct command_context *ctx); /* runs the command and returns the exit status */
};

/* The group of all commands, in the order of the help text. Defined in main.c. */
extern const struct command cmd_root;

/* Version of this build of Fumehood. Defined in main.c. */
const char *cmd_version(void);

#endif

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
 * Every command has --help and --json. `--max-steps 5`, `--max-steps=5`, `--max_steps 5` and any
 * unique beginning (`--max`) mean the same.
 */

enum cmd_option_kind {
	OPTION_END,     /* closes a table */
	OPTION_FLAG,    /* bool: no value, but `--flag=false` and `--flag False` */
	OPTION_TEXT,    /* const char * */
	OPTION_INT,     /* int, from min to max */
	OPTION_UINT64,  /* uint64_t */
	OPTION_NUMBER,  /* double, finite */
	OPTION_SECONDS, /* double: "25", "2.5s", "300ms", "5m" */
	OPTION_BYTES,   /* int64_t: "512M", "2GiB" */
	OPTION_CHOICE,  /* int: index into choices */
	OPTION_LIST,    /* struct texts: `a,b`, repeated, or `a b` where no arguments are taken */
	OPTION_REPEAT,  /* struct texts: the same, but commas stay in a value */
	OPTION_NOTED,   /* accepted without effect; stderr says `why` */
	OPTION_REFUSED, /* an error: "--name <why>" */
};

struct cmd_option {
	const char *name; /* with dashes, "max-steps" */
	char letter;      /* 0: none */
	enum cmd_option_kind kind;
	size_t offset;              /* the field in the command's struct of options */
	const char *value;          /* name of the value in help: "N"; not for flags */
	const char *help;           /* NULL: hidden, another spelling */
	const char *preset;         /* default value as text, shown in help */
	const char *const *choices; /* OPTION_CHOICE: NULL-terminated */
	int64_t min, max;           /* OPTION_INT: both 0 is any */
	const char *heading;        /* starts a new group of options in help */
	const char *why;            /* OPTION_NOTED, OPTION_REFUSED */
	size_t given; /* offset of a bool that is set if the option is given; 0: none */
};

struct command_context {
	const struct command *command;
	const char *path; /* "task list" */
	void *options;    /* the command's struct of options, filled */
	const char *const *args;
	size_t n_args;
	struct arena *arena; /* lives as long as the command runs */
	bool json;           /* --json was given */
	const bool *given;   /* by index into the table of options */
};

/* A row of the table of exit statuses in help. */
struct cmd_status {
	const char *status, *meaning;
};

struct command {
	const char *name;
	const char *summary;   /* a few words, lower case, no full stop */
	const char *arguments; /* arguments in the usage line; NULL: none */
	size_t min_args, max_args;
	bool args_end_options;             /* the first argument ends the options: `exec ls -l` */
	int misuse_status;                 /* status after wrong options; 0: CMD_USAGE */
	const char *about;                 /* paragraphs beneath the usage line, may be NULL */
	const char *examples;              /* lines of "command   # what it does", may be NULL */
	const struct cmd_status *statuses; /* ends with {}; NULL: those of cmd_root */
	const struct cmd_option *options;  /* ends with {}; NULL: only --help and --json */
	size_t options_size;
	const struct command *const *commands;   /* a group: its commands, NULL-terminated */
	int (*run)(struct command_context *ctx); /* returns the exit status */
};

/* All commands, in the order of the help text (main.c). */
extern const struct command cmd_root;

/* Version of this build (main.c). */
const char *cmd_version(void);

#endif

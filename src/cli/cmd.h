/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"

/* Runs commands, and prints their errors and results. */

/* Exit statuses. CMD_USAGE: the input is wrong. CMD_FAILED: a failure at run time. */
enum { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2 };

/* Runs the command that argv names. Returns the program's exit status. */
int cmd_main(int argc, const char *const *argv);

/* Prints the help of the command with this path of words ("task", "list"), or its tables as JSON.
 * Returns the exit status. */
int cmd_help_of(const char *const *words, size_t n, bool json);

/* True if the user gave the option. `option` is its main name. */
bool cmd_given(const struct command_context *ctx, const char *option);

/* Print "fumehood: <message>" on stderr, and return an exit status. */
int cmd_fail(const struct fh_error *err);   /* returns CMD_FAILED */
int cmd_refuse(const struct fh_error *err); /* returns cmd_status_of(err) */
/* Like cmd_refuse(). With --json it also prints {KEY: NAME, "error": MESSAGE}, with the given key
 * and name. */
int cmd_refuse_subject(const struct command_context *ctx, const char *key, const char *name,
		const struct fh_error *err);
/* Returns CMD_USAGE, for wrong words on the command line. The message points to --help. */
int cmd_misuse(const struct command_context *ctx, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/*
 * Exit status for an error of reading input or opening a task. CMD_USAGE if its code means wrong
 * input, as -ENOENT does. CMD_FAILED otherwise, and when the machine refuses a sandbox.
 */
int cmd_status_of(const struct fh_error *err);

void cmd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Print one JSON object as a line on stdout, for --json (docs/json.md). cmd_print_json_error()
 * prints {KEY: NAME, "error": MESSAGE} for a subject, such as a task, that failed.
 */
void cmd_print_json(json_t *value);
void cmd_print_json_error(const char *key, const char *name, const struct fh_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include "base/error.h"
#include "cli/command.h"

/* An option on the command line, with the value that is in the same word. */
struct spotted {
	const struct cmd_option *option;
	void *base;        /* the struct that has the option's field */
	const char *value; /* "value" of "--name=value"; NULL: none */
	const char *word;  /* the option as typed, without the value, for messages */
};

/* Refuses a value: -EINVAL and "--port wants a number, not 'x'". `wanted` is "a number". */
int value_refuse(const struct spotted *s, const char *text, const char *wanted,
		struct fh_error *err);

/* Finds the index of a word in the option's `choices`. */
int value_find_choice(const struct spotted *s, const char *text, int *out, struct fh_error *err);

/* Reads the value of an option that has a single one, into the option's field. The field keeps a
 * pointer to `text` if it is a text. -EINVAL: a value of another form, or out of range. */
int value_set(const struct spotted *s, const char *text, struct fh_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_ARGUMENT_H
#define AGENT_ARGUMENT_H

#include "agent/command.h"
#include "base/arena.h"
#include "python/pyjson.h"

/* Types of the arguments that a model gives to a tool. */
struct argument_type {
	/* name of the type in JSON Schema, in Python, and in error messages */
	const char *name, *other_name, *said;
	/* Returns the value v as text for a command; NULL if v is not of this type. */
	const char *(*take)(struct arena *a, const struct pyjson *v);
};

/* Returns the type of an argument. Documentation may name types as JSON Schema or as Python does.
 * An unknown type takes a text, a number or a boolean. */
const struct argument_type *argument_type_of(const struct command_argument *argument);

#endif

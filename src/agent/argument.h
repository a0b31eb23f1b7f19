/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_ARGUMENT_H
#define AGENT_ARGUMENT_H

#include "agent/command.h"
#include "base/arena.h"
#include "python/pyjson.h"

/* Types of the arguments that a model gives to a tool. */
struct argument_type {
	/* JSON Schema's name, Python's name, and the name in errors */
	const char *name, *other_name, *said;
	/* Makes the value's text for a command; NULL if the value has another type. */
	const char *(*take)(struct arena *a, const struct pyjson *v);
};

/* Type of an argument, which may be documented by Python's name. An unknown type is a text. */
const struct argument_type *argument_type_of(const struct command_argument *argument);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/argument.h"

#include "base/scope.h"
#include "base/str.h"

#include <math.h>

#define WHOLE_MOST 9007199254740992.0 /* 2^53: larger doubles can't hold each whole number */

/* Returns an integer's decimal digits: v may be 3, 3.0, 3e0 or "3". NULL for other values. */
static const char *argument_take_integer(struct arena *a, const struct pyjson *v)
{
	const char *digits = v->kind == PYJSON_STRING ? pyjson_string(v) : NULL;
	double number;
	int64_t whole;

	if (digits ? !str_to_i64(digits, &whole) : !pyjson_i64(v, &whole)) {
		if (!pyjson_double(v, &number) || number != trunc(number) ||
				fabs(number) > WHOLE_MOST)
			return NULL;
		whole = (int64_t)number;
	}
	return arena_printf(a, "%lld", (long long)whole);
}

static const char *argument_take_number(struct arena *a, const struct pyjson *v)
{
	double number;

	return pyjson_double(v, &number) ? v->text : NULL;
}

static const char *argument_take_boolean(struct arena *a, const struct pyjson *v)
{
	return v->kind == PYJSON_BOOL ? (v->boolean ? "true" : "false") : NULL;
}

static const char *argument_take_string(struct arena *a, const struct pyjson *v)
{
	return v->kind == PYJSON_STRING ? pyjson_string(v) : NULL;
}

/* Returns a value of any simple type as text, for types that JSON Schema lacks, such as
 * `filename`. */
static const char *argument_take_any(struct arena *a, const struct pyjson *v)
{
	const char *text = argument_take_string(a, v);

	if (!text)
		text = argument_take_boolean(a, v);
	return text ? text : argument_take_number(a, v);
}

static const struct argument_type argument_types[] = {
	{ "integer", "int", "a whole number", argument_take_integer },
	{ "number", "float", "a number", argument_take_number },
	{ "boolean", "bool", "true or false", argument_take_boolean },
	{ "string", "str", "a text", argument_take_string },
};
static const struct argument_type argument_any_type = { "string", NULL, "a text or a number",
	argument_take_any };

const struct argument_type *argument_type_of(const struct command_argument *argument)
{
	for (size_t i = 0; i < ARRAY_SIZE(argument_types); i++)
		if (str_eq(argument_types[i].name, argument->type) ||
				str_eq(argument_types[i].other_name, argument->type))
			return &argument_types[i];
	return &argument_any_type;
}

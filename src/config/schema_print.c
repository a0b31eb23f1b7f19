/* SPDX-License-Identifier: Apache-2.0 */
#include "config/schema.h"

#include "base/str.h"

#include <inttypes.h>

static void schema_print_struct(
		struct buf *out, const struct schema *schema, const char *value, int indent);

/* Appends bytes or milliseconds in the largest unit that gives a whole number. */
static void schema_add_quantity(struct buf *out, int64_t v, bool bytes)
{
	static const struct {
		int64_t factor;
		const char *name;
	} sizes[] = { { 1LL << 40, "T" }, { 1 << 30, "G" }, { 1 << 20, "M" }, { 1 << 10, "k" },
		{ 1, "" } },
	  times[] = { { 3600000, "h" }, { 60000, "m" }, { 1000, "s" }, { 1, "ms" } };

	for (int i = 0;; i++) {
		int64_t factor = bytes ? sizes[i].factor : times[i].factor;

		if (factor > 1 && (!v || v % factor))
			continue;
		buf_printf(out, "%" PRId64 "%s", v / factor, bytes ? sizes[i].name : times[i].name);
		return;
	}
}

void field_add_number(struct buf *out, const struct field *field, double v)
{
	if (field->kind == FIELD_BYTES || field->kind == FIELD_DURATION)
		schema_add_quantity(out, (int64_t)v, field->kind == FIELD_BYTES);
	else
		buf_printf(out, "%.15g", v);
}

static void schema_print_texts(struct buf *out, const struct texts *texts, int indent)
{
	if (!texts->n)
		buf_add_str(out, " []");
	for (size_t i = 0; i < texts->n; i++) {
		buf_add_char(out, '\n');
		buf_printf(out, "%*s- ", indent, "");
		node_print_text(out, texts->items[i], indent + 2);
	}
	buf_add_char(out, '\n');
}

static void schema_print_text_map(struct buf *out, const struct text_map *map, int indent)
{
	if (!map->n)
		buf_add_str(out, " {}");
	for (size_t i = 0; i < map->n; i++) {
		buf_add_char(out, '\n');
		buf_printf(out, "%*s", indent, "");
		node_print_key(out, map->pairs[i].key);
		buf_add_str(out, ": ");
		node_print_text(out, map->pairs[i].value, indent + 2);
	}
	buf_add_char(out, '\n');
}

static void schema_print_structs(struct buf *out, const struct schema *schema,
		const struct struct_list *list, int indent)
{
	if (!list->n)
		buf_add_str(out, " []");
	buf_add_char(out, '\n');
	for (size_t i = 0; i < list->n; i++) {
		buf_printf(out, "%*s-\n", indent, "");
		schema_print_struct(out, schema, (const char *)list->items + i * schema->size,
				indent + 2);
	}
}

/* Appends a blank, a value and a newline. */
static void schema_print_scalar(struct buf *out, const struct field *f, const void *at, int indent)
{
	buf_add_char(out, ' ');
	if (f->kind == FIELD_TEXT && *(const char *const *)at)
		node_print_text(out, *(const char *const *)at, indent);
	else if (f->kind == FIELD_TEXT)
		buf_add_str(out, "null");
	else if (f->kind == FIELD_BOOL)
		buf_add_str(out, *(const bool *)at ? "true" : "false");
	else if (f->kind == FIELD_INT && *(const int64_t *)at == 0 && f->min > 0)
		/* 0 is below `min`, so the value was not set: its key was missing in the file */
		buf_add_str(out, "null");
	else if (f->kind == FIELD_INT)
		buf_printf(out, "%" PRId64, *(const int64_t *)at);
	else if (f->kind == FIELD_NUMBER)
		str_add_double(out, *(const double *)at);
	else if (f->kind == FIELD_CHOICE)
		buf_add_str(out, f->choices[*(const int *)at]);
	else
		schema_add_quantity(out, *(const int64_t *)at, f->kind == FIELD_BYTES);
	buf_add_char(out, '\n');
}

/* False if a required text of the struct is NULL: the YAML file did not have this struct. */
static bool schema_is_given(const struct schema *schema, const char *value)
{
	for (const struct field *f = schema->fields; f->name; f++)
		if (f->required && f->kind == FIELD_TEXT &&
				!*(const char *const *)(value + f->offset))
			return false;
	return true;
}

static void schema_print_field(struct buf *out, const struct field *f, const char *at, int indent)
{
	switch (f->kind) {
	case FIELD_TEXTS:
		schema_print_texts(out, (const struct texts *)at, indent);
		break;
	case FIELD_TEXT_MAP:
		schema_print_text_map(out, (const struct text_map *)at, indent);
		break;
	case FIELD_STRUCT:
		buf_add_str(out, schema_is_given(f->schema, at) ? "\n" : " null\n");
		if (schema_is_given(f->schema, at))
			schema_print_struct(out, f->schema, at, indent);
		break;
	case FIELD_STRUCTS:
		schema_print_structs(out, f->schema, (const struct struct_list *)at, indent);
		break;
	case FIELD_NODE:
		if (*(const struct node *const *)at)
			node_print_value(out, *(const struct node *const *)at, indent);
		else
			buf_add_str(out, " null\n");
		break;
	case FIELD_TEXT:
	case FIELD_BOOL:
	case FIELD_INT:
	case FIELD_NUMBER:
	case FIELD_BYTES:
	case FIELD_DURATION:
	case FIELD_CHOICE:
		schema_print_scalar(out, f, at, indent);
		break;
	}
}

static void schema_print_struct(
		struct buf *out, const struct schema *schema, const char *value, int indent)
{
	for (const struct field *f = schema->fields; f->name; f++) {
		buf_printf(out, "%*s%s:", indent, "", f->name);
		schema_print_field(out, f, value + f->offset, indent + 2);
	}
}

void schema_print(struct buf *out, const struct schema *schema, const void *value)
{
	schema_print_struct(out, schema, value, 0);
}

/* --- documentation of a struct ---------------------------------------------------------------- */

void field_describe(struct buf *out, const struct field *field)
{
	static const char *const names[] = {
		[FIELD_TEXT] = "text",
		[FIELD_BOOL] = "`true` or `false`",
		[FIELD_INT] = "integer",
		[FIELD_NUMBER] = "number",
		[FIELD_BYTES] = "size",
		[FIELD_DURATION] = "duration",
		[FIELD_TEXTS] = "list of texts",
		[FIELD_TEXT_MAP] = "mapping of texts",
		[FIELD_NODE] = "mapping or list",
	};

	if (field->takes) {
		buf_add_str(out, field->takes);
	} else if (field->kind == FIELD_STRUCT) {
		buf_printf(out, "[%s](#%s)", field->schema->name, field->schema->name);
	} else if (field->kind == FIELD_STRUCTS) {
		buf_printf(out, "list of [%s](#%s)", field->schema->name, field->schema->name);
	} else if (field->kind == FIELD_CHOICE) {
		for (int i = 0; field->choices[i]; i++)
			buf_printf(out, "%s`%s`", i ? ", " : "", field->choices[i]);
	} else {
		buf_add_str(out, names[field->kind]);
	}
	if (!field->min && !field->max)
		return;
	buf_add_str(out, ", ");
	field_add_number(out, field, field->min);
	buf_add_str(out, " to ");
	field_add_number(out, field, field->max);
}

void schema_document(struct buf *out, const struct schema *schema)
{
	buf_printf(out, "### %s\n\n", schema->name);
	if (schema->help)
		buf_printf(out, "%s\n\n", schema->help);
	buf_add_str(out, "| key | takes | default | meaning |\n|---|---|---|---|\n");
	for (const struct field *f = schema->fields; f->name; f++) {
		buf_printf(out, "| `%s` | ", f->name);
		field_describe(out, f);
		if (f->required)
			buf_add_str(out, " | required");
		else if (f->preset)
			buf_printf(out, " | `%s`", f->preset);
		else
			buf_add_str(out, " |");
		buf_printf(out, " | %s |\n", f->help);
	}
}

size_t schema_all(const struct schema *schema, const struct schema **out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (out[i] == schema)
			return n;
	if (n == SCHEMAS_MAX)
		return n;
	out[n++] = schema;
	for (const struct field *f = schema->fields; f->name; f++)
		if (f->schema)
			n = schema_all(f->schema, out, n);
	return n;
}

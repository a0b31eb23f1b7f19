/* SPDX-License-Identifier: Apache-2.0 */
/* Written by hand, because one table must read, check, print and document a struct. libcyaml has
 * tables for reading and writing only, and reports errors to a log instead of the caller. */
#include "config/schema.h"

#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"

#include <string.h>

struct schema_reading {
	struct arena *arena;
	struct warnings *warnings; /* collects unknown keys; NULL: unknown keys are errors */
	struct fh_error *err;
};

static int schema_wrong(const struct schema_reading *r, const struct field *field,
		const struct node *node, const char *expected)
{
	char found[96];

	node_describe(node, found, sizeof(found));
	return node_complain(
			node, r->err, "'%s': expected %s, found %s", field->name, expected, found);
}

/* --- values ----------------------------------------------------------------------------------- */

/* Reads a FIELD_INT, FIELD_NUMBER, FIELD_BYTES or FIELD_DURATION. */
static int schema_read_number(const struct schema_reading *r, const struct field *field,
		const struct node *node, void *out)
{
	static const struct {
		const char *expected;
		bool (*read)(const char *text, int64_t *out);
	} kinds[] = {
		[FIELD_INT] = { "an integer", str_to_i64 },
		[FIELD_NUMBER] = { "a number", NULL },
		[FIELD_BYTES] = { "a size like 512M or 2G, of less than 8 EiB", str_to_bytes },
		[FIELD_DURATION] = { "a duration like 90s, 5m or 1h, the shortest 1ms", str_to_ms },
	};
	bool is_whole = field->kind != FIELD_NUMBER;
	auto_buf struct buf range = BUF_INIT(128);
	int64_t whole;
	double v;

	if (node->kind != NODE_SCALAR ||
			!(is_whole ? kinds[field->kind].read(node->text, &whole)
				   : str_to_double(node->text, &v)))
		return schema_wrong(r, field, node, kinds[field->kind].expected);
	if (is_whole)
		v = (double)whole;
	if ((field->min || field->max) && (v < field->min || v > field->max)) {
		field_add_number(&range, field, field->min);
		buf_add_str(&range, " to ");
		field_add_number(&range, field, field->max);
		return node_complain(node, r->err, "'%s': %s is not from %s", field->name,
				node->text, buf_str(&range));
	}
	if (is_whole)
		*(int64_t *)out = whole;
	else
		*(double *)out = v;
	return 0;
}

/* Reads a text from YAML. Refuses booleans, because `command: true` may be a mistake. */
static int schema_read_text(const struct schema_reading *r, const struct field *field,
		const struct node *node, const char **out)
{
	bool truth;

	if (node_to_bool(node, &truth))
		return schema_wrong(r, field, node, "text (put it in quotes)");
	if (node->kind != NODE_SCALAR || node_is_null(node))
		return schema_wrong(r, field, node, "text");
	*out = node->text;
	return 0;
}

static int schema_read_choice(const struct schema_reading *r, const struct field *field,
		const struct node *node, int *out)
{
	int found = node->kind == NODE_SCALAR ? str_index(node->text, field->choices) : -1;
	auto_buf struct buf expected = BUF_INIT(512);

	if (found >= 0) {
		*out = found;
		return 0;
	}
	for (int i = 0; field->choices[i]; i++)
		buf_printf(&expected, "%s '%s'", i ? "," : "one of", field->choices[i]);
	return schema_wrong(r, field, node, buf_str(&expected));
}

static int schema_read_texts(const struct schema_reading *r, const struct field *field,
		const struct node *node, struct texts *out)
{
	const char **items;

	if (node->kind != NODE_LIST)
		return schema_wrong(r, field, node, "a list");
	items = arena_array(r->arena, node->n + 1, sizeof(*items));
	for (size_t i = 0; i < node->n; i++) {
		int status = schema_read_text(r, field, node->items[i], &items[i]);

		if (status < 0)
			return status;
	}
	*out = (struct texts){ .items = items, .n = node->n };
	return 0;
}

static int schema_read_text_map(const struct schema_reading *r, const struct field *field,
		const struct node *node, struct text_map *out)
{
	struct text_pair *pairs;

	if (node->kind != NODE_MAP)
		return schema_wrong(r, field, node, "a mapping");
	pairs = arena_array(r->arena, node->n, sizeof(*pairs));
	for (size_t i = 0; i < node->n; i++) {
		int status = schema_read_text(r, field, node->pairs[i].value, &pairs[i].value);

		if (status < 0)
			return status;
		pairs[i].key = node->pairs[i].key->text;
	}
	*out = (struct text_map){ .pairs = pairs, .n = node->n };
	return 0;
}

/* --- structs ---------------------------------------------------------------------------------- */

static int schema_read_struct(const struct schema_reading *r, const struct schema *schema,
		const struct node *node, void *out);

static int schema_read_structs(const struct schema_reading *r, const struct field *field,
		const struct node *node, struct struct_list *out)
{
	const struct schema *schema = field->schema;
	char *items;

	if (node->kind != NODE_LIST)
		return schema_wrong(r, field, node, "a list");
	items = arena_array(r->arena, node->n, schema->size);
	for (size_t i = 0; i < node->n; i++) {
		int status = schema_read_struct(
				r, schema, node->items[i], items + i * schema->size);

		if (status < 0)
			return status;
	}
	*out = (struct struct_list){ .items = items, .n = node->n };
	return 0;
}

static int schema_read_field(const struct schema_reading *r, const struct field *field,
		const struct node *node, void *at)
{
	switch (field->kind) {
	case FIELD_TEXT:
		return schema_read_text(r, field, node, at);
	case FIELD_BOOL:
		return node_to_bool(node, at) ? 0 : schema_wrong(r, field, node, "true or false");
	case FIELD_INT:
	case FIELD_NUMBER:
	case FIELD_BYTES:
	case FIELD_DURATION:
		return schema_read_number(r, field, node, at);
	case FIELD_CHOICE:
		return schema_read_choice(r, field, node, at);
	case FIELD_TEXTS:
		return schema_read_texts(r, field, node, at);
	case FIELD_TEXT_MAP:
		return schema_read_text_map(r, field, node, at);
	case FIELD_STRUCT:
		if (node->kind != NODE_MAP)
			return schema_wrong(r, field, node, "a mapping");
		return schema_read_struct(r, field->schema, node, at);
	case FIELD_STRUCTS:
		return schema_read_structs(r, field, node, at);
	case FIELD_NODE:
		*(const struct node **)at = node;
		return 0;
	}
	return 0;
}

/* Sets fields of a struct to their default values. None can fail: all are in our own tables. */
static void schema_set_presets(
		const struct schema_reading *r, const struct schema *schema, char *out)
{
	for (const struct field *f = schema->fields; f->name; f++) {
		struct node scalar = { .kind = NODE_SCALAR, .plain = true, .text = f->preset };
		const struct node *preset = &scalar;

		if (f->kind == FIELD_STRUCT)
			schema_set_presets(r, f->schema, out + f->offset);
		if (f->kind == FIELD_STRUCT || !f->preset)
			continue;
		if (f->kind == FIELD_TEXTS)
			yaml_parse(r->arena, "preset", f->preset, strlen(f->preset), &preset, NULL);
		schema_read_field(r, f, preset, out + f->offset);
	}
}

static const struct field *schema_find_field(const struct schema *schema, const char *name)
{
	for (const struct field *f = schema->fields; f->name; f++)
		if (str_eq(f->name, name))
			return f;
	return NULL;
}

#define SCHEMA_FIELDS_MAX 64
#define SUGGESTION "; did you mean '"

void warnings_add_hints(const struct warnings *warnings, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(FH_ERROR_MESSAGE_MAX);

	if (!err)
		return;
	buf_add_str(&text, err->message);
	for (size_t i = 0; i < warnings->n; i++)
		if (strstr(warnings->items[i], SUGGESTION) &&
				!strstr(err->message, warnings->items[i]))
			buf_printf(&text, "; %s", warnings->items[i]);
	error_say(err, -err->code, "%s", buf_str(&text));
}

static int schema_unknown_key(
		const struct schema_reading *r, const struct schema *schema, const struct node *key)
{
	const char *names[SCHEMA_FIELDS_MAX];
	auto_buf struct buf known = BUF_INIT(512);
	const char *closest;
	struct fh_error error;
	int status;
	size_t n = 0;

	for (const struct field *f = schema->fields; f->name && n < SCHEMA_FIELDS_MAX; f++) {
		buf_printf(&known, "%s%s", n ? ", " : "", f->name);
		names[n++] = f->name;
	}
	closest = str_closest(key->text, names, n);
	if (closest)
		status = node_complain(key, &error, "key '%s': unknown key" SUGGESTION "%s'?",
				key->text, closest);
	else if (r->warnings)
		status = node_complain(key, &error, "key '%s': unknown key of %s, ignored",
				key->text, schema->name);
	else
		status = node_complain(key, &error, "key '%s': unknown key of %s; there are: %s",
				key->text, schema->name, buf_str(&known));
	if (!r->warnings) {
		if (r->err)
			*r->err = error;
		return status;
	}
	if (r->warnings->n < ARRAY_SIZE(r->warnings->items))
		r->warnings->items[r->warnings->n++] = arena_strdup(r->arena, error.message);
	return 0;
}

static int schema_check_required(const struct schema_reading *r, const struct schema *schema,
		const struct node *node)
{
	for (const struct field *f = schema->fields; f->name; f++) {
		const struct node *value = f->required ? node_get(node, f->name) : NULL;

		if (f->required && (!value || node_is_null(value)))
			return node_complain(value ? value : node, r->err,
					"%s: key '%s' is missing", schema->name, f->name);
	}
	return 0;
}

static int schema_read_struct(const struct schema_reading *r, const struct schema *schema,
		const struct node *node, void *out)
{
	char found[96];

	if (node->kind != NODE_MAP) {
		node_describe(node, found, sizeof(found));
		return node_complain(node, r->err, "%s: expected a mapping, found %s", schema->name,
				found);
	}
	schema_set_presets(r, schema, out);
	for (size_t i = 0; i < node->n; i++) {
		const struct node *value = node->pairs[i].value;
		const struct field *f = schema_find_field(schema, node->pairs[i].key->text);
		int status = 0;

		if (!f)
			status = schema_unknown_key(r, schema, node->pairs[i].key);
		else if (!node_is_null(value))
			status = schema_read_field(r, f, value, (char *)out + f->offset);
		if (status < 0)
			return status;
	}
	return schema_check_required(r, schema, node);
}

int schema_read(struct arena *a, const struct schema *schema, const struct node *node,
		struct warnings *warnings, void *out, struct fh_error *err)
{
	const struct schema_reading r = { .arena = a, .warnings = warnings, .err = err };
	void *value = arena_alloc(a, schema->size);
	int status = schema_read_struct(&r, schema, node, value);

	if (status < 0 && warnings)
		warnings_add_hints(warnings, err);
	if (status < 0)
		return status;
	memcpy(out, value, schema->size);
	return 0;
}

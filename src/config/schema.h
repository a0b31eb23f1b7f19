/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "config/node.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Structs in YAML. Each struct has a table, by which it is read, checked, printed and documented.
 *
 *   static const struct field limits_fields[] = {
 *           { "memory", FIELD_BYTES, offsetof(struct limits, memory_bytes), "most memory",
 *                   .preset = "4G" },
 *           { "wall", FIELD_DURATION, offsetof(struct limits, wall_ms), "most time" },
 *           {},
 *   };
 *   const struct schema limits_schema = {
 *           .name = "limits", .help = "What an episode may use.",
 *           .size = sizeof(struct limits), .fields = limits_fields };
 *
 * Texts and lists in the struct live in the arena that schema_read() gets.
 */
enum field_kind {
	FIELD_TEXT,     /* const char *; NULL: not given */
	FIELD_BOOL,     /* bool */
	FIELD_INT,      /* int64_t */
	FIELD_NUMBER,   /* double, finite */
	FIELD_BYTES,    /* int64_t: "512M", "2G" */
	FIELD_DURATION, /* int64_t, milliseconds: "90s", "5m"; a bare number is seconds */
	FIELD_CHOICE,   /* an enum of int's size: the index into `choices` */
	FIELD_TEXTS,    /* struct texts: a list of texts */
	FIELD_TEXT_MAP, /* struct text_map: a mapping of texts to texts */
	FIELD_STRUCT,   /* the struct itself, of `schema`; its presets hold where it is not given */
	FIELD_STRUCTS,  /* struct struct_list: a list of structs of `schema` */
	FIELD_NODE,     /* const struct node *, anything; NULL: not given */
};

struct text_map {
	const struct text_pair {
		const char *key, *value;
	} * pairs;
	size_t n;
};

struct struct_list {
	const void *items;
	size_t n;
};

struct schema;

struct field {
	const char *name;
	enum field_kind kind;
	unsigned offset;
	const char *help;   /* a sentence of Markdown */
	const char *preset; /* the value when it is not given, as YAML; NULL: zero */
	bool required;
	double min, max;            /* limits, also for bytes and milliseconds; both 0: none */
	const char *const *choices; /* NULL-terminated */
	const struct schema *schema;
	const char *takes; /* name of its values in documentation, such as "path"; NULL: by kind */
};

struct schema {
	const char *name; /* "task", "limits" */
	const char *help; /* a paragraph of Markdown; NULL: none */
	size_t size;
	const struct field *fields; /* the last is {} */
};

/* Unknown keys that are no errors. */
struct warnings {
	const char *items[32];
	size_t n; /* number of items; more are dropped */
};

/* Reads a mapping as a struct. An unknown key is an error that suggests the closest one. With
 * `warnings` it is a warning. Null counts as not given. -EINVAL. */
int schema_read(struct arena *a, const struct schema *schema, const struct node *node,
		struct warnings *warnings, void *out, struct fh_error *err);

/* Appends the struct as YAML with all presets. Reading it gives an equal struct. */
void schema_print(struct buf *out, const struct schema *schema, const void *value);

/* Appends Markdown: the help of the struct, and a table of its keys. */
void schema_document(struct buf *out, const struct schema *schema);

/* Adds a schema and those of its structs to `out`, which has n, each once. Returns the new n. */
#define SCHEMAS_MAX 64
size_t schema_all(const struct schema *schema, const struct schema **out, size_t n);

/* Appends a number in the field's unit: "512M", "90s", "1.5". */
void field_add_number(struct buf *out, const struct field *field, double v);

/* Appends the values that a field takes: "text", "list of texts", "`a`, `b`", "integer, 1 to 9". */
void field_describe(struct buf *out, const struct field *field);

#endif

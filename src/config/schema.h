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
 * Structs in YAML. Each struct has a table of fields. The table serves to read, check, print and
 * document the struct.
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
 * Texts and lists in the struct live in the arena that is passed to schema_read().
 */
enum field_kind {
	FIELD_TEXT,     /* const char *; NULL if the key is missing */
	FIELD_BOOL,     /* bool */
	FIELD_INT,      /* int64_t */
	FIELD_NUMBER,   /* double, finite */
	FIELD_BYTES,    /* int64_t: "512M", "2G" */
	FIELD_DURATION, /* int64_t, milliseconds: "90s", "5m"; a bare number is seconds */
	FIELD_CHOICE,   /* an int-sized enum: the index into `choices` */
	FIELD_TEXTS,    /* struct texts: a list of texts */
	FIELD_TEXT_MAP, /* struct text_map: a mapping of texts to texts */
	FIELD_STRUCT,   /* the nested struct of `schema`; has its presets if the key is missing */
	FIELD_STRUCTS,  /* struct struct_list: a list of structs of `schema` */
	FIELD_NODE,     /* const struct node *, any YAML; NULL if the key is missing */
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
	const char *help;   /* description of the field, a sentence of Markdown */
	const char *preset; /* default value, written as YAML; NULL: zero */
	bool required;
	/* range of the value (bytes or milliseconds, too); both 0: unlimited */
	double min, max;
	const char *const *choices; /* names of the values of FIELD_CHOICE, NULL-terminated */
	const struct schema *schema;
	/* word for a value in documentation, such as "path"; NULL: from `kind` */
	const char *takes;
};

struct schema {
	const char *name; /* name in documentation: "task", "limits" */
	const char *help; /* description, a paragraph of Markdown; NULL: none */
	size_t size;
	const struct field *fields; /* ends with {} */
};

/* Messages about unknown keys, for readers that don't treat such keys as errors. */
struct warnings {
	const char *items[32];
	size_t n; /* used items; messages over 32 are dropped */
};

/* Appends the messages that suggest another key to an error: a mistyped key may be its cause. Skips
 * messages that the error has already. `err` may be NULL. */
void warnings_add_hints(const struct warnings *warnings, struct fh_error *err);

/* Reads a YAML mapping into the struct `out`. An unknown key fails, and the message suggests the
 * closest key. If `warnings` is not NULL, the key is only a warning, and another error has hints
 * (see above). A null value counts as a missing key. -EINVAL. */
int schema_read(struct arena *a, const struct schema *schema, const struct node *node,
		struct warnings *warnings, void *out, struct fh_error *err);

/* Appends the struct as YAML, presets included. Reading this YAML gives an equal struct. */
void schema_print(struct buf *out, const struct schema *schema, const void *value);

/* Appends documentation of a struct in Markdown: its help, and a table of its keys. */
void schema_document(struct buf *out, const struct schema *schema);

/* Appends a schema and its nested schemas, each once, to `out`, which already has n. Returns the
 * new n. */
#define SCHEMAS_MAX 64
size_t schema_all(const struct schema *schema, const struct schema **out, size_t n);

/* Appends a number with the field's unit: "512M", "90s", "1.5". */
void field_add_number(struct buf *out, const struct field *field, double v);

/* Appends a description of allowed values: "text", "list of texts", "`a`, `b`", "integer, 1 to
 * 9". */
void field_describe(struct buf *out, const struct field *field);

#endif
